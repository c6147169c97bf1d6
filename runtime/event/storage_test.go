package event

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

type coded int

func (c coded) Error() string { return fmt.Sprintf("sqlite says %d", int(c)) }
func (c coded) Code() int     { return int(c) }

func TestStorage(t *testing.T) {
	for _, c := range []struct {
		err       error
		kind      fault.Kind
		code      string
		retryable bool
	}{
		{syscall.ENOSPC, fault.ResourceExhausted, "disk_full", false},
		{&os.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, fault.ResourceExhausted, "disk_full", false},
		{coded(13), fault.ResourceExhausted, "disk_full", false},
		{coded(778), fault.ResourceExhausted, "disk_full", false},
		{coded(4874), fault.ResourceExhausted, "disk_full", false},
		{coded(5), fault.Unavailable, "store_busy", true},
		{coded(517), fault.Unavailable, "store_busy", true}, // SQLITE_BUSY_SNAPSHOT
		{coded(11), fault.Integrity, "store_damaged", false},
		{coded(26), fault.Integrity, "store_damaged", false},
		{coded(14), fault.Unavailable, "store_inaccessible", false},
		{fs.ErrPermission, fault.Unavailable, "store_inaccessible", false},
		{fault.New(fault.Conflict, "own", "own"), fault.Conflict, "own", false},
		{context.Canceled, fault.Cancelled, "cancelled", false},
		{errors.New("else"), fault.Internal, "bug", false},
	} {
		err := Storage(fmt.Errorf("below: %w", c.err), "doing %s", "this")
		got := fault.From(err)
		if got.Kind != c.kind || got.Code != c.code || got.Retryable != c.retryable || !errors.Is(err, c.err) {
			t.Errorf("%v: got %s %s %v, want %s %s", c.err, got.Kind, got.Code, got.Retryable, c.kind, c.code)
		}
		if want := "doing this: below: " + c.err.Error(); err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if err := Storage(nil, "doing"); err != nil {
		t.Errorf("got %v for no error", err)
	}
}
