package interpret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/interp"
)

// left is a program that the interpreter leaves to the host.
type left struct {
	reply   *os.File   // by which the host says how it ended; nil until it is left
	pipes   []*os.File // read ends, for outputs that are no files
	copying sync.WaitGroup
}

// leftFDs are the descriptors that go with a program: the host's end of the reply, and the
// standard three.
const leftFDs = 4

// end is what the host says of a program that was left to it.
type end struct {
	Status int
	Failed string // why all ends with it, "" mostly
}

// give sends the descriptors after a question that the host answered so.
func (l *left) give(s *shell, hc interp.HandlerContext, args []string) error {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|closeOnExec, 0)
	if err != nil {
		return fmt.Errorf("making a socket pair: %w", err)
	}
	if err := syscall.SetNonblock(pair[0], true); err != nil { // so that waiting can end
		return err
	}
	l.reply = os.NewFile(uintptr(pair[0]), "reply")
	ours := []*os.File{os.NewFile(uintptr(pair[1]), "reply")} // closed here once they are sent
	defer func() {
		for _, f := range ours {
			_ = f.Close()
		}
	}()
	in, isFile := hc.Stdin.(*os.File)
	if !isFile || in == nil || !readsStdin(args) {
		if in, err = os.Open(os.DevNull); err != nil {
			return err
		}
		ours = append(ours, in)
	}
	fds := []int{pair[1], int(in.Fd())}
	for i, w := range []io.Writer{hc.Stdout, hc.Stderr} {
		f, isFile := w.(*os.File)
		switch {
		case isFile:
		case i == 1 && w == hc.Stdout: // so that their order stays
			fds = append(fds, fds[len(fds)-1])
			continue
		default:
			if f, err = l.pipe(s.stream(w)); err != nil {
				return err
			}
			ours = append(ours, f)
		}
		fds = append(fds, int(f.Fd()))
	}
	for {
		err = syscall.Sendmsg(talkFD, []byte{0}, syscall.UnixRights(fds...), nil, noSignal)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// pipe returns the end of a pipe whose other end is copied to w.
func (l *left) pipe(w io.Writer) (*os.File, error) {
	r, f, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	l.pipes = append(l.pipes, r)
	l.copying.Go(func() { _, _ = io.Copy(w, r) })
	return f, nil
}

// wait waits until the program has ended, and all that it wrote is copied.
func (l *left) wait(ctx context.Context, s *shell) error {
	stop := context.AfterFunc(ctx, func() { _ = l.reply.SetReadDeadline(time.Now()) })
	defer stop()
	defer l.reply.Close()
	var e end
	err := receive(l.reply, &e, maxAnswer)
	for _, r := range l.pipes {
		_ = r.SetReadDeadline(time.Now().Add(grace)) // whoever else holds the other end is not waited for
	}
	l.copying.Wait()
	for _, r := range l.pipes {
		_ = r.Close()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return s.end(exitLost, fmt.Sprintf("nobody says how a program ended: %v", err))
	case e.Failed != "":
		return s.end(exitRefused, e.Failed)
	case e.Status != 0:
		return interp.ExitStatus(e.Status)
	}
	return nil
}

// readsStdin reports whether a git command reads its standard input. That of others is left
// to who comes next: a loop that reads a list would end after its first turn.
func readsStdin(args []string) bool {
	return slices.ContainsFunc(args, func(word string) bool {
		return word == "-" || word == "-F-" || strings.HasSuffix(word, "=-") || strings.HasPrefix(word, "--stdin") ||
			slices.Contains([]string{"am", "apply", "commit-tree", "fast-import", "mktree", "mktag"}, word)
	})
}

var errNotLeft = errors.New("what goes with a program that is left to the host did not come")
