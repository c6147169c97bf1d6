//go:build !race

package engine

// slowdown is how much longer loading takes under the race detector.
const slowdown = 1
