package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
)

// registry stands for Access.Call: it records the calls and answers with the errors that
// a test gives, by tool.
type registry struct {
	seen   []string
	errors map[string]*fault.Error
}

func (r *registry) call(_ context.Context, tool string, input json.RawMessage) runtime.Envelope {
	r.seen = append(r.seen, tool+" "+string(input))
	e := runtime.Envelope{OK: r.errors[tool] == nil, Tool: tool, Version: 1, Artifacts: []string{}, Error: r.errors[tool]}
	if e.OK {
		e.Output = json.RawMessage(`{}`)
	}
	return e
}

func TestRefusedNestedCallIsTheCause(t *testing.T) {
	denied := fault.New(fault.PermissionDenied, "protected_path", ".env is protected").WithHint("ask")
	r := &registry{errors: map[string]*fault.Error{"fs.read": denied}}
	calls := &accessCalls{call: r.call}
	m := guest(t, "guests/relay")
	_, err := newPool(t).invoke(t.Context(), m, nil, calls)
	e := wantFault(t, calls.explain(err), fault.GuestError, "no_env")
	if e.Details["cause"] != denied || e.Details["tried"] != 1.0 {
		t.Errorf("details %v", e.Details)
	}
	if !slices.Equal(r.seen, []string{`fs.read {"path":".env"}`}) {
		t.Errorf("calls %q", r.seen)
	}
}

func TestNoCauseWithoutARefusal(t *testing.T) {
	calls := &accessCalls{call: (&registry{}).call}
	m := guest(t, "guests/relay")
	_, err := newPool(t).invoke(t.Context(), m, nil, calls)
	if e := wantFault(t, calls.explain(err), fault.GuestError, "no_env"); e.Details["cause"] != nil {
		t.Errorf("details %v", e.Details)
	}
}

func TestNestedEnvelopeReachesTheGuest(t *testing.T) {
	r := &registry{errors: map[string]*fault.Error{"t.t": fault.New(fault.NotFound, "unknown_tool", "no tool")}}
	calls := &accessCalls{call: r.call}
	m := guest(t, "guests/nested")
	result, err := newPool(t).invoke(t.Context(), m, nil, calls)
	if err != nil {
		t.Fatal(err)
	}
	var envelope runtime.Envelope
	if err := json.Unmarshal(result.output, &envelope); err != nil || envelope.OK || envelope.Error.Code != "unknown_tool" {
		t.Errorf("%s, %v", result.output, err)
	}
}

func TestEmit(t *testing.T) {
	tests := []struct {
		kind    int32
		payload string
		want    string
		code    hostabi.Code
	}{
		{hostabi.EmitLog, `{"level":"info","msg":"x"}`, `event.emit {"kind":"log","level":"info","msg":"x"}`, 0},
		{hostabi.EmitProgress, `{"fraction":0.5}`, `event.emit {"fraction":0.5,"kind":"progress"}`, 0},
		{hostabi.EmitPartial, `[1,2]`, `event.emit {"kind":"partial","output":[1,2]}`, 0},
		{hostabi.EmitEvent, `{"name":"done","payload":{}}`, `event.emit {"kind":"event","name":"done","payload":{}}`, 0},
		{hostabi.EmitEvent, `{"name":"x","kind":"log"}`, `event.emit {"kind":"event","name":"x"}`, 0},
		{hostabi.EmitLog, `null`, "", hostabi.EBADSTATE},
		{hostabi.EmitLog, `not JSON`, "", hostabi.EBADSTATE},
		{hostabi.EmitLog, `["msg"]`, "", hostabi.EBADSTATE},
		{hostabi.EmitPartial, `{`, "", hostabi.EBADSTATE},
		{hostabi.EmitPartial, ``, "", hostabi.EBADSTATE},
	}
	for _, test := range tests {
		r := &registry{}
		calls := &accessCalls{call: r.call}
		if got := calls.Emit(t.Context(), test.kind, []byte(test.payload)); got != test.code {
			t.Errorf("%d %s: code %d, want %d", test.kind, test.payload, got, test.code)
		}
		if got := fmt.Sprintf("%q", r.seen); test.want != "" && got != fmt.Sprintf("%q", []string{test.want}) || test.want == "" && len(r.seen) > 0 {
			t.Errorf("%d %s: calls %s", test.kind, test.payload, got)
		}
	}
}

func TestEmitThatIsRefused(t *testing.T) {
	for refusal, code := range map[*fault.Error]hostabi.Code{
		fault.New(fault.PermissionDenied, "x", "y"):           hostabi.EBADSTATE,
		fault.New(fault.ResourceExhausted, "x", "y"):          hostabi.EQUOTA,
		fault.New(fault.InvalidInput, "event_too_large", "y"): hostabi.E2BIG,
	} {
		r := &registry{errors: map[string]*fault.Error{"event.emit": refusal}}
		calls := &accessCalls{call: r.call}
		if got := calls.Emit(t.Context(), hostabi.EmitLog, []byte(`{"msg":"x"}`)); got != code || calls.failed != nil {
			t.Errorf("%s: code %d, failed %v", refusal.Kind, got, calls.failed)
		}
	}
}

func TestPrintsBecomeALogLine(t *testing.T) {
	r := &registry{}
	calls := &accessCalls{call: r.call}
	calls.log(t.Context(), nil)
	calls.log(t.Context(), []byte("one\n\x1b[31mtwo\n"))
	want := `event.emit {"kind":"log","level":"info","msg":"one\n` + "\uFFFD" + `[31mtwo"}`
	if !slices.Equal(r.seen, []string{want}) {
		t.Errorf("calls %q", r.seen)
	}
}
