// Package bench measures air against a native process, an empty program, Extism's Go SDK
// and itself. Each pair is measured turn by turn in one run, so that a busy machine slows
// both; what is compared are medians. Lines "ratio NAME VALUE" are for machines to read;
// the folder table says what each should be. The rounds are its own, so it runs with
// -benchtime 1x.
package bench

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/aircoding/air/runtime/engine"
)

// rounds is how many turns each part of a comparison gets.
var rounds = flag.Int("rounds", 25, "turns that each part of a comparison gets")

func TestMain(m *testing.M) {
	engine.ServeIfWorker()
	status := m.Run()
	if dir, err := folder(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// part is one side of a comparison: it does its work and says how long that took.
type part func() time.Duration

// timed is a part that is measured as a whole.
func timed(work func()) part {
	return func() time.Duration {
		start := time.Now()
		work()
		return time.Since(start)
	}
}

// batch is a part that does its work n times in a row and counts the median: what comes
// after another part's turn finds caches cold.
func batch(n int, work func()) part {
	return func() time.Duration {
		times := make([]time.Duration, n)
		for i := range times {
			times[i] = timed(work)()
		}
		return median(times)
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// medians runs every part in turn, round after round, and returns the median of each.
func medians(b *testing.B, parts ...part) []time.Duration {
	b.Helper()
	times := make([][]time.Duration, len(parts))
	for _, part := range parts {
		part() // once to warm caches
	}
	for range *rounds {
		for i, part := range parts {
			times[i] = append(times[i], part())
		}
	}
	result := make([]time.Duration, len(parts))
	for i := range times {
		result[i] = median(times[i])
	}
	return result
}

func report(name string, value, of time.Duration) {
	fmt.Printf("%-44s %10v of %10v\n", name, value.Round(time.Microsecond), of.Round(time.Microsecond))
	ratio(name, float64(value)/float64(of))
}

func ratio(name string, value float64) {
	fmt.Printf("ratio %s %.3f\n", name, value)
}

func fatal(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
