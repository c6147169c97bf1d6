package runtime

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/event"
)

const (
	// storedHead bounds what a guest or an input can put into an event.
	storedHead = 2 << 10
	// inlineOutput is the size from which an output is also kept as an artifact. It
	// leaves room for what fs.read and artifact.read return inline, 256 KiB as JSON.
	inlineOutput = 1 << 20
)

// record writes the terminal event of a call and builds its envelope.
func (r *Registry) record(ctx context.Context, c *run, output json.RawMessage, err error) Envelope {
	failure := fault.From(err)
	ctx = context.WithoutCancel(ctx) // what happened is recorded, also when the caller has gone
	if c.tool == nil {
		c.tool = &Tool{Name: c.call.Tool, Unrecorded: c.call.parent == nil}
	}
	if failure == nil && len(output) > inlineOutput {
		failure = fault.From(r.keepOutput(ctx, c, output))
	}
	payload := map[string]any{"duration_ms": time.Since(c.started).Milliseconds()}
	eventType := event.ToolCompleted
	switch {
	case failure == nil:
		payload["output"] = digestAndHead(output)
		payload["artifacts"] = c.artifactList()
	case failure.Kind == fault.Cancelled:
		eventType, payload["error"] = event.ToolCancelled, storedError(failure)
	default:
		eventType, payload["error"] = event.ToolFailed, storedError(failure)
	}
	charge, notCharged := r.charge(c, c.ending(len(output)))
	if err := r.append(ctx, c, eventType, payload, charge); err != nil {
		notCharged()
		if failure == nil {
			failure = fault.From(err)
		}
	}
	return c.envelope(output, failure)
}

// refuse ends a call before its first step. Nothing is recorded of it: a guest that
// goes on calling must not fill the store.
func (r *Registry) refuse(c *run, failure *fault.Error) Envelope {
	if c.tool = r.builtin[c.call.Tool]; c.tool == nil {
		c.tool = &Tool{Name: c.call.Tool}
	}
	return c.envelope(nil, failure)
}

func (c *run) envelope(output json.RawMessage, failure *fault.Error) Envelope {
	return Envelope{
		OK:         failure == nil,
		Tool:       c.tool.Name,
		Version:    c.tool.Version,
		RunID:      c.id,
		Output:     output,
		Artifacts:  c.artifactList(),
		DurationMS: time.Since(c.started).Milliseconds(),
		Error:      failure,
	}
}

// append records an event of this call, and in the same transaction the changes that
// belong to it.
func (r *Registry) append(ctx context.Context, c *run, eventType string, payload map[string]any, changes ...func(*sql.Tx) error) error {
	if c.tool.Unrecorded && eventType != event.PermissionDecided {
		return nil
	}
	body, err := c.stored(payload)
	if err != nil {
		return err
	}
	giveBack := r.owe(c, body)
	if _, err = r.config.Session.Events.Append(ctx, r.event(c, eventType, body), changes...); err != nil {
		giveBack()
	}
	return err
}

// stored is what an event of this call says, with what tells which call it is.
func (c *run) stored(payload map[string]any) (json.RawMessage, error) {
	payload["run_id"], payload["tool"] = c.id, text.Head(c.tool.Name, 128)
	if c.call.parent != nil {
		payload["parent_run_id"] = c.call.parent.id
	}
	if c.tool.Owner.Digest != "" { // which bytes ran
		payload["digest"] = c.tool.Owner.Digest
	}
	return plainjson.Marshal(payload)
}

func (r *Registry) event(c *run, eventType string, payload json.RawMessage) event.Event {
	e := event.Event{Type: eventType, Source: event.Source{Kind: "tool", ID: text.Head(c.tool.Name, 128)}, Payload: payload}
	for _, caller := range c.chain {
		e.Route = append(e.Route, caller.Capability)
	}
	return e
}

// storedError is how an error is kept in an event: a guest may have written it.
func storedError(e *fault.Error) map[string]any {
	stored := map[string]any{"kind": e.Kind, "code": text.Head(e.Code, 128), "message": text.Head(e.Message, storedHead)}
	if len(e.Details) == 0 {
		return stored
	}
	details, err := plainjson.Marshal(e.Details)
	switch {
	case err != nil || len(details) > storedHead:
		stored["details"] = digestAndHead(details)
	default:
		stored["details"] = json.RawMessage(details)
	}
	return stored
}

// digestAndHead is how a text from outside is kept in an event.
func digestAndHead(content []byte) map[string]any {
	return map[string]any{"sha256": canon.Digest(content), "bytes": len(content), "head": text.Head(string(content), storedHead)}
}

func (c *run) artifactList() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.artifacts...)
}
