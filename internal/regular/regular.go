// Package regular reads files that somebody else may have put where they lie: whole,
// bounded, and never a device or a pipe that would block or never end.
package regular

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

var (
	// ErrNot is the error for what is no regular file.
	ErrNot = errors.New("no regular file")
	// ErrTooLarge is the error for a file beyond the limit.
	ErrTooLarge = errors.New("more than its limit")
)

// Read returns the content of the regular file at path, of at most limit bytes. A
// symbolic link at the end of path counts only with follow.
func Read(path string, limit int64, follow bool) ([]byte, error) {
	flags := os.O_RDONLY | syscall.O_NONBLOCK
	if !follow {
		flags |= syscall.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flags, 0)
	if !follow && errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a symbolic link: %w", path, ErrNot)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFile(f, limit)
}

// ReadFile is Read for a file that was opened without waiting for another end.
func ReadFile(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %w", f.Name(), ErrNot)
	}
	if info.Size() > limit {
		return nil, tooLarge(f, limit)
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit { // it grew meanwhile, or said nothing of its size
		return nil, tooLarge(f, limit)
	}
	return content, err
}

func tooLarge(f *os.File, limit int64) error {
	return fmt.Errorf("%s has %w of %d bytes", f.Name(), ErrTooLarge, limit)
}
