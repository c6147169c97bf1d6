package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Lock takes the exclusive lock of a file, which it creates, and waits for whoever
// has it until ctx ends. The lock ends with unlock or with the process. Two locks of
// one path within a process exclude each other too.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := openLock(path)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	if err := wait(ctx, f); err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}

// TryLock is Lock without waiting: free is false when somebody has the lock.
func TryLock(path string) (unlock func(), free bool, err error) {
	f, err := openLock(path)
	if err != nil {
		return nil, false, fmt.Errorf("locking %s: %w", path, err)
	}
	err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { _ = f.Close() }, true, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("locking %s: %w", path, err)
}

func openLock(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}

// wait locks f, or closes it. The kernel takes no context: when ctx ends, a goroutine
// stays behind that gives the lock back should it ever get it.
func wait(ctx context.Context, f *os.File) error {
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), f.Close())
	}
	got := make(chan error)
	go func() {
		err := flock(f, syscall.LOCK_EX)
		select {
		case got <- err:
		case <-ctx.Done():
			_ = f.Close()
		}
	}()
	select {
	case err := <-got:
		if err != nil {
			_ = f.Close()
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
