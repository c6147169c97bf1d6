package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// IO gives an error of the file system its kind; doing says what was attempted. An
// error that has a kind, and the end of a context, stay what they are; nil stays nil.
func IO(doing string, err error) error {
	var known *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return fromSystem(fmt.Errorf("%s: %w", doing, err))
}

// IsDiskFull reports whether there was no room for a write: on the disk, in the quota,
// or below the largest size of a file.
func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func fromSystem(err error) *Error {
	switch {
	case IsDiskFull(err):
		return New(ResourceExhausted, "disk_full", "%w", err).WithHint("free some space, or raise the quota or file size limit, and try again")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return New(Unavailable, "file_access", "%w", err).WithHint("check who owns the file and its folder, and that the file system can be written to")
	}
	return New(Unavailable, "file_error", "%w", err)
}

// isSystem reports whether the operating system, not air, is the one that failed.
func isSystem(err error) bool {
	var (
		path  *fs.PathError
		link  *os.LinkError
		call  *os.SyscallError
		errno syscall.Errno
	)
	return errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &call) || errors.As(err, &errno)
}
