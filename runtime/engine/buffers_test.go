package engine

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/wasmtests"
)

// TestLargestAnswers has a guest that uses all of its memory get the largest envelopes and
// write as much as a manifest may allow. One worker has room for that, call after call.
func TestLargestAnswers(t *testing.T) {
	skipUnderRace(t)
	p, m := newPool(t), guest(t, "guests/greedy")
	m.Limits = runtime.Limits{OutputBytes: 64 << 20}
	envelope := bytes.Repeat([]byte("x"), hostabi.MaxEnvelope)
	h := &fakeHandler{answer: func(context.Context, string, []byte) []byte { return envelope }}
	const calls = 4
	for range calls {
		result, err := p.invoke(t.Context(), m, nil, h)
		if got := strings.TrimSpace(string(result.output)); err != nil || got != "3" {
			t.Fatalf("%s calls were answered, %v", got, err)
		}
	}
	if len(p.idle) != 1 || p.idle[0].worker.calls != calls {
		t.Errorf("not in one worker: %+v", p.idle)
	}
}

// TestLargeStateBeforeTheCall: what is too large to keep is not put together first.
func TestLargeStateBeforeTheCall(t *testing.T) {
	skipUnderRace(t)
	p, m := newPool(t), guest(t, "guests/initfill")
	m.Limits = runtime.Limits{MemoryBytes: 1 << 30}
	for range 2 {
		if got := mustInvoke(t, p, m, `{}`); got != "true" {
			t.Errorf("got %s", got)
		}
	}
}

func skipUnderRace(t *testing.T) {
	t.Helper()
	if wasmtests.Slowdown > 1 {
		t.Skip("the race detector takes several times the memory")
	}
}
