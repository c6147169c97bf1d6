package air

import (
	"encoding/json"
	"fmt"
)

// Context is one call: what it may know and the tools it may call.
type Context struct {
	Tool string // the full name under which this call was made

	host   Host
	config json.RawMessage
}

// Host is all that a call can reach. In a module it is AIR, by air.v1; natively it is
// Dir or a test's own.
type Host interface {
	// Call runs a tool on the JSON of its input and returns AIR's envelope, also for
	// a refusal. The error is a Code: no call was made.
	Call(tool string, input []byte) (envelope []byte, err error)
	Emit(kind Kind, payload []byte) error
}

// Kind says what an emitted payload is.
type Kind int32

// The kinds of emit in air.v1.
const (
	KindLog      Kind = 0 // {level, msg}
	KindProgress Kind = 1 // {fraction?, message?}
	KindPartial  Kind = 2 // a part of the output
	KindEvent    Kind = 3 // {name, payload}
)

// Config decodes the capability's configuration into v, which keeps its values where
// nothing is configured. An unknown key is an error.
func (c *Context) Config(v any) error {
	if len(c.config) == 0 {
		return nil
	}
	if err := decodeStrict(c.config, v); err != nil {
		return Fail("bad_config", "reading the configuration: %w", err)
	}
	return nil
}

// Call runs another tool and decodes its output into out, unless out is nil. Where
// that tool was refused or failed, the error is a *ToolError.
func (c *Context) Call(tool string, in, out any) error {
	input, err := encode(in)
	if err != nil {
		return fmt.Errorf("calling %s: encoding its input: %w", tool, err)
	}
	reply, err := c.host.Call(tool, input)
	if err != nil {
		return fmt.Errorf("calling %s: %w", tool, err)
	}
	return readEnvelope(tool, reply, out)
}

// readEnvelope decodes the output in place: a large one is scanned once, not twice.
func readEnvelope(tool string, reply []byte, out any) error {
	if out == nil {
		out = &json.RawMessage{}
	}
	e := struct {
		OK     bool       `json:"ok"`
		Output any        `json:"output"`
		Error  *ToolError `json:"error"`
	}{Output: out}
	err := json.Unmarshal(reply, &e)
	switch {
	case e.Error != nil && !e.OK:
		e.Error.Tool = tool
		return e.Error
	case err != nil:
		return fmt.Errorf("calling %s: reading its envelope: %w", tool, err)
	case !e.OK:
		return fmt.Errorf("calling %s: its envelope has neither an output nor an error", tool)
	}
	return nil
}

// Debugf, Infof, Warnf and Errorf write a line to the call's log. What does not fit
// into the log's limit is lost.
func (c *Context) Debugf(format string, args ...any) { c.log("debug", format, args) }
func (c *Context) Infof(format string, args ...any)  { c.log("info", format, args) }
func (c *Context) Warnf(format string, args ...any)  { c.log("warn", format, args) }
func (c *Context) Errorf(format string, args ...any) { c.log("error", format, args) }

func (c *Context) log(level, format string, args []any) {
	line := struct {
		Level string `json:"level"`
		Msg   string `json:"msg"`
	}{level, fmt.Sprintf(format, args...)}
	_ = c.emit(KindLog, line) // a tool does not fail because its log is full
}

// Progress tells how far the call is, from 0 to 1; below 0 is unknown.
func (c *Context) Progress(fraction float64, format string, args ...any) {
	var p struct {
		Fraction *float64 `json:"fraction,omitempty"`
		Message  string   `json:"message,omitempty"`
	}
	if fraction >= 0 {
		fraction = min(fraction, 1)
		p.Fraction = &fraction
	}
	p.Message = fmt.Sprintf(format, args...)
	_ = c.emit(KindProgress, p) // shown where someone looks; never a reason to fail
}

// Partial hands over a part of the output before the rest is there.
func (c *Context) Partial(part any) error { return c.emit(KindPartial, part) }

// Event publishes an event of this capability: name "done" of the capability "hello"
// becomes capability.hello.done.
func (c *Context) Event(name string, payload any) error {
	return c.emit(KindEvent, struct {
		Name    string `json:"name"`
		Payload any    `json:"payload"`
	}{name, payload})
}

func (c *Context) emit(kind Kind, payload any) error {
	doc, err := encode(payload)
	if err != nil {
		return fmt.Errorf("encoding what to emit: %w", err)
	}
	return c.host.Emit(kind, doc)
}
