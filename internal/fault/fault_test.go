package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

func TestErrorAsJSON(t *testing.T) { // contracts.md "Tool result envelope"
	err := fault.New(fault.PermissionDenied, "protected_path", "writing %s: %w", ".git/config", io.ErrClosedPipe).
		WithHint("use %s", "git").With("effect", "overwrite").With("rule", "builtin:1")
	got, _ := json.Marshal(err)
	want := `{"kind":"permission_denied","code":"protected_path","message":"writing .git/config: io: read/write on closed pipe","retryable":false,"hint":"use git","details":{"effect":"overwrite","rule":"builtin:1"}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Error("the wrapped error cannot be found")
	}
	short, _ := json.Marshal(fault.New(fault.NotFound, "", "none"))
	if want := `{"kind":"not_found","message":"none","retryable":false}`; string(short) != want {
		t.Errorf("got %s", short)
	}
}

func TestNewWrapsSeveral(t *testing.T) {
	err := fault.New(fault.Conflict, "x", "%w and %w", io.EOF, io.ErrClosedPipe)
	if !errors.Is(err, io.EOF) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v: a wrapped error cannot be found", err)
	}
}

const (
	hintFull   = "free some space, or raise the quota or file size limit, and try again"
	hintAccess = "check who owns the file and its folder, and that the file system can be written to"
)

func TestIO(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind fault.Kind
		code string
		hint string
	}{
		{syscall.ENOSPC, fault.ResourceExhausted, "disk_full", hintFull},
		{syscall.EDQUOT, fault.ResourceExhausted, "disk_full", hintFull},
		{syscall.EFBIG, fault.ResourceExhausted, "disk_full", hintFull},
		{syscall.EACCES, fault.Unavailable, "file_access", hintAccess},
		{syscall.EPERM, fault.Unavailable, "file_access", hintAccess},
		{syscall.EROFS, fault.Unavailable, "file_access", hintAccess},
		{syscall.EIO, fault.Unavailable, "file_error", ""},
		{io.ErrShortWrite, fault.Unavailable, "file_error", ""},
	} {
		got := fault.From(fault.IO("writing x", c.err))
		if got.Kind != c.kind || got.Code != c.code || got.Hint != c.hint || got.Message != "writing x: "+c.err.Error() || !errors.Is(got, c.err) {
			t.Errorf("%v: got %+v", c.err, got)
		}
	}
	for _, err := range []error{nil, context.Canceled, context.DeadlineExceeded, fault.New(fault.Integrity, "x", "y")} {
		if got := fault.IO("writing x", err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestFrom(t *testing.T) {
	own := fault.New(fault.Conflict, "changed", "it changed").WithHint("read it again")
	own.Retryable = true
	cancelled, cancel := context.WithCancelCause(context.Background())
	cancel(fmt.Errorf("the reason: %w", context.DeadlineExceeded))
	for _, c := range []struct {
		name    string
		err     error
		kind    fault.Kind
		code    string
		message string
		hint    string
	}{
		{"own", own, fault.Conflict, "changed", "it changed", "read it again"},
		{"wrapped", fmt.Errorf("editing a: %w", own), fault.Conflict, "changed", "editing a: it changed", "read it again"},
		{"joined", errors.Join(io.EOF, own), fault.Conflict, "changed", "EOF\nit changed", "read it again"},
		{"deadline", fmt.Errorf("waiting: %w", context.DeadlineExceeded), fault.Timeout, "deadline", "waiting: context deadline exceeded", ""},
		{"cancelled", fmt.Errorf("waiting: %w", context.Canceled), fault.Cancelled, "cancelled", "waiting: context canceled", ""},
		{"cause", context.Cause(cancelled), fault.Timeout, "deadline", "the reason: context deadline exceeded", ""},
		{"full", fmt.Errorf("writing: %w", &os.PathError{Op: "write", Path: "/dev/full", Err: syscall.ENOSPC}), fault.ResourceExhausted, "disk_full", "writing: write /dev/full: no space left on device", hintFull},
		{"read-only", &os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EROFS}, fault.Unavailable, "file_access", "rename a b: read-only file system", hintAccess},
		{"mkdir", os.NewSyscallError("fsync", syscall.EIO), fault.Unavailable, "file_error", "fsync: input/output error", ""},
		{"number", syscall.EFBIG, fault.ResourceExhausted, "disk_full", "file too large", hintFull},
		{"stranger", io.EOF, fault.Internal, "bug", "internal error (a bug in air): EOF", ""},
	} {
		got := fault.From(c.err)
		if got.Kind != c.kind || got.Code != c.code || got.Message != c.message || got.Hint != c.hint {
			t.Errorf("%s: got %+v", c.name, got)
		}
		if !errors.Is(got, c.err) && !errors.Is(c.err, got) {
			t.Errorf("%s: the error was lost", c.name)
		}
	}
	if fault.From(nil) != nil {
		t.Error("nil became an error")
	}
	if own.Message != "it changed" {
		t.Errorf("wrapping changed the original: %q", own.Message)
	}
	if wrapped := fault.From(fmt.Errorf("editing: %w", own)); !wrapped.Retryable || !errors.Is(wrapped, own) {
		t.Errorf("wrapped: %+v", wrapped)
	}
}

// With on a copy must not reach the original's details.
func TestFromSharesNoDetails(t *testing.T) {
	own := fault.New(fault.Conflict, "changed", "it changed").With("path", "a")
	wrapped := fault.From(fmt.Errorf("editing: %w", own)).With("more", 1)
	if len(own.Details) != 1 || len(wrapped.Details) != 2 {
		t.Errorf("details: %v and %v", own.Details, wrapped.Details)
	}
}

func TestIs(t *testing.T) {
	err := fmt.Errorf("around: %w", fault.New(fault.Timeout, "deadline", "late"))
	if !fault.Is(err, fault.Timeout) || fault.Is(err, fault.Conflict) || fault.Is(io.EOF, fault.Internal) || fault.Is(nil, fault.Internal) {
		t.Error("wrong answer")
	}
}
