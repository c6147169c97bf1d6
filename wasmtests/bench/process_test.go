package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func BenchmarkWholeProcess(b *testing.B) {
	w := newInsightWorkshop(b)
	got := medians(b,
		timed(func() { w.run(w.air, "call", "csv-insight.group", `{"path":"small.csv","by":"zone"}`) }),
		timed(func() { w.run(w.air, "call", "fs.stat", `{"path":"small.csv"}`) }),
		timed(func() { w.run(w.air, "version") }),
		timed(func() { w.run(w.empty) }),
	)
	report("air_call_guest/empty_process", got[0], got[3])
	report("air_call_fs_stat/empty_process", got[1], got[3])
	report("air_version/empty_process", got[2], got[3])
}

// BenchmarkFirstCall measures the first call of a Go module in a new process: with its
// machine code in the cache, as after any earlier call, and without.
func BenchmarkFirstCall(b *testing.B) {
	w := newTextWorkshop(b, built(b).textModule)
	info, err := os.Stat(w.textModule)
	fatal(b, err)
	fmt.Printf("the Go module has %.1f MB\n", float64(info.Size())/1e6)
	call := func() { w.run(w.air, "call", "text.run", kilobyte) }
	cold := func() time.Duration {
		fatal(b, os.RemoveAll(w.Home.Path("cache", "wasm")))
		return timed(call)()
	}
	got := medians(b, cold, timed(call), timed(func() { w.run(w.empty) }))
	report("first_call_in_new_process/90ms", got[1], 90*time.Millisecond)
	report("first_call_in_new_process/empty_process", got[1], got[2])
	report("first_call_ever/cached", got[0], got[1])
}

const installed = 1000

// BenchmarkInstalled compares a call where one capability is installed with one where a
// thousand are; one is enabled in both.
func BenchmarkInstalled(b *testing.B) {
	module, err := filepath.Abs(cModule)
	fatal(b, err)
	few, many := newTextWorkshop(b, module), newTextWorkshop(b, module)
	for i := 1; i < installed; i++ {
		id := fmt.Sprintf("text-%d", i)
		many.install(b, id, textManifest(id), module)
	}
	call := func(w *workshop) part {
		return timed(func() { w.run(w.air, "call", "text.run", kilobyte) })
	}
	got := medians(b, call(many), call(few))
	report("air_call_with_1000_installed/with_one", got[0], got[1])
}
