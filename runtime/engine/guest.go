package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// Guest is a tool that a module carries out.
type Guest struct {
	pool   *Pool
	module Module
}

var _ runtime.Implementation = (*Guest)(nil)

// NewGuest returns the implementation of a module's tool.
func NewGuest(pool *Pool, m Module) *Guest { return &Guest{pool, m} }

// Plan names no effects: a guest has none but those of the calls it makes, and each of
// those is decided by itself.
func (g *Guest) Plan(json.RawMessage) ([]permission.Effect, error) { return nil, nil }

// Warm makes the first call as fast as the next ones: see Pool.Warm.
func (g *Guest) Warm(ctx context.Context) error { return g.pool.Warm(ctx, g.module) }

// Run carries out one call.
func (g *Guest) Run(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error) {
	calls := &accessCalls{call: access.Call}
	result, err := g.pool.invoke(ctx, g.module, input, calls)
	calls.log(ctx, result.log)
	if err != nil {
		return nil, calls.explain(err)
	}
	return result.output, nil
}

// accessCalls passes what a guest asks for to the registry.
type accessCalls struct {
	call func(ctx context.Context, tool string, input json.RawMessage) runtime.Envelope
	// failed is the error of the last nested call, nil when it succeeded: a guest that
	// went on to succeed elsewhere has got over an earlier failure.
	failed *fault.Error
}

const emitTool = "event.emit"

// ToolCall implements handler.
func (a *accessCalls) ToolCall(ctx context.Context, name string, request []byte) []byte {
	envelope := a.call(ctx, name, request)
	a.failed = envelope.Error
	text, err := plainjson.Marshal(envelope)
	if err != nil {
		return unencodable(name, err)
	}
	return text
}

// unencodable is the envelope in place of one that cannot be written as JSON.
func unencodable(name string, err error) []byte {
	text, _ := json.Marshal(runtime.Envelope{Tool: name, Artifacts: []string{}, Error: fault.From(err)})
	return text
}

// Emit implements handler.
func (a *accessCalls) Emit(ctx context.Context, kind int32, payload []byte) hostabi.Code {
	input, err := emitInput(kind, payload)
	if err != nil {
		return hostabi.EBADSTATE
	}
	envelope := a.call(ctx, emitTool, input)
	switch {
	case envelope.Error == nil:
		return 0
	case envelope.Error.Kind == fault.ResourceExhausted:
		return hostabi.EQUOTA
	case envelope.Error.Code == "event_too_large":
		return hostabi.E2BIG
	}
	return hostabi.EBADSTATE
}

var emitKinds = [...]string{
	hostabi.EmitLog: "log", hostabi.EmitProgress: "progress", hostabi.EmitPartial: "partial", hostabi.EmitEvent: "event",
}

// emitInput is the input of event.emit: the payload with its kind. A part of the output
// may be any value; the others are objects.
func emitInput(kind int32, payload []byte) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	if kind == hostabi.EmitPartial {
		fields["output"] = payload
	} else if err := json.Unmarshal(payload, &fields); err != nil || fields == nil {
		return nil, errors.New("the payload is not a JSON object")
	}
	name, err := json.Marshal(emitKinds[kind])
	if err != nil {
		return nil, err
	}
	fields["kind"] = name
	return plainjson.Marshal(fields)
}

// log passes on what the guest printed, as one log line.
func (a *accessCalls) log(ctx context.Context, text []byte) {
	if len(text) == 0 || ctx.Err() != nil {
		return
	}
	line, err := plainjson.Marshal(map[string]string{"level": "info", "msg": printable(strings.TrimSpace(string(text)), hostabi.MaxEmit/8)})
	if err == nil {
		a.Emit(ctx, hostabi.EmitLog, line)
	}
}

// explain adds to a guest's own error why its nested call was refused.
func (a *accessCalls) explain(err error) error {
	var e *fault.Error
	if a.failed != nil && errors.As(err, &e) && e.Kind == fault.GuestError {
		return e.With(causeDetail, a.failed)
	}
	return err
}
