package runtime_test

import (
	"testing"

	"github.com/aircoding/air/internal/rig"
)

// BenchmarkDurableCall measures a recorded call of fs.stat, with what it counts.
func BenchmarkDurableCall(b *testing.B) {
	r := rig.New(b, rig.Options{})
	r.Put("a.txt", "abc")
	for b.Loop() {
		r.Must("fs.stat", `{"path":"a.txt"}`, nil)
	}
}
