#!/bin/sh
# Builds every .wasm here from the .wat beside it. Needs wabt (Debian: wabt, 1.0.32).
# Function names are kept: traces show them.
set -e
cd "$(dirname "$0")"
for f in guests/*.wat hostile/*.wat; do
	wat2wasm --debug-names "$f" -o "${f%.wat}.wasm"
done
