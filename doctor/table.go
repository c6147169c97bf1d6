package doctor

import (
	"slices"
	"strings"
)

// versionQuestions is how programs are asked for their version. What is here does nothing
// else when it is asked so, and reaches no network; a program that is not here is never run.
var versionQuestions = []struct{ arguments, programs string }{
	{"--version", `bash bat black buildah bun bwrap c++ cargo cc ccache clang clang++ clang-format clang-tidy cmake composer
		cppcheck crun curl deno diff docker eslint fd file find g++ gawk gcc gcov gdb gfortran gh git git-lfs gpg grep gzip
		hadolint jq ld lldb m4 magick make meson mypy nasm ninja node nodejs npm npx objdump perf php pip pip3 pkg-config pnpm
		podman poetry prettier protoc psql pytest python python3 readelf rg ruby ruff runc rustc rustfmt sed shellcheck shfmt
		skopeo sqlite3 tar tesseract tree tsc uv valgrind vim wasm-opt wasm-tools wasm2wat wasmtime wat2wasm wget xz yarn
		zsh zstd`},
	{"-version", `ant ffmpeg ffplay ffprobe java javac mvn scala`},
	{"-V", `ssh strace tmux`},
	{"-v", `lua luajit nginx pdftoppm pdftotext perl unzip`},
	{"version", `crane go gopls helm openssl oras tinygo zig`},
	{"version --client", `kubectl`},
}

// versionArguments are those by which a program says its version.
func versionArguments(name string) (arguments []string, known bool) {
	for _, q := range versionQuestions {
		if slices.Contains(strings.Fields(q.programs), name) {
			return strings.Fields(q.arguments), true
		}
	}
	return nil, false
}
