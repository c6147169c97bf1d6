SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: build demo test interop check bench fuzz guests clean

# Go keeps its caches below HOME.
ifeq ($(strip $(HOME)),)
export HOME := $(CURDIR)/.tools/home
endif
export PATH := $(CURDIR)/.tools/bin:$(PATH)
# A checkout that another user owns, as in a container, has no readable git state.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)

# The SDKs and the examples are modules of their own.
MODULES := $(patsubst %/go.mod,%,$(wildcard sdk/*/go.mod examples/*/go.mod wasmtests/guests/*/go.mod))
# Modules of their own, too: what other makers' libraries and test programs say of AIR.
PEERS := trust/interop oci/conformance
# The race detector needs a C compiler. Not under it is the command line, whose tests keep the
# limits that are shipped: it makes compiling in workers ten times slower. Scripts that are
# compared with bash start a program each, which it makes slow as well.
RACE := $(if $(shell command -v $$(go env CC)),-race)
# Under it each program waits a second at its end, and the tests start thousands.
export GORACE := atexit_sleep_ms=0
FUZZTIME ?= 15s

build:
	CGO_ENABLED=0 go build -trimpath -o bin/air ./cmd/air

demo:
	./examples/demo.sh

test:
	./scripts/test-deps
	go test $(RACE) $$(go list ./... | grep -v /cmd/air$$)
	go test ./cmd/air
	go test -run LikeBash ./runtime/command/interpret
	for module in $(MODULES); do (cd "$$module" && go test $(RACE) ./...); done
	for module in $(PEERS); do (cd "$$module" && go test -count=1 ./...); done

# The program of another maker that takes minutes to build.
interop:
	./scripts/install-tool github.com/sigstore/cosign/v3/cmd/cosign@v3.1.1
	go test -tags cosign -run Cosign ./oci
	cd trust/interop && go test -tags cosign ./...

check:
	./scripts/check $(MODULES) $(PEERS)

# Without cgo, as the program is built.
bench:
	{ CGO_ENABLED=0 go test -run '^$$' -bench . -benchtime 1x -timeout 60m ./wasmtests/bench && \
		CGO_ENABLED=0 go test -run '^$$' -bench RewriterCost -benchtime 1x ./runtime/engine/wazero && \
		CGO_ENABLED=0 go test -run '^$$' -bench Pull256MiB -benchtime 1x ./oci && \
		CGO_ENABLED=0 go test -run '^$$' -bench Load/signed -benchtime 1x ./capabilities && \
		CGO_ENABLED=0 go test -p 1 -run '^$$' -bench 'ListRecursive|ReadRange|RunTrue|Status' -benchtime 1x ./builtin/fs ./builtin/git ./runtime/runner; } | go run ./wasmtests/bench/table

fuzz:
	./scripts/fuzz $(FUZZTIME)

# The guests of other languages are committed: only whoever changes one builds them.
guests:
	./scripts/guest-deps
	./wasmtests/build.sh

clean:
	rm -rf bin .tools
