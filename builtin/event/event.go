// Package event brings the tool with which a capability says what it is doing.
package event

import (
	"context"
	"encoding/json"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime"
)

const (
	maxMessage = 8 << 10
	maxPayload = 64 << 10
)

// Tools returns the implementations by tool name.
func Tools() map[string]runtime.Implementation {
	return map[string]runtime.Implementation{
		"event.emit": runtime.Typed[emitInput]{Do: emit},
	}
}

type emitInput struct {
	Kind     string          `json:"kind"`
	Level    string          `json:"level"`    // log
	Msg      string          `json:"msg"`      // log
	Fraction *float64        `json:"fraction"` // progress
	Message  string          `json:"message"`  // progress
	Output   json.RawMessage `json:"output"`   // partial
	Name     string          `json:"name"`     // event
	Payload  json.RawMessage `json:"payload"`  // event
}

func emit(ctx context.Context, access *runtime.Access, in emitInput) (any, error) {
	if in.Kind == "event" {
		return struct{}{}, emitOwn(ctx, access, in)
	}
	payload, err := in.progress()
	if err != nil {
		return nil, err
	}
	return struct{}{}, access.Progress(ctx, in.Kind, payload)
}

func emitOwn(ctx context.Context, access *runtime.Access, in emitInput) error {
	payload := in.Payload
	if payload == nil {
		payload = json.RawMessage(`{}`)
	}
	if err := bounded(payload); err != nil {
		return err
	}
	return access.Emit(ctx, in.Name, payload)
}

// progress is the payload of what only a person who watches gets to see.
func (in emitInput) progress() (json.RawMessage, error) {
	switch in.Kind {
	case "log":
		if in.Level == "" {
			in.Level = "info"
		}
		return plainjson.Marshal(map[string]string{"level": in.Level, "msg": text.Head(in.Msg, maxMessage)})
	case "progress":
		return plainjson.Marshal(struct {
			Fraction *float64 `json:"fraction,omitempty"`
			Message  string   `json:"message,omitempty"`
		}{in.Fraction, text.Head(in.Message, maxMessage)})
	case "partial":
		if err := bounded(in.Output); err != nil {
			return nil, err
		}
		return plainjson.Marshal(map[string]json.RawMessage{"output": in.Output})
	}
	return nil, fault.New(fault.InvalidInput, "bad_kind", "kind %.32q: log, progress, partial or event is wanted", in.Kind)
}

func bounded(payload json.RawMessage) error {
	if len(payload) > maxPayload {
		return fault.New(fault.InvalidInput, "too_large", "payload of %d bytes, the limit is %d", len(payload), maxPayload).
			WithHint("store it with artifact.create and send the id")
	}
	return nil
}
