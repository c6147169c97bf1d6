//go:build !race

package interpret

const underRace = false
