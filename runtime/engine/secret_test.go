package engine

import (
	"sync"
	"testing"

	"github.com/aircoding/air/wasmtests"
)

// TestG9NothingIsFound calls guests that leave something behind and look for it, two
// at a time: the first starts each call in the instance of the one before, the second in a
// new one.
func TestG9NothingIsFound(t *testing.T) {
	tests := []struct {
		name   string
		module Module
		calls  int // by each of two callers
	}{
		{"in one instance", guest(t, "guests/keeper-data"), 5000},
		{"in new ones", guest(t, "guests/keeper-table"), 1000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, calls := test.module, test.calls
			if wasmtests.Slowdown > 1 {
				calls /= 20
			}
			p := newPool(t)
			var done sync.WaitGroup
			for range 2 {
				done.Go(func() {
					for i := range calls {
						result, err := invoke(t, p, m, `{}`)
						if err != nil || string(result.output) != "true" {
							t.Errorf("call %d: %s, %v", i, result.output, err)
							return
						}
					}
				})
			}
			done.Wait()
			used := 0
			for _, i := range p.idle {
				used += i.worker.calls
			}
			if used != 2*calls || len(p.idle) > 2 {
				t.Errorf("%d of %d calls in the %d workers that wait", used, 2*calls, len(p.idle))
			}
		})
	}
}
