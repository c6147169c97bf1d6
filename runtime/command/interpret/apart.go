package interpret

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/permission"
)

// Apart is a program that the host runs apart from the rest of the command line: one that
// changes a repository, which is open to it and to nothing else that the line starts.
type Apart struct {
	Argv                  []string
	Dir                   string
	Assign, Unset         []string // variables that it finds changed, NAME=VALUE, or gone
	Effects               []permission.Effect
	Stdin, Stdout, Stderr *os.File
}

// IsApart reports whether effects are those of git changing a repository, by its name and not
// by a path, and of nothing else. A wrapper counts with what it runs.
func IsApart(effects []permission.Effect) bool {
	changes := false
	for _, e := range effects {
		if e.Kind != permission.Run {
			continue
		}
		argv, err := permission.SplitArgv(e.Target)
		switch {
		case err != nil || len(argv) == 0:
			return false
		case e.Repository && argv[0] == "git":
			changes = true
		case e.Repository || !slices.Contains([]string{"env", "timeout", "nice", "nohup", "stdbuf"}, argv[0]):
			return false
		}
	}
	return changes
}

// maxAparts is how many programs that were left to the host run at once.
const maxAparts = 32

// aparts are the programs that were left to the host, while its conversation goes on.
type aparts struct {
	run     func(ctx context.Context, a Apart) (status int, err error)
	running sync.WaitGroup
	mu      sync.Mutex
	count   int
	failed  error // the first
}

// take receives what goes with a program and starts it. The program is ended with ctx, which
// is no failure of it.
func (p *aparts) take(ctx context.Context, conn net.Conn, a Apart) error {
	files, err := receiveFiles(conn)
	if err != nil {
		return err
	}
	a.Stdin, a.Stdout, a.Stderr = files[1], files[2], files[3]
	p.running.Go(func() {
		status, err := p.runOne(ctx, a)
		e := end{Status: status}
		if err != nil {
			e.Failed = text.Head(err.Error(), maxAnswer/8)
			if ctx.Err() == nil || !errors.Is(err, ctx.Err()) || fault.Is(err, fault.PermissionDenied) {
				p.fail(err)
			}
		}
		for _, f := range files[1:] {
			_ = f.Close()
		}
		_ = send(socket{files[0]}, e, maxAnswer) // who is gone needs no word
		_ = files[0].Close()
	})
	return nil
}

func (p *aparts) runOne(ctx context.Context, a Apart) (status int, err error) {
	p.mu.Lock()
	p.count++
	tooMany := p.count > maxAparts
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.count--
		p.mu.Unlock()
	}()
	if tooMany {
		return 0, fault.New(fault.ResourceExhausted, "too_many_programs", "it runs more than %d programs at once that change a repository", maxAparts)
	}
	return p.run(ctx, a)
}

func (p *aparts) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
	}
}

// socket writes at once or not at all: what came as one from the sandbox may be a pipe that
// nobody reads.
type socket struct{ file *os.File }

func (s socket) Write(p []byte) (int, error) {
	raw, err := s.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	n := 0
	if controlErr := raw.Control(func(fd uintptr) {
		n, err = unix.SendmsgN(int(fd), p, nil, nil, unix.MSG_DONTWAIT|noSignal)
	}); controlErr != nil {
		return 0, controlErr
	}
	return n, err
}

// wait waits for all and returns the first failure.
func (p *aparts) wait() error {
	p.running.Wait()
	return p.failed
}

func receiveFiles(conn net.Conn) ([]*os.File, error) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errNotLeft
	}
	word, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4*leftFDs))
	_, n, _, _, err := c.ReadMsgUnix(word, rights)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	for i := range messages {
		fds, parseErr := unix.ParseUnixRights(&messages[i])
		if err == nil {
			err = parseErr
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "left"))
		}
	}
	if err == nil && len(files) == leftFDs {
		return files, nil
	}
	for _, f := range files {
		_ = f.Close()
	}
	if err == nil {
		err = errNotLeft
	}
	return nil, err
}
