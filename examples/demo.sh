#!/usr/bin/env bash
# The main job of air from end to end, in a temporary folder: build a capability, push it to a registry,
# pull it elsewhere, see what it asks for, enable it, call it, and watch it be refused.
set -euo pipefail

repo=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
registry=
cleanup() {
	if [ -n "$registry" ]; then kill "$registry" 2>/dev/null || true; wait "$registry" 2>/dev/null || true; fi
	rm -rf "$work"
}
trap cleanup EXIT

export AIR_HOME=$work/home PATH=$work/bin:$PATH
step() { printf '\n== %s\n' "$*"; }
show() {
	local word line='$'
	for word; do
		case $word in *[!a-zA-Z0-9_./:@=-]*) word="'$word'" ;; esac
		line+=" $word"
	done
	printf '%s\n' "$line"
	"$@"
}

step "Build air and the example capability"
mkdir -p "$work/bin" "$work/project"
(cd "$repo" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$work/bin/air" ./cmd/air)
mkdir -p "$work/src"
cp -R "$repo/examples" "$repo/sdk" "$work/src/"
show air build "$work/src/examples/csv-insight"

step "Serve a registry on loopback, and push"
mkfifo "$work/address"
air registry serve --addr 127.0.0.1:0 >"$work/address" &
registry=$!
read -r address <"$work/address"
ref=$address/acme/csv-insight:0.1.0
show air push "$work/src/examples/csv-insight" "$ref" --plain-http

step "In a fresh project: pull, read what it asks for, enable"
cp "$repo"/examples/csv-insight/data/timezone-transitions.csv "$work/project/"
printf 'API_TOKEN=not-for-guests\n' >"$work/project/.env"
cd "$work/project"
show air init
show air pull "$ref" --plain-http
show air enable csv-insight --yes

step "Call both of its tools"
show air call csv-insight.profile '{"path":"timezone-transitions.csv"}' | cut -c1-700
show air call csv-insight.group '{"path":"timezone-transitions.csv","by":"countries","value":"change"}' | cut -c1-500

step "Ask the guest for a file it must not see"
if show air call csv-insight.profile '{"path":".env"}'; then
	echo "the guest read .env: this must not happen" >&2
	exit 1
fi

step "What was recorded"
show air event ls --limit 12
show air event verify
