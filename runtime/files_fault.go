package runtime

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
)

// fault says what the operating system refused, to what and what to do about it.
func (f *files) fault(doing, canonical string, err error) error {
	return fileFault(doing+" "+f.show(canonical), err)
}

func fileFault(what string, err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return fmt.Errorf("%s: %w", what, err)
	}
	var errno unix.Errno
	errors.As(err, &errno)
	switch errno {
	case unix.ENOENT:
		return fault.New(fault.NotFound, "no_such_file", "%s: %w", what, err)
	case unix.ENOTDIR:
		return fault.New(fault.NotFound, "not_a_directory", "%s: a part of the path is not a folder: %w", what, err)
	case unix.ELOOP, unix.EXDEV:
		return fault.New(fault.PermissionDenied, "path_changed", "%s: a part of the path became a symbolic link after it was decided: %w", what, err).
			WithHint("try again; if it repeats, another program is changing the folder")
	case unix.EACCES, unix.EPERM, unix.EROFS:
		return fault.New(fault.PermissionDenied, "os_denied", "%s: %w", what, err).WithHint("the operating system refuses this to the user that air runs as")
	case unix.ENOSPC, unix.EDQUOT, unix.EFBIG:
		return fault.New(fault.ResourceExhausted, "disk_full", "%s: %w", what, err).WithHint("free some space; nothing was changed")
	case unix.EMFILE, unix.ENFILE, unix.ENOMEM:
		return fault.New(fault.ResourceExhausted, "open_files", "%s: %w", what, err)
	case unix.EEXIST:
		return fault.New(fault.Conflict, "exists", "%s: it appeared after the write was decided: %w", what, err).WithHint("read it, then decide anew")
	case unix.EAGAIN:
		busy := fault.New(fault.Unavailable, "busy", "%s: another program holds the file: %w", what, err).WithHint("try again")
		busy.Retryable = true
		return busy
	case unix.EISDIR:
		return fault.New(fault.InvalidInput, "is_a_directory", "%s: %w", what, err)
	case unix.ENAMETOOLONG, unix.EINVAL:
		return fault.New(fault.InvalidInput, "bad_path", "%s: %w", what, err)
	case unix.ENXIO, unix.ENODEV, unix.EOPNOTSUPP:
		return specialFile(strings.TrimPrefix(what, "opening "))
	}
	return fault.New(fault.Unavailable, "io", "%s: %w", what, err)
}
