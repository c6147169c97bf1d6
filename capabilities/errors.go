package capabilities

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/aircoding/air/internal/fault"
)

// ioFault gives an error of the file system its kind; one that has a kind keeps it.
func ioFault(doing string, err error) error {
	var known *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault.New(fault.ResourceExhausted, "disk_full", "%s: %w", doing, err).WithHint("free some space and try again; nothing was left half-written")
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Unavailable, "file_access", "%s: %w", doing, err).WithHint("check who owns the file and its folder")
	}
	return fault.New(fault.Unavailable, "file_error", "%s: %w", doing, err)
}

// changed is the error for bytes that are not what their digest names.
func changed(format string, args ...any) *fault.Error {
	return fault.New(fault.Integrity, "bundle_changed", format, args...)
}
