package runner

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/aircoding/air/runtime"
)

// rounds is how many turns each part of BenchmarkRunTrue gets.
const rounds = 40

// BenchmarkRunTrue measures what the sandbox costs a command that does nothing: by itself,
// through the interpreter, and against another sandbox with comparable mounts. The parts take
// turns, so that a busy machine slows all of them. It has rounds of its own and runs with
// -benchtime 1x.
func BenchmarkRunTrue(b *testing.B) {
	needsSandbox(b)
	r := newRig(b, nil)
	launch := func(l runtime.Launch) func() {
		return func() {
			var out bytes.Buffer
			l.Stdout, l.Stderr = &out, &out
			if ended, err := r.Launch(b.Context(), l); err != nil || ended.Code != 0 {
				b.Fatal(ended, err, out.String())
			}
		}
	}
	program := func(argv ...string) func() {
		return func() {
			if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
				b.Fatalf("%v: %v: %s", argv, err, out)
			}
		}
	}
	bare := program("true")
	parts := []struct {
		name string
		run  func()
	}{
		{"fork_exec", bare},
		{"run_true", launch(r.line("true"))},
		{"run_program", launch(r.line("/bin/true"))},
		{"run_shell", launch(r.line("true; true"))},
		{"bubblewrap", nil},
	}
	if path, err := exec.LookPath("bwrap"); err == nil {
		parts[4].run = program(path, "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
			"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc/ssl", "/etc/ssl", "--proc", "/proc", "--dev", "/dev",
			"--tmpfs", "/tmp", "--bind", r.home, r.home, "--bind", r.root, r.root, "--chdir", r.root, "true")
	} else {
		parts = parts[:4]
		b.Log("bwrap is missing: apt-get install bubblewrap")
	}
	times := make([][]time.Duration, len(parts))
	for n := range rounds + 1 {
		for i, p := range parts {
			start := time.Now()
			p.run()
			if n > 0 { // the first warms caches
				times[i] = append(times[i], time.Since(start))
			}
		}
	}
	median := func(i int) time.Duration { slices.Sort(times[i]); return times[i][len(times[i])/2] }
	for i, p := range parts[1:] {
		over := median(i+1) - median(0)
		fmt.Printf("%-12s %8.3f ms over fork-exec, which takes %.3f ms\n", p.name, over.Seconds()*1000, median(0).Seconds()*1000)
	}
	over := median(1) - median(0)
	fmt.Printf("ratio run_true_over_fork_exec_ms %.3f\n", over.Seconds()*1000)
	fmt.Printf("ratio run_true_over_fork_exec %.3f\n", float64(median(1))/float64(median(0)))
	if len(parts) > 4 {
		fmt.Printf("ratio run_true_over_bubblewrap %.3f\n", float64(median(1))/float64(median(4)))
	}
}
