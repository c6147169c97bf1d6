package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// BenchmarkInstalledVersions compares a call where ten bundles are installed with one where
// ten thousand are, half of them versions of the capability that is called. The project has
// seen them all, and one is enabled in both.
func BenchmarkInstalledVersions(b *testing.B) {
	module, err := filepath.Abs(cModule)
	fatal(b, err)
	few, many := newTextWorkshop(b, module), newTextWorkshop(b, module)
	few.multiply(10)
	many.multiply(10_000)
	few.run(few.air, "ls")
	for _, which := range []string{"first", "second"} {
		fmt.Printf("the %s air ls with 10,000 installed: %v\n", which, timed(func() { many.run(many.air, "ls") })().Round(time.Millisecond))
	}
	call := func(w *workshop) part {
		return timed(func() { w.run(w.air, "call", "text.run", kilobyte) })
	}
	got := medians(b, call(many), call(few))
	report("start_10000_installed", got[0], got[1])
}

// multiply puts copies of the one bundle that is installed beside it until there are n of
// them. They have digests that are not their own, which nobody notices who does not use
// them; placing each, through to the disk, would take minutes.
func (w *workshop) multiply(n int) {
	w.Helper()
	all, err := w.store.List()
	fatal(w, err)
	placed := all[0]
	record, err := os.ReadFile(placed.Dir + ".json")
	fatal(w, err)
	for i := 1; i < n; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d", i))
		digits, id := hex.EncodeToString(sum[:]), "text"
		if i%2 == 0 {
			id = fmt.Sprintf("text-%d", i)
		}
		copied := bytes.ReplaceAll(record, []byte(placed.Digest), []byte("sha256:"+digits))
		copied = bytes.ReplaceAll(copied, []byte(`"1.0.0"`), fmt.Appendf(nil, `"1.0.%d"`, i))
		w.link(placed.Dir, filepath.Join(w.Home.Path("capabilities"), id, digits), copied)
	}
}

// link makes dir of the same files as another folder, with a record beside it.
func (w *workshop) link(from, dir string, record []byte) {
	w.Helper()
	fatal(w, os.MkdirAll(dir, 0o700))
	files, err := os.ReadDir(from)
	fatal(w, err)
	for _, f := range files {
		fatal(w, os.Link(filepath.Join(from, f.Name()), filepath.Join(dir, f.Name())))
	}
	fatal(w, os.WriteFile(dir+".json", record, 0o600))
}
