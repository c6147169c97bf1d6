package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/otlp"
	"github.com/aircoding/air/runtime/event"
)

// exportSpans makes a span of each call and writes those of one store as one line.
func exportSpans(ctx context.Context, w io.Writer, store *event.Store, q event.Query, resource otlp.Attributes) error {
	calls := calls{byRun: map[string]*call{}}
	if err := eachEvent(ctx, store, q, calls.add); err != nil {
		return err
	}
	if len(calls.all) == 0 {
		return nil
	}
	return otlp.Encode(w, resource, "air/runtime", calls.spans())
}

// calls puts together what the events say of each call.
type calls struct {
	all   []*call // in the order in which they began
	byRun map[string]*call
}

type call struct {
	run, parent string
	span        otlp.Span
}

// callEvent is what a span needs of an event.
type callEvent struct {
	RunID       string       `json:"run_id"`
	ParentRunID string       `json:"parent_run_id"`
	Tool        string       `json:"tool"`
	Digest      string       `json:"digest"`
	Error       *fault.Error `json:"error"`
	Decisions   []decided    `json:"decisions"`
}

type decided struct {
	Effect  struct{ Kind, Target string } `json:"effect"`
	Verdict string                        `json:"verdict"`
	Layer   string                        `json:"layer"`
	Rule    string                        `json:"rule"`
	Code    string                        `json:"code"`
}

func (c *calls) add(e event.Event) error {
	var p callEvent
	if json.Unmarshal(e.Payload, &p) != nil || p.RunID == "" {
		return nil // an event of no call
	}
	k := c.byRun[p.RunID]
	if k == nil {
		k = c.begin(e, p)
	}
	k.span.End = e.Timestamp
	switch e.Type {
	case event.ToolStarted:
	case event.ToolCompleted:
		k.span.Status = otlp.OK
	case event.ToolFailed, event.ToolCancelled:
		k.fail(p.Error)
	case event.PermissionDecided:
		for _, d := range p.Decisions {
			k.note(e, otlp.Attributes{
				"air.effect": fmt.Sprintf("%s(%s)", d.Effect.Kind, d.Effect.Target), "air.verdict": d.Verdict,
				"air.layer": d.Layer, "air.rule": d.Rule, "air.code": d.Code,
			})
		}
	default:
		k.note(e, nil)
	}
	return nil
}

func (c *calls) begin(e event.Event, p callEvent) *call {
	k := &call{run: p.RunID, parent: p.ParentRunID, span: otlp.Span{
		Name: p.Tool, Start: e.Timestamp,
		Attributes: otlp.Attributes{"air.run_id": p.RunID, "air.tool": p.Tool, "air.route": e.Route},
	}}
	if p.Digest != "" {
		k.span.Attributes["air.digest"] = p.Digest
	}
	c.all, c.byRun[p.RunID] = append(c.all, k), k
	return k
}

func (k *call) note(e event.Event, attributes otlp.Attributes) {
	k.span.Events = append(k.span.Events, otlp.Event{Name: e.Type, Time: e.Timestamp, Attributes: attributes})
}

func (k *call) fail(err *fault.Error) {
	k.span.Status = otlp.Error
	if err != nil {
		k.span.Message = err.Message
		k.span.Attributes["error.type"], k.span.Attributes["air.code"] = string(err.Kind), err.Code
	}
}

func (c *calls) spans() []otlp.Span {
	spans := make([]otlp.Span, len(c.all))
	for i, k := range c.all {
		k.span.TraceID, k.span.ID = traceID(c.outermost(k)), spanID(k.run)
		if k.parent != "" {
			k.span.ParentID = spanID(k.parent)
		}
		spans[i] = k.span
	}
	return spans
}

// outermost is the run of the call that a person or their agent made.
func (c *calls) outermost(k *call) string {
	for range maxDepth {
		above := c.byRun[k.parent]
		if above == nil {
			break
		}
		k = above
	}
	return k.run
}

// maxDepth is more than calls are nested: an end where events have been tampered with.
const maxDepth = 64

// traceID is the run's id, which is as long as a trace's.
func traceID(run string) string { return strings.ReplaceAll(run, "-", "") }

// spanID is the half of a run's id that is random.
func spanID(run string) string {
	hex := traceID(run)
	return hex[max(0, len(hex)-16):]
}
