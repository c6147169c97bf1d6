package wazero

import (
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/wasmtests"
)

// BenchmarkCall measures a call of 1 KiB from its clean instance to its answer, and what
// making the next instance ready takes after that.
func BenchmarkCall(b *testing.B) {
	json := `{"tool":"words.run","input":{"op":"words","text":"` + strings.Repeat("hello wasm ", 90) + `"}}`
	for _, c := range []struct {
		name   string
		module []byte
		freeze bool
	}{
		{"go/plain", wasmtests.GoModule(b), false},
		{"go/frozen", wasmtests.GoModule(b), true},
		{"echo/plain", wasmtests.Module(b, "guests/echo"), false},
		{"echo/frozen", wasmtests.Module(b, "guests/echo"), true},
		{"table", wasmtests.Module(b, "guests/keeper-table"), true},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := load(b, c.module)
			if c.freeze {
				e.Freeze()
			}
			var resetting time.Duration
			for b.Loop() {
				if _, err := e.Run(call(json)); err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				e.Reset()
				resetting += time.Since(began)
			}
			b.ReportMetric(float64(resetting.Nanoseconds())/float64(b.N), "ns/reset")
		})
	}
}

// BenchmarkLoad measures what a worker does with the folder of a Go guest.
func BenchmarkLoad(b *testing.B) {
	dir := compile(b, wasmtests.GoModule(b))
	for b.Loop() {
		fromFolder(b, dir)
	}
}
