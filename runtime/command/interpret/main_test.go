package interpret

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/permission"
)

// outcome is what a run of a command line shows.
type outcome struct {
	stdout, stderr string
	code           int
	err            error // of the host's end
}

// place is a folder to run command lines in.
func place(t *testing.T) command.Place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"p/a": "one\ntwo\nthree\n", "p/b.txt": "x y\n", "p/c.txt": "z\n", "p/d/e": "deep\n", "p/list": "b c\na b\n"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir+"/home", 0o755); err != nil {
		t.Fatal(err)
	}
	return command.Place{Dir: dir + "/p", Root: dir + "/p", Home: dir + "/home"}
}

func environmentAt(at command.Place) []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + at.Home, "TMPDIR=" + at.Home, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "GIVEN=given text"}
}

// pair is a connected pair of sockets, the second one for a child.
func pair(t testing.TB) (net.Conn, *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours := os.NewFile(uintptr(fds[0]), "ours")
	conn, err := net.FileConn(ours)
	if err != nil {
		t.Fatal(err)
	}
	ours.Close()
	return conn, os.NewFile(uintptr(fds[1]), "theirs")
}

// interpreted runs a command line in the interpreter, without a sandbox.
func interpreted(t testing.TB, at command.Place, text string, decide func(context.Context, []permission.Effect) error) outcome {
	t.Helper()
	return hosted(t, Host{Text: text, Place: at, Decide: decide})
}

func hosted(t testing.TB, h Host) outcome {
	t.Helper()
	conn, theirs := pair(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, self)
	c.Args = []string{Name}
	c.ExtraFiles = []*os.File{theirs}
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, conn) }()
	o := finish(t, c, h.Place)
	theirs.Close()
	o.err = <-served
	conn.Close()
	return o
}

// underBash runs a command line under bash.
func underBash(t testing.TB, at command.Place, text string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, "/bin/bash")
	c.Args = []string{"bash", "-c", text}
	return finish(t, c, at)
}

func finish(t testing.TB, c *exec.Cmd, at command.Place) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = at.Dir, environmentAt(at), strings.NewReader("first line\nsecond line\n"), &stdout, &stderr
	c.WaitDelay = time.Second
	err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.ExtraFiles {
		f.Close()
	}
	err = c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatal(err)
	}
	code := c.ProcessState.ExitCode()
	if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		code = 128 + int(s.Signal())
	}
	return outcome{stdout: stdout.String(), stderr: stderr.String(), code: code}
}

func allow(context.Context, []permission.Effect) error { return nil }
