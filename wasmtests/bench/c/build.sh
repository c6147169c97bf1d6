#!/bin/sh
# Builds every .wasm here from the .c beside it. Needs clang 19 and lld 19 (Debian: clang-19, lld-19).
set -e
cd "$(dirname "$0")"
for f in air extism kernels; do
	clang-19 --target=wasm32 -mcpu=generic -O2 -Wall -nostdlib -fno-builtin \
		-Wl,--no-entry,--strip-debug,-z,stack-size=16384 -o "$f.wasm" "$f.c"
	chmod 644 "$f.wasm"
done
