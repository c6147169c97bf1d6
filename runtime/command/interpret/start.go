package interpret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/interp"
)

// own marks the commands that the interpreter carries out itself. No word of a command line
// holds the character.
const own = "\x00"

// exec starts a program, after the host was asked.
func (s *shell) exec(ctx context.Context, args []string) error {
	if name, ok := strings.CutPrefix(args[0], own); ok {
		return s.carryOut(ctx, name, args[1:])
	}
	hc := interp.HandlerCtx(ctx)
	env := exported(hc.Env, hc.Dir)
	file, status, err := lookUp(args[0], env["PATH"], hc.Dir)
	if err != nil {
		fmt.Fprintf(hc.Stderr, "bash: line %d: %s: %v\n", hc.Pos.Line(), args[0], err)
		return status
	}
	if tooLong(args, env) {
		fmt.Fprintf(hc.Stderr, "bash: line %d: %s: %v\n", hc.Pos.Line(), args[0], errTooLong)
		return interp.ExitStatus(126)
	}
	q := question{Dir: []byte(hc.Dir), Argv: bytesOf(args), Pipes: s.ownPipes(args), At: hc.Pos.Offset()}
	q.Assign, q.Unset = s.changes(env)
	var l left
	if err := s.ask(q, func() error { return l.give(s, hc, args) }); err != nil {
		return err
	}
	if l.reply != nil {
		return l.wait(ctx, s)
	}
	return s.start(ctx, file, args, pairs(env))
}

// grace is how long programs have to end when the command line does.
const grace = time.Second / 2

func (s *shell) start(ctx context.Context, file string, args, env []string) error {
	hc := interp.HandlerCtx(ctx)
	c, err := startPatiently(func() *exec.Cmd {
		c := exec.CommandContext(ctx, file)
		c.Args, c.Env, c.Dir = args, env, hc.Dir
		c.Stdin, c.Stdout, c.Stderr = hc.Stdin, s.stream(hc.Stdout), s.stream(hc.Stderr)
		c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
		c.WaitDelay = grace
		return c
	})
	if errors.Is(err, syscall.ENOEXEC) { // as bash does with a file that says nothing of its language
		return s.start(ctx, "/bin/bash", append([]string{args[0], file}, args[1:]...), env)
	}
	if err == nil {
		s.begins(hc, c.Process)
		defer s.ends(hc, c.Process)
		return waited(ctx, c.Wait())
	}
	fmt.Fprintf(hc.Stderr, "bash: line %d: %s: %v\n", hc.Pos.Line(), args[0], reason(err))
	if errors.Is(err, fs.ErrNotExist) {
		return interp.ExitStatus(127)
	}
	return interp.ExitStatus(126)
}

// startPatiently starts a program whose file a process that was just made may still hold
// open for writing, see go.dev/issue/22315.
func startPatiently(command func() *exec.Cmd) (*exec.Cmd, error) {
	for delay := time.Millisecond; ; delay *= 2 {
		c := command()
		err := c.Start()
		if !errors.Is(err, syscall.ETXTBSY) || delay > 200*time.Millisecond {
			return c, err
		}
		time.Sleep(delay)
	}
}

// waited is the status of a program that has ended.
func waited(ctx context.Context, err error) error {
	var exited *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case !errors.As(err, &exited):
		return err
	}
	if status, ok := exited.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return interp.ExitStatus(128 + status.Signal())
	}
	return interp.ExitStatus(exited.ExitCode())
}

// stream is where a program writes. What is no file is shared with the interpreter.
func (s *shell) stream(w io.Writer) io.Writer {
	switch w.(type) {
	case nil, *os.File:
		return w
	}
	return sharedWriter{s, w}
}

type sharedWriter struct {
	shell *shell
	to    io.Writer
}

func (w sharedWriter) Write(p []byte) (int, error) {
	w.shell.writing.Lock()
	defer w.shell.writing.Unlock()
	return w.to.Write(p)
}

var (
	errNotFound = errors.New("command not found")
	errNoFile   = bashError("No such file or directory")
	errFolder   = bashError("Is a directory")
	errMayNot   = bashError("Permission denied")
	errTooLong  = bashError("Argument list too long")
)

// bashError is one in the words of bash.
type bashError string

func (e bashError) Error() string { return string(e) }

// Bounds of Linux on the words of a program and its environment, in bytes.
const (
	maxWord  = 128 << 10
	maxWords = 2 << 20
)

// tooLong reports whether the system would not start a program for its words.
func tooLong(args []string, env map[string]string) bool {
	size := 0
	for _, text := range slices.Concat(args, pairs(env)) {
		size += len(text) + 9 // with its end, and where it lies
		if len(text) >= maxWord || size > maxWords {
			return true
		}
	}
	return false
}

// lookUp finds the file of a program as bash does, or the status that bash answers with.
func lookUp(name, search, dir string) (file string, status interp.ExitStatus, err error) {
	if strings.Contains(name, "/") {
		return named(name, dir)
	}
	found := ""
	for _, folder := range filepath.SplitList(search) {
		if file = inFolder(dir, folder) + "/" + name; name == "" {
			break
		}
		info, err := os.Stat(file)
		switch {
		case err != nil || info.IsDir():
		case info.Mode()&0o111 != 0:
			return file, 0, nil
		case found == "":
			found = file
		}
	}
	if found != "" {
		return "", 126, errMayNot
	}
	return "", 127, errNotFound
}

func named(name, dir string) (file string, status interp.ExitStatus, err error) {
	file = inFolder(dir, name)
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "", 126, errMayNot
	case err != nil:
		return "", 127, errNoFile
	case info.IsDir():
		return "", 126, errFolder
	case info.Mode()&0o111 == 0:
		return "", 126, errMayNot
	}
	return file, 0, nil
}

// inFolder is a path as seen from a folder. A ".." stays: where it leads is the system's to say.
func inFolder(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return dir + "/" + name
}

func reason(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// ownPipes are the words that name pipes which the interpreter made for <( ) and >( ).
func (s *shell) ownPipes(args []string) (places []int) {
	for i, arg := range args {
		if s.pipes == "" || !strings.HasPrefix(arg, s.pipes+"/") {
			continue
		}
		if info, err := os.Lstat(arg); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			places = append(places, i)
		}
	}
	return places
}
