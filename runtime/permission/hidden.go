package permission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
)

// longestLine is what a terminal takes as one line at most, less its end; the rest of a
// longer one it drops.
const longestLine = 4095

// Secret asks for a line that the terminal does not show.
func (t *Terminal) Secret(ctx context.Context, question string) (value string, err error) {
	release, err := t.take(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	show, err := t.hide()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, show()) }()
	if err := t.invite(ctx, Printable(question)+" (not shown): "); err != nil {
		return "", err
	}
	line, err := t.line(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", t.ended(err)
	}
	if line = strings.TrimSuffix(line, "\n"); len(line) >= longestLine {
		return "", fault.New(fault.InvalidInput, "line_too_long", "the line is as long as a terminal hands over: its end may be missing")
	}
	return line, t.print(ctx, "\n")
}

// hide switches the terminal's echo off until show.
func (t *Terminal) hide() (show func() error, err error) {
	before, err := unix.IoctlGetTermios(t.fd, getTermios)
	if err == nil {
		hidden := *before
		hidden.Lflag &^= unix.ECHO
		err = unix.IoctlSetTermios(t.fd, setTermios, &hidden)
	}
	if err != nil {
		return nil, noTerminal(fmt.Sprintf("switching its echo off: %v", err))
	}
	return func() error { return unix.IoctlSetTermios(t.fd, setTermios, before) }, nil
}
