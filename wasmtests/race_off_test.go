//go:build !race

package wasmtests

const raceDetector = false
