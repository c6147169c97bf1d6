//go:build linux && !amd64

package sandbox

const threadPointer = 0
