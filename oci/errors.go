package oci

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aircoding/air/internal/fault"
)

// Kind classifies an Error. The list is closed: callers may switch over it.
type Kind string

const (
	KindNotFound     Kind = "not_found"
	KindUnauthorized Kind = "unauthorized"
	KindRateLimited  Kind = "rate_limited"
	KindIntegrity    Kind = "integrity"   // bytes are not what a digest or size promised
	KindUnreachable  Kind = "unreachable" // no connection, no answer, or the answer broke off
	KindNotRegistry  Kind = "not_a_registry"
	KindTooLarge     Kind = "too_large"
	KindConflict     Kind = "conflict"
	KindInvalid      Kind = "invalid"
	KindDiskFull     Kind = "disk_full"
	KindCancelled    Kind = "cancelled"
	KindTimeout      Kind = "timeout"  // the caller's deadline, not the network's
	KindLocal        Kind = "local_io" // a file or folder of this machine
)

// Error says what was done, to which reference, and why it did not work.
type Error struct {
	Op        string // "pulling", "pushing", "serving"; empty for a bare manifest
	Reference string
	Kind      Kind
	Hint      string
	Err       error
}

func (e *Error) Error() string {
	switch {
	case e.Op == "":
		return e.Err.Error()
	case e.Reference == "":
		return e.Op + ": " + e.Err.Error()
	}
	return e.Op + " " + strconv.Quote(e.Reference) + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

func fail(kind Kind, hint, format string, args ...any) *Error {
	return &Error{Kind: kind, Hint: hint, Err: fmt.Errorf(format, args...)}
}

func isKind(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// during names the operation on an error that leaves the package, and gives a kind
// to one that has none yet.
func during(op, reference string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		e = localError(err)
	} else if err != error(e) {
		e = &Error{Kind: e.Kind, Hint: e.Hint, Err: err}
	}
	out := *e
	out.Op, out.Reference = op, reference
	return &out
}

const (
	hintDiskFull = "make room on the disk and try again"
	hintTimeout  = "give it more time with --timeout"
	goesOn       = "the next pull goes on where it stopped"
)

// plainly says an error in other words.
type plainly struct {
	words string
	error
}

func (p plainly) Error() string { return p.words }
func (p plainly) Unwrap() error { return p.error }

// localError classifies what this machine, not the registry, answered.
func localError(err error) *Error {
	switch {
	case errors.Is(err, context.Canceled):
		return &Error{Kind: KindCancelled, Err: plainly{"it was cancelled", err}}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: KindTimeout, Hint: hintTimeout, Err: plainly{"there was no time left", err}}
	case fault.IsDiskFull(err):
		return &Error{Kind: KindDiskFull, Hint: hintDiskFull, Err: err}
	}
	return &Error{Kind: KindLocal, Hint: fault.From(err).Hint, Err: err}
}
