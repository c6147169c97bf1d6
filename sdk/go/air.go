// Package air is the guest side of AIR: it turns Go functions into the tools of a
// capability. A module built from it reaches the outside only through AIR's
// registry, by the host ABI air.v1.
//
//	func init() { air.Handle("greet", greet) }
//
//	func main() { air.Main() }
//
//	func greet(c *air.Context, in Input) (Output, error) { … }
package air

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A handler runs one tool on the JSON of its input and returns the JSON of its output.
type handler func(c *Context, input json.RawMessage) ([]byte, error)

// handlers is filled while the module initialises and only read afterwards. It is
// package state because nothing else survives from there to air_call: main does not
// run in a module of this kind.
var handlers = map[string]handler{}

// Handle makes run the implementation of a tool. The name is the part after the
// capability's: "greet" for hello.greet. Call it from init.
//
// In and Out are the tool's input and output as JSON. An unknown key in the input is
// refused. A list that may be empty must not be nil, or it travels as null.
//
// An error ends the call as guest_error: with code and details where it is an *Error
// (see Fail), with the cause where it is or wraps a *ToolError, else with the code
// "failed". A panic is not caught: the module stops, the call ends as guest_trap, and
// what the panic said is in the log.
func Handle[In, Out any](name string, run func(c *Context, in In) (Out, error)) {
	if _, taken := handlers[name]; taken {
		panic(fmt.Sprintf("air: the tool %q has two handlers", name))
	}
	handlers[name] = func(c *Context, input json.RawMessage) ([]byte, error) {
		var in In
		if err := decodeStrict(input, &in); err != nil {
			return nil, Fail("bad_input", "reading the input of %s: %w", c.Tool, err)
		}
		out, err := run(c, in)
		if err != nil {
			return nil, err
		}
		return encode(out)
	}
}

// An invocation is what AIR hands over for one call.
type invocation struct {
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
	Config json.RawMessage `json:"config,omitempty"`
}

// The statuses of air_call: what was written is the output, or {code, message, details}.
const (
	statusOK     = 0
	statusFailed = 1
)

// serve runs one call and returns what to write and the status to return.
func serve(h Host, call []byte) (written []byte, status int32) {
	out, err := dispatch(h, call)
	if err != nil {
		return encodeError(err), statusFailed
	}
	return out, statusOK
}

func dispatch(h Host, call []byte) ([]byte, error) {
	var inv invocation
	if err := json.Unmarshal(call, &inv); err != nil {
		return nil, Fail("bad_invocation", "reading the invocation: %w", err)
	}
	_, name, _ := strings.Cut(inv.Tool, ".")
	run, ok := handlers[name]
	if !ok {
		return nil, Fail("unknown_tool", "this module has no tool %q", name)
	}
	return run(&Context{Tool: inv.Tool, host: h, config: inv.Config}, inv.Input)
}

// encode leaves <, > and & as they are, so that texts stay readable.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func decodeStrict(doc []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more than one JSON value")
	}
	return nil
}
