#!/usr/bin/env bash
# Builds the .wasm files here from the sources beside them, with the same bytes each time:
# build.sh [wat|c|rust|assemblyscript|bench]…, all by default. scripts/guest-deps installs
# the compilers. Function names are kept, for traces show them; debug information is not.
set -euo pipefail

cd "$(dirname "$0")"
asc=$PWD/../.tools/assemblyscript/node_modules/.bin/asc

# sums FOLDER notes which sources its modules were built from: a test compares.
sums() (
	cd "$1"
	shopt -s nullglob
	sha256sum *.c *.h *.rs *.ts *.wasm >SUMS
)

wat() {
	for f in guests/*.wat hostile/*.wat; do
		wat2wasm --debug-names "$f" -o "${f%.wat}.wasm"
	done
}

# c compiles and links in two steps: one that does both with -O runs wasm-opt where there
# is one, and it drops the names.
c() {
	local object
	object=$(mktemp)
	clang-19 --target=wasm32-wasi -Os -Wall -Wno-parentheses -c guests/c/words.c -o "$object"
	clang-19 --target=wasm32-wasi -mexec-model=reactor -Wl,--strip-debug "$object" -o guests/c/words.wasm
	clang-19 --target=wasm32-wasi -Os -Wall -c guests/c/command.c -o "$object"
	clang-19 --target=wasm32-wasi -Wl,--strip-debug "$object" -o guests/c/command.wasm
	clang-19 --target=wasm32 -ffreestanding -mbulk-memory -Os -Wall -Wno-parentheses -c guests/c/words.c -o "$object"
	clang-19 --target=wasm32 -nostdlib -Wl,--no-entry,--strip-debug "$object" -o guests/c/words-free.wasm
	rm -f "$object"
	chmod -x guests/c/*.wasm
	sums guests/c
}

# rust uses Debian's compiler by its path: another may come first, without the target. Its
# linker is that of the LLVM it is built with.
rust() {
	(cd guests/rust && /usr/bin/rustc --edition 2021 --target wasm32-unknown-unknown --crate-type cdylib \
		-C linker=wasm-ld-14 -C opt-level=s -C lto -C panic=abort -C strip=debuginfo words.rs -o words.wasm)
	chmod -x guests/rust/*.wasm
	sums guests/rust
}

assemblyscript() {
	(cd guests/assemblyscript && "$asc" words.ts -Os --debug --use abort= -o words.wasm)
	sums guests/assemblyscript
}

# bench builds what is measured, for speed.
bench() {
	for f in bench/c/*.c; do
		clang-19 --target=wasm32 -mcpu=generic -O2 -Wall -nostdlib -fno-builtin \
			-Wl,--no-entry,--strip-debug,-z,stack-size=16384 -o "${f%.c}.wasm" "$f"
	done
	chmod -x bench/c/*.wasm
	sums bench/c
}

[ $# -gt 0 ] || set -- wat c rust assemblyscript bench
for language; do
	case $language in
	wat | c | rust | assemblyscript | bench) "$language" ;;
	*)
		echo "usage: build.sh [wat|c|rust|assemblyscript|bench]…" >&2
		exit 2
		;;
	esac
done
