//go:build !race

package wasmtests

// Slowdown is how much longer things take under the race detector.
const Slowdown = 1
