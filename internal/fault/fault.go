// Package fault owns the closed list of error kinds that AIR shows to its callers.
//
// A tool's failure travels as a *fault.Error inside an envelope; a package that
// returns one decides the kind, and cmd/air turns the kind into an exit code.
package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
)

// Kind classifies an error. The list is closed: callers may switch over it.
type Kind string

const (
	InvalidInput      Kind = "invalid_input"
	NotFound          Kind = "not_found"
	Conflict          Kind = "conflict"
	PermissionDenied  Kind = "permission_denied"
	ApprovalRequired  Kind = "approval_required"
	Cancelled         Kind = "cancelled"
	Timeout           Kind = "timeout"
	ResourceExhausted Kind = "resource_exhausted"
	DependencyMissing Kind = "dependency_missing"
	Integrity         Kind = "integrity"
	GuestTrap         Kind = "guest_trap"
	GuestError        Kind = "guest_error"
	Unavailable       Kind = "unavailable"
	Internal          Kind = "internal"
)

// Error is what a caller is told when a call or a command did not succeed.
// Code is a stable, finer name than Kind. Hint says what to do next.
type Error struct {
	Kind      Kind           `json:"kind"`
	Code      string         `json:"code,omitempty"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Hint      string         `json:"hint,omitempty"`
	Details   map[string]any `json:"details,omitempty"`

	cause error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.cause }

// New makes an error of a kind, with a code and a formatted message. A %w verb
// keeps the wrapped error reachable for errors.Is and errors.As.
func New(kind Kind, code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Code: code, Message: err.Error(), cause: err}
}

// WithHint returns e with its hint set.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// With returns e with one more detail.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

// From returns err as an *Error. A cancelled or expired context keeps its meaning, and
// what the operating system refused is told as that; anything else that carries no
// kind is a bug of ours and says so.
func From(err error) *Error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		if e.Message == err.Error() {
			return e
		}
		wrapped := *e
		wrapped.Message, wrapped.cause, wrapped.Details = err.Error(), err, maps.Clone(e.Details)
		return &wrapped
	case errors.Is(err, context.DeadlineExceeded):
		return New(Timeout, "deadline", "%w", err)
	case errors.Is(err, context.Canceled):
		return New(Cancelled, "cancelled", "%w", err)
	case isSystem(err):
		return fromSystem(err)
	}
	return New(Internal, "bug", "internal error (a bug in air): %w", err)
}

// Is reports whether err carries the kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}
