package permission

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/aircoding/air/internal/fault"
)

// maxRefusals is how often a person is asked in a session that they keep refusing.
const maxRefusals = 5

// Terminal asks on the terminal device, which is not what a program or an agent in
// front of air can write to as its standard input.
type Terminal struct {
	// Refusals keeps the session's count; nil counts in this process.
	Refusals Refusals

	fd   int
	turn chan struct{} // one question at a time
}

var _ Approver = (*Terminal)(nil)

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
	inProcess := 0
	t := &Terminal{fd: fd, turn: make(chan struct{}, 1)}
	t.Refusals = func(add int) (int, error) { inProcess += add; return inProcess, nil }
	return t, nil
}

func noTerminal(why string) error {
	return fault.New(fault.ApprovalRequired, "no_terminal", "nobody can be asked: %s", why)
}

// Close closes the device.
func (t *Terminal) Close() error { return unix.Close(t.fd) }

// Approve shows a question and waits for the answer. What was typed before the
// question was on the screen does not count, nor what comes after ctx has ended.
func (t *Terminal) Approve(ctx context.Context, q Question) (Answer, error) {
	release, err := t.take(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer release()
	if count, err := t.Refusals(0); err != nil || count >= maxRefusals {
		return Answer{Choice: Refuse, Note: fmt.Sprintf("%d questions were refused in this session, so no more are asked", maxRefusals)}, err
	}
	answer, err := t.ask(ctx, q)
	if err == nil && answer.Choice == Refuse {
		_, err = t.Refusals(1)
	}
	return answer, err
}

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

// Confirm asks a yes or no question. Anything but yes is no.
func (t *Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	release, err := t.take(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if err := t.print(ctx, "\nair: "+Printable(question)+"\n"); err != nil {
		return false, err
	}
	line, err := t.prompt(ctx, "yes or no> ")
	if err != nil {
		return false, t.ended(err)
	}
	word := strings.ToLower(strings.TrimSpace(line))
	return word == "y" || word == "yes", nil
}

const maxTries = 3

func (t *Terminal) ask(ctx context.Context, q Question) (Answer, error) {
	if err := t.print(ctx, render(q)); err != nil {
		return Answer{}, err
	}
	for range maxTries {
		line, err := t.prompt(ctx, "choice> ")
		if err != nil {
			return Answer{}, t.ended(err)
		}
		if answer, ok := parseAnswer(line, q); ok {
			return answer, nil
		}
	}
	return Answer{Choice: Refuse, Note: "no answer that was offered"}, nil
}

// prompt reads the line that is typed after the prompt has been shown.
func (t *Terminal) prompt(ctx context.Context, text string) (string, error) {
	if err := flushInput(t.fd); err != nil {
		return "", noTerminal(fmt.Sprintf("discarding what was typed before: %v", err))
	}
	if err := t.print(ctx, text); err != nil {
		return "", err
	}
	return t.line(ctx)
}

// ended tells the person that their answer would come too late.
func (t *Terminal) ended(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = t.print(ctx, "\nair: the question has ended unanswered\n") // the device may be gone too
	return errors.Join(err, flushInput(t.fd))
}

// parseAnswer takes only the choices that were offered.
func parseAnswer(line string, q Question) (Answer, bool) {
	word, note, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch strings.ToLower(word) {
	case "o", "once":
		return Answer{Choice: Once}, true
	case "s", "session":
		return Answer{Choice: Session}, !q.OnceOnly
	case "p", "project":
		return Answer{Choice: Project}, len(q.Rules) > 0
	case "d", "deny", "n", "no":
		return Answer{Choice: Refuse, Note: strings.TrimSpace(note)}, true
	}
	return Answer{}, false
}

// line reads one line; the end of input refuses.
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
			return "deny", nil
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
