package git_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aircoding/air/internal/rig"
)

// BenchmarkStatus compares git.status with git itself on a repository of 20,000 files, taking
// turns; the ratio is that of the fastest of each. It has rounds of its own and runs with
// -benchtime 1x.
func BenchmarkStatus(b *testing.B) {
	p := newProject(b, rig.Options{})
	for i := range 20_000 {
		p.Put(fmt.Sprintf("d%03d/f%05d.txt", i/100, i), fmt.Sprintln(i))
	}
	p.commit(p.Root, "one")
	time.Sleep(1100 * time.Millisecond) // or the index holds files that may have changed in its second
	p.git("status")
	own, gits := time.Hour, time.Hour
	for range 20 {
		start := time.Now()
		p.status(".")
		own = min(own, time.Since(start))
		start = time.Now()
		p.git("status", "--porcelain=v2", "-z", "--branch")
		gits = min(gits, time.Since(start))
	}
	fmt.Printf("git.status: %v, git status: %v\n", own, gits)
	fmt.Printf("ratio git_status_20000/git %.3f\n", float64(own)/float64(gits))
}
