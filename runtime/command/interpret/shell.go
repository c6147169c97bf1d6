// Package interpret runs a command line in the language of bash. The interpreter is a
// process of its own, inside the sandbox; before each program that it starts and each file
// that it opens it asks the host, with the words that stand there then. The host analyses
// them and decides.
//
// A program that imports this package is the interpreter, and never gets to main, when it was
// started as Name.
package interpret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/runtime/command"
)

// talkFD is where the interpreter finds the host, sandbox.TalkFD.
const talkFD = 3

const (
	exitFailed      = 1
	exitUnsupported = 2
	exitRefused     = 126
	exitLost        = 127
)

// shell is the interpreter's end of the conversation.
type shell struct {
	asking sync.Mutex
	host   io.ReadWriter

	root   string            // the project's folder
	pipes  string            // the folder of its own named pipes, "" until there is one
	before map[string]string // the environment at the start
	funcs  map[string]bool   // names that functions have somewhere in the text
	loose  map[uint]bool     // where commands begin whose names nobody knew before

	writing sync.Mutex // of what is no file
	timing  sync.Map   // of time, by its number
	jobs    jobs
	stop    context.CancelFunc
	ending  sync.Mutex
	code    int // that the whole ends with, where it does not end by itself
}

func runShell() int {
	syscall.CloseOnExec(talkFD)
	if err := hide(); err != nil {
		fmt.Fprintln(os.Stderr, "air: the shell cannot hide from what it starts:", err)
		return exitLost
	}
	s := &shell{host: os.NewFile(talkFD, "host"), before: environment(os.Environ())}
	var first start
	if err := receive(s.host, &first, maxStart); err != nil {
		fmt.Fprintln(os.Stderr, "air: the shell was not told what to run:", err)
		return exitLost
	}
	return s.run(first)
}

// run runs the text. What bash does and the interpreter does not is refused before.
func (s *shell) run(first start) int {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(first.Text), "bash")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUnsupported
	}
	if why := command.Unsupported(file); why != "" {
		fmt.Fprintln(os.Stderr, "air:", why)
		return exitUnsupported
	}
	s.root = first.Root
	s.learn(file, first.Names)
	prepare(file)
	temporary := &temporaryOnce{shell: s}
	defer temporary.remove()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	s.stop = stop
	defer s.boundMemory()()
	runner, err := interp.New(
		interp.StdIO(os.Stdin, os.Stdout, os.Stderr),
		interp.Env(temporary),
		interp.CallHandler(s.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.exec }),
		interp.OpenHandler(s.open),
		interp.ReadDirHandler2(s.list),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, "air: the shell does not start:", err)
		return exitLost
	}
	return s.status(runner.Run(ctx, file))
}

// learn notes the names of functions, and where names are not plain.
func (s *shell) learn(file *syntax.File, known []uint) {
	s.funcs, s.loose = map[string]bool{}, map[uint]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			s.funcs[n.Name.Value] = true
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == "" {
				s.loose[n.Args[0].Pos().Offset()] = true
			}
		}
		return true
	})
	for _, at := range known {
		delete(s.loose, at)
	}
}

func (s *shell) status(err error) int {
	s.ending.Lock()
	defer s.ending.Unlock()
	var status interp.ExitStatus
	switch {
	case s.code != 0:
		return s.code
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintln(os.Stderr, "air:", err)
	return exitFailed
}

// end ends the whole command line with a message, whatever part of it comes here. The first
// reason counts.
func (s *shell) end(code int, why string) error {
	s.ending.Lock()
	defer s.ending.Unlock()
	if s.code == 0 {
		s.code = code
		fmt.Fprintln(os.Stderr, "air:", why)
		s.stop()
		time.AfterFunc(patience, func() { os.Exit(code) })
	}
	return errors.New(why)
}

// patience is how long the rest has to end after a refusal.
const patience = 2 * time.Second

func (s *shell) unsupported(format string, args ...any) error {
	return s.end(exitUnsupported, "air's shell does not support "+fmt.Sprintf(format, args...))
}

// ask puts a question to the host. A refusal ends the whole command line. give sends what goes
// with a program that the host runs itself.
func (s *shell) ask(q question, give func() error) error {
	s.asking.Lock()
	defer s.asking.Unlock()
	if s.ended() {
		return errEnded
	}
	var a answer
	err := send(s.host, q, maxQuestion)
	if err == nil {
		err = receive(s.host, &a, maxAnswer)
	}
	if err == nil && a.Apart {
		err = give()
	}
	if err != nil {
		a.Refused = fmt.Sprintf("nobody answers whether it may be: %v", err)
	}
	if a.Refused == "" {
		return nil
	}
	return s.end(exitRefused, a.Refused)
}

var errEnded = errors.New("the command line has ended")

func (s *shell) ended() bool {
	s.ending.Lock()
	defer s.ending.Unlock()
	return s.code != 0
}

// maxMemory is how many bytes a command line may hold in its variables, and in what it reads
// into them.
const maxMemory = 256 << 20

// boundMemory ends the command line when it holds too much, until stop is called: no system
// says so in words.
func (s *shell) boundMemory() (stop func()) {
	ticks, done := time.NewTicker(50*time.Millisecond), make(chan struct{})
	go func() {
		held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-done:
				return
			case <-ticks.C:
			}
			metrics.Read(held)
			if held[0].Value.Uint64() <= maxMemory {
				continue
			}
			runtime.GC()
			if metrics.Read(held); held[0].Value.Uint64() > maxMemory {
				_ = s.end(exitFailed, fmt.Sprintf("the command line holds more than %d MiB in its variables", maxMemory>>20))
				return
			}
		}
	}()
	return func() { ticks.Stop(); close(done) }
}
