// Package interpret runs a command line in the language of bash. The interpreter is a
// process of its own, inside the sandbox; before each program that it starts and each file
// that it opens it asks the host, with the words that stand there then. The host analyses
// them and decides.
package interpret

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Name is the argv[0] that makes this program the interpreter.
const Name = "air-shell"

// talkFD is where the interpreter finds the host, sandbox.TalkFD.
const talkFD = 3

// ServeIfShell turns the process into the interpreter, and does not return, when it was
// started as such. It comes first in main.
func ServeIfShell() {
	if len(os.Args) > 0 && os.Args[0] == Name {
		os.Exit(runShell())
	}
}

// question is what the interpreter asks before it does something.
type question struct {
	Dir     string
	Argv    []string // a program to start
	Assign  []string // NAME=VALUE that it finds changed in its environment
	Path    string   // a file to open, where Argv is empty
	Reading bool
	Writing bool
}

// answer is the host's. Refused is why not, "" where it may be.
type answer struct{ Refused string }

// start is what the host says first.
type start struct{ Text string }

const (
	exitUsage   = 2
	exitRefused = 126
	exitLost    = 127
)

// shell is the interpreter's end of the conversation.
type shell struct {
	mu      sync.Mutex
	out     *gob.Encoder
	in      *gob.Decoder
	before  map[string]string // the environment at the start
	refused bool
	stop    context.CancelFunc
}

func runShell() int {
	f := os.NewFile(talkFD, "host")
	conn, err := net.FileConn(f)
	f.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "air: the shell has nobody to ask:", err)
		return exitLost
	}
	s := &shell{out: gob.NewEncoder(conn), in: gob.NewDecoder(conn), before: map[string]string{}}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		s.before[name] = value
	}
	var first start
	if err := s.in.Decode(&first); err != nil {
		fmt.Fprintln(os.Stderr, "air: the shell was not told what to run:", err)
		return exitLost
	}
	return s.run(first.Text)
}

func (s *shell) run(text string) int {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "command")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	s.stop = stop
	runner, err := interp.New(
		interp.StdIO(os.Stdin, os.Stdout, os.Stderr),
		interp.ExecHandlers(s.exec),
		interp.OpenHandler(s.open),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitLost
	}
	err = runner.Run(ctx, file)
	if s.refused {
		return exitRefused
	}
	if status, ok := interp.IsExitStatus(err); ok {
		return int(status)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// exec asks before a program starts.
func (s *shell) exec(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		hc := interp.HandlerCtx(ctx)
		if err := s.ask(question{Dir: hc.Dir, Argv: args, Assign: s.changed(hc.Env)}); err != nil {
			fmt.Fprintf(hc.Stderr, "air: %v\n", err)
			return err
		}
		return interp.DefaultExecHandler(2*time.Second)(ctx, args)
	}
}

// changed are the exported variables that are not as they were at the start.
func (s *shell) changed(env expand.Environ) (assigned []string) {
	for name, v := range env.Each {
		if !v.Exported || v.Kind != expand.String {
			continue
		}
		if before, ok := s.before[name]; (!ok || before != v.Str) && name != "PWD" && name != "OLDPWD" {
			assigned = append(assigned, name+"="+v.Str)
		}
	}
	return assigned
}

// open asks before a redirection opens a file.
func (s *shell) open(ctx context.Context, path string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	if !filepath.IsAbs(path) {
		path = hc.Dir + "/" + path
	}
	if path != "/dev/null" {
		access := flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR)
		err := s.ask(question{Dir: hc.Dir, Path: path, Reading: access != os.O_WRONLY, Writing: access != os.O_RDONLY})
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
	return os.OpenFile(path, flag, perm)
}

// ask puts a question to the host. A refusal ends the whole command line.
func (s *shell) ask(q question) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var a answer
	err := s.out.Encode(q)
	if err == nil {
		err = s.in.Decode(&a)
	}
	if err != nil {
		a.Refused = fmt.Sprintf("nobody answers whether it may be: %v", err)
	}
	if a.Refused == "" {
		return nil
	}
	s.refused = true
	s.stop()
	return errors.New(a.Refused)
}
