package interpret

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/interp"
)

// A background job is no process, but a part of the interpreter. $! is a number by which it is
// known here, beyond those of processes; a signal goes to the programs that the job runs, and
// one that ends a program ends the job.

// The variables that hold the number of the job which a command is part of, and of the last
// one that was started.
const (
	ownJob  = "_air_job"
	lastJob = "_air_last_job"
)

// firstJob is beyond the numbers of processes, which systems keep below 1<<22.
const firstJob = 1<<22 + 1

// jobs are the background jobs of a command line, in the order of their start.
type jobs struct {
	mu  sync.Mutex
	all []*job
}

type job struct {
	parent  string // the number of the job that started it, "" for none
	known   string // as the interpreter's library knows it, in its own shell
	running []*os.Process
	ended   bool
	killed  syscall.Signal // that ends it, 0: none
}

func (j *jobs) start(parent string) (number string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.all = append(j.all, &job{parent: parent})
	return strconv.Itoa(firstJob + len(j.all) - 1)
}

// find returns the job that a word means: its number, or %1 and the like. It is called with
// the lock.
func (j *jobs) find(word string) *job {
	at, err := strconv.Atoi(strings.TrimPrefix(word, "-"))
	at -= firstJob
	if name, ok := strings.CutPrefix(word, "%"); ok {
		switch name {
		case "", "%", "+":
			at, err = len(j.all)-1, nil
		case "-":
			at, err = len(j.all)-2, nil
		default:
			at, err = strconv.Atoi(name)
			at--
		}
	}
	if err != nil || at < 0 || at >= len(j.all) {
		return nil
	}
	return j.all[at]
}

// of is the job that a command is part of, nil for none.
func (s *shell) of(hc interp.HandlerContext) *job {
	return s.jobs.find(hc.Env.Get(ownJob).String())
}

// killedBy is the signal that ended the job which a command is part of, 0 for none.
func (s *shell) killedBy(hc interp.HandlerContext) syscall.Signal {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	if j := s.of(hc); j != nil {
		return j.killed
	}
	return 0
}

// begins and ends note a program of a job. One that begins after the job was ended gets the
// signal, too.
func (s *shell) begins(hc interp.HandlerContext, p *os.Process) {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	if j := s.of(hc); j != nil {
		j.running = append(j.running, p)
		if j.killed != 0 {
			_ = p.Signal(j.killed)
		}
	}
}

func (s *shell) ends(hc interp.HandlerContext, p *os.Process) {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	if j := s.of(hc); j != nil {
		j.running = slices.DeleteFunc(j.running, func(q *os.Process) bool { return q == p })
	}
}

// startJob is before a background job: what the shell starts next is part of it.
func (s *shell) startJob(ctx context.Context) error {
	return set(ctx, ownJob, s.jobs.start(interp.HandlerCtx(ctx).Env.Get(ownJob).String()))
}

// jobStarted is after one that the interpreter's library knows by a number of its own.
func (s *shell) jobStarted(ctx context.Context, known string) error {
	number, parent := interp.HandlerCtx(ctx).Env.Get(ownJob).String(), ""
	s.jobs.mu.Lock()
	if j := s.jobs.find(number); j != nil {
		j.known, parent = known, j.parent
	}
	s.jobs.mu.Unlock()
	if err := set(ctx, lastJob, number); err != nil {
		return err
	}
	return set(ctx, ownJob, parent)
}

// jobEnded is at the end of a job, whose status stays.
func (s *shell) jobEnded(hc interp.HandlerContext) error {
	s.jobs.mu.Lock()
	if j := s.of(hc); j != nil {
		j.ended = true
	}
	s.jobs.mu.Unlock()
	return exitWith(strconv.Itoa(hc.LastExitStatus))
}

// wait puts the numbers that the interpreter's library knows in the place of jobs.
func (s *shell) wait(args []string) []string {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	all := slices.Clone(args)
	for i, w := range all[1:] {
		if j := s.jobs.find(w); j != nil && j.known != "" {
			all[i+1] = j.known
		}
	}
	return all
}

// kill signals jobs itself. The program of its name has the rest.
func (s *shell) kill(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	options, operands, signal := killWords(args)
	var others []string
	var failed error
	for _, w := range operands {
		switch mine, sent := s.signal(w, signal); {
		case !mine && strings.HasPrefix(w, "%"):
			fmt.Fprintf(hc.Stderr, "bash: line %d: kill: %s: no such job\n", hc.Pos.Line(), w)
			failed = interp.ExitStatus(1)
		case !mine:
			others = append(others, w)
		case !sent:
			fmt.Fprintf(hc.Stderr, "bash: line %d: kill: (%s) - No such process\n", hc.Pos.Line(), w)
			failed = interp.ExitStatus(1)
		}
	}
	if len(others) == 0 && len(operands) > 0 {
		return failed
	}
	if err := s.exec(ctx, slices.Concat([]string{"kill"}, options, others)); err != nil {
		return err
	}
	return failed
}

// killWords tells the options of kill from what is signalled. A signal that is not known here
// is -1.
func killWords(args []string) (options, operands []string, signal syscall.Signal) {
	signal = syscall.SIGTERM
	switch {
	case len(args) == 0 || !strings.HasPrefix(args[0], "-"):
		return nil, args, signal
	case args[0] == "--":
		return args[:1], args[1:], signal
	case (args[0] == "-s" || args[0] == "-n") && len(args) > 1:
		options, operands, signal = args[:2], args[2:], signalOf(args[1])
	case args[0] == "-l" || args[0] == "-L":
		return args, nil, signal
	default:
		options, operands, signal = args[:1], args[1:], signalOf(args[0][1:])
	}
	if len(operands) > 0 && operands[0] == "--" {
		options, operands = slices.Concat(options, operands[:1]), operands[1:]
	}
	return options, operands, signal
}

func signalOf(name string) syscall.Signal {
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n <= 64 {
		return syscall.Signal(n)
	}
	if signal := unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG")); signal != 0 {
		return signal
	}
	return -1
}

// harmless are signals that end nobody who does not know them.
var harmlessSignals = []syscall.Signal{0, syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGURG, syscall.SIGWINCH}

// signal signals the job that a word means, if it means one.
func (s *shell) signal(word string, signal syscall.Signal) (mine, sent bool) {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	j := s.jobs.find(word)
	switch {
	case j == nil:
		return false, false
	case j.ended || j.killed != 0 && len(j.running) == 0 || signal < 0:
		return true, false
	}
	for _, p := range j.running {
		if signal != 0 {
			_ = p.Signal(signal) // one that has ended just now needs none
		}
	}
	if !slices.Contains(harmlessSignals, signal) {
		j.killed = signal
	}
	return true, true
}
