package air

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Error is a failure of a tool's own: what was asked for cannot be done.
// Code is stable, for programs; Message is for people.
type Error struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`

	cause error
}

// Fail makes an *Error. A %w verb keeps the wrapped error reachable.
func Fail(code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// With returns e with one more detail.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.cause }

// ToolError is the refusal or failure of a tool that this one called, as AIR's
// envelope has it. Return it, wrapped or not, and the caller sees it as the cause.
type ToolError struct {
	Tool      string         `json:"-"`
	Kind      string         `json:"kind"` // not_found, permission_denied, …
	Code      string         `json:"code,omitempty"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Hint      string         `json:"hint,omitempty"`
	Details   map[string]any `json:"details,omitempty"`
}

func (e *ToolError) Error() string { return e.Tool + ": " + e.Message }

// Code is AIR's answer where no call was made at all.
type Code int32

// The codes of air.v1.
const (
	EFAULT    Code = -1 // a pointer outside the module's memory: a bug of this package
	E2BIG     Code = -2 // more bytes than the limit
	EBADSTATE Code = -3 // not now: nothing can be called while the module initialises
	ECANCELED Code = -4 // the call is over: cancelled, or past its deadline
	EQUOTA    Code = -5 // a limit of the call is used up: host calls, log bytes
)

func (c Code) Error() string {
	switch c {
	case EFAULT:
		return "bad address (EFAULT)"
	case E2BIG:
		return "too large (E2BIG)"
	case EBADSTATE:
		return "not possible in this state (EBADSTATE)"
	case ECANCELED:
		return "the call is over (ECANCELED)"
	case EQUOTA:
		return "a limit of this call is used up (EQUOTA)"
	}
	return fmt.Sprintf("unknown code %d", int32(c))
}

// encodeError renders whatever a handler returned as {code, message, details}.
func encodeError(err error) []byte {
	doc, failed := encode(describe(err))
	if failed != nil { // details of a type that JSON does not have
		doc, _ = json.Marshal(Error{Code: "failed", Message: err.Error()})
	}
	return doc
}

func describe(err error) *Error {
	var own *Error
	e := Error{Code: "failed", Message: err.Error(), cause: err}
	if errors.As(err, &own) {
		e.Code, e.Details = own.Code, own.Details
	}
	var called *ToolError
	if !errors.As(err, &called) {
		return &e
	}
	if own == nil {
		e.Code = "call_failed"
	}
	details := map[string]any{"cause": called, "tool": called.Tool}
	for key, value := range e.Details {
		details[key] = value
	}
	e.Details = details
	return &e
}
