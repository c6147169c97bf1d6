package bench

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// settling is how long a worker is left alone before it is measured: what it gives back
// by itself is given back.
const settling = 2 * time.Second

// BenchmarkIdleWorker measures what a worker keeps of the machine's memory: between calls
// of this program, and in the program air, whose file is larger, inside a first call.
func BenchmarkIdleWorker(b *testing.B) {
	for _, c := range []struct {
		name, path string
		target     int64 // MB
	}{{"go", built(b).textModule, 27}, {"c", cModule, 8}} {
		reportMemory("idle_worker_resident_"+c.name, c.target, afterCalls(b, c.path))
		reportMemory("air_call_worker_resident_"+c.name, c.target, insideCall(b, c.path))
	}
}

func reportMemory(name string, target int64, pids []int) {
	m, err := largest(pids)
	if err != nil {
		fmt.Printf("%s is not measured: %v\n", name, err)
		return
	}
	fmt.Printf("%-44s %s\n", name, m)
	ratio(fmt.Sprintf("%s/%dMB", name, target), float64(m.resident)/float64(target<<20))
}

// afterCalls returns the workers that 300 calls leave.
func afterCalls(b *testing.B, path string) []int {
	b.Helper()
	before := workersOf(os.Getpid())
	g := newGuest(b, path)
	for range 300 {
		g.mustCall()
	}
	time.Sleep(settling)
	return slices.DeleteFunc(workersOf(os.Getpid()), func(pid int) bool { return slices.Contains(before, pid) })
}

// insideCall returns the worker of an air call that does not end before the benchmark.
func insideCall(b *testing.B, path string) []int {
	b.Helper()
	w := newTextWorkshop(b, path)
	w.run(w.air, "call", "text.run", kilobyte) // leaves machine code in the cache
	c := exec.Command(w.air, "call", "text.run", `{"op":"loop"}`)
	c.Dir, c.Env = w.Root, w.environment
	fatal(b, c.Start())
	b.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	time.Sleep(settling)
	return workersOf(c.Process.Pid)
}
