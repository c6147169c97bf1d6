package sandbox

import (
	"os/exec"
	"testing"
)

// What the sandbox costs a command that does nothing.
func BenchmarkTrue(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sandbox", func(b *testing.B) {
		mounts := System()
		for b.Loop() {
			p, err := Command{Argv: []string{"true"}, Mounts: mounts}.Start(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if exit, err := p.Wait(); exit.Code != 0 || err != nil {
				b.Fatal(exit, err)
			}
		}
	})
}
