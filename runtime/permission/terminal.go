package permission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/aircoding/air/internal/counter"
	"github.com/aircoding/air/internal/fault"
)

// Terminal asks on the terminal device, which is not what a program or an agent in
// front of air can write to as its standard input.
type Terminal struct {
	// Refusals keeps the session's count. OpenTerminal has it count in this process.
	Refusals counter.Counter

	fd   int
	turn chan struct{} // one question at a time
}

// OpenTerminal opens /dev/tty. Standard error must be a terminal too: a person who
// does not see messages does not see questions.
func OpenTerminal() (*Terminal, error) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil, noTerminal("standard error is not a terminal")
	}
	return openTerminal("/dev/tty")
}

func openTerminal(device string) (*Terminal, error) {
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, noTerminal(fmt.Sprintf("opening %s: %v", device, err))
	}
	if !term.IsTerminal(fd) {
		return nil, errors.Join(noTerminal(device+" is not a terminal"), unix.Close(fd))
	}
	return &Terminal{Refusals: counter.InMemory(), fd: fd, turn: make(chan struct{}, 1)}, nil
}

func noTerminal(why string) error {
	return fault.New(fault.ApprovalRequired, "no_terminal", "nobody can be asked: %s", why)
}

// Close closes the device.
func (t *Terminal) Close() error { return unix.Close(t.fd) }

// take waits until no other question is open.
func (t *Terminal) take(ctx context.Context) (release func(), err error) {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	release = func() { <-t.turn }
	if t.inBackground() {
		release()
		return nil, noTerminal("air runs in the background of its terminal")
	}
	return release, nil
}

// inBackground reports whether reading would stop the process until it is brought to
// the foreground.
func (t *Terminal) inBackground() bool {
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}

// columns is the width of the terminal, 0 where it is not known.
func (t *Terminal) columns() int {
	size, err := unix.IoctlGetWinsize(t.fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// line reads one line. At the end of input it returns what there was of it, and io.EOF.
func (t *Terminal) line(ctx context.Context) (string, error) {
	var line []byte
	buffer := make([]byte, 1024)
	for {
		if err := t.wait(ctx, unix.POLLIN); err != nil {
			return "", err
		}
		n, err := unix.Read(t.fd, buffer)
		switch {
		case err == unix.EAGAIN || err == unix.EINTR:
			continue
		case err != nil:
			return "", noTerminal(fmt.Sprintf("reading the answer: %v", err))
		case n == 0:
			return string(line), io.EOF
		}
		line = append(line, buffer[:n]...)
		if line[len(line)-1] == '\n' || len(line) > 4*len(buffer) {
			return string(line), nil
		}
	}
}

func (t *Terminal) print(ctx context.Context, text string) error {
	for left := []byte(text); len(left) > 0; {
		if err := t.wait(ctx, unix.POLLOUT); err != nil {
			return err
		}
		n, err := unix.Write(t.fd, left)
		switch {
		case err == unix.EAGAIN || err == unix.EINTR:
			continue
		case err != nil:
			return noTerminal(fmt.Sprintf("showing the question: %v", err))
		}
		left = left[n:]
	}
	return nil
}

// wait returns when the device is ready, or with the reason why ctx has ended.
func (t *Terminal) wait(ctx context.Context, events int16) error {
	const glance = 50 // milliseconds between looks at ctx
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		fds := []unix.PollFd{{Fd: int32(t.fd), Events: events}}
		n, err := unix.Poll(fds, glance)
		if err != nil && err != unix.EINTR {
			return noTerminal(fmt.Sprintf("waiting for the terminal: %v", err))
		}
		if n > 0 {
			return nil
		}
	}
}
