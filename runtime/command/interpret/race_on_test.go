//go:build race

package interpret

// underRace is true where the race detector makes each start of an interpreter ten times slower.
const underRace = true
