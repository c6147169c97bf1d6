package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// writerPatience is how long one Write of the host's may take once the tree has ended, which
// then holds what is in the pipe still.
const writerPatience = 10 * time.Second

// errCut says that output is missing.
var errCut = fmt.Errorf("output of the program was lost: a Write took longer than %v", writerPatience)

// streams carries what the program reads and writes. Whatever the host's side is, it is
// copied through pipes: a file of the host may be a folder, or be open for more than it is
// handed over for. A terminal usually is, and would let the program read what a person types.
//
// They are not those of os/exec, which waits for a reader of the host's that has nothing to
// say, for ever.
type streams struct {
	inside   [3]*os.File // nil is the sandbox's own /dev/null
	outside  []*os.File
	copies   []func()
	stdin    chan error
	outputs  int
	written  chan error    // one for each output
	progress chan struct{} // of outputs
}

// newStreams opens the pipes; begin or abandon has to follow.
func newStreams(stdin io.Reader, stdout, stderr io.Writer) (*streams, error) {
	s := &streams{stdin: make(chan error, 1), written: make(chan error, 2), progress: make(chan struct{}, 1)}
	err := s.input(stdin)
	if err == nil {
		err = s.output(1, stdout)
	}
	switch {
	case err != nil:
	case same(stdout, stderr):
		s.inside[2] = s.inside[1] // so that one Write at a time is called
	default:
		err = s.output(2, stderr)
	}
	if err != nil {
		s.abandon()
		return nil, fmt.Errorf("opening a pipe: %w", err)
	}
	return s, nil
}

// same compares writers, some of which cannot be compared.
func same(a, b io.Writer) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}

func (s *streams) input(from io.Reader) error {
	if from == nil {
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.inside[0], s.outside = r, append(s.outside, w)
	s.copies = append(s.copies, func() {
		_, err := io.Copy(w, struct{ io.Reader }{from})
		w.Close()
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, fs.ErrClosed) {
			err = nil // the program has read enough
		}
		s.stdin <- err
	})
	return nil
}

func (s *streams) output(fd int, to io.Writer) error {
	if to == nil {
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.inside[fd], s.outside = w, append(s.outside, r)
	s.outputs++
	s.copies = append(s.copies, func() {
		_, err := io.Copy(noting{to, s.progress}, struct{ io.Reader }{r})
		r.Close() // after an error the program gets SIGPIPE
		s.written <- err
	})
	return nil
}

// noting notes each Write that returns.
type noting struct {
	io.Writer
	progress chan<- struct{}
}

func (n noting) Write(p []byte) (int, error) {
	written, err := n.Writer.Write(p)
	select {
	case n.progress <- struct{}{}:
	default:
	}
	return written, err
}

// handTo sets a process's ends. It must not see a nil *os.File as a stream.
func (s *streams) handTo(cmd *exec.Cmd) {
	if s.inside[0] != nil {
		cmd.Stdin = s.inside[0]
	}
	if s.inside[1] != nil {
		cmd.Stdout = s.inside[1]
	}
	if s.inside[2] != nil {
		cmd.Stderr = s.inside[2]
	}
}

// begin copies. It comes once the program runs, so that nothing is read for one that never
// does.
func (s *streams) begin() {
	s.closeInside()
	for _, f := range s.copies {
		go f()
	}
}

func (s *streams) closeInside() {
	for _, f := range s.inside {
		if f != nil {
			f.Close() // twice, for one that is two streams, does no harm
		}
	}
}

// abandon lets go of the pipes. A Read or Write of the host's that hangs is not waited for.
func (s *streams) abandon() {
	s.closeInside()
	for _, f := range s.outside {
		f.Close()
	}
}

// wait hands over what a tree that has ended wrote. A Read of Stdin that hangs is not waited
// for, a Write for some time. The error is the first of any stream.
func (s *streams) wait() (err error) {
	defer s.abandon()
	select {
	case err = <-s.stdin:
	default:
	}
	patience := time.NewTimer(writerPatience)
	defer patience.Stop()
	for s.outputs > 0 {
		select {
		case failed := <-s.written:
			s.outputs--
			if err == nil {
				err = failed
			}
		case <-s.progress:
			patience.Reset(writerPatience)
		case <-patience.C:
			return errCut
		}
	}
	return err
}
