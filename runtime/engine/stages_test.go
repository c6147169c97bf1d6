package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/engine/wazero"
	"github.com/aircoding/air/wasmtests"
)

// staged is the argv[0] of a worker that stops for ever in the stage argv[1], and says so
// on stderr.
const staged = "air-staged-worker"

func serveIfStaged() {
	if os.Args[0] == staged {
		serve(&stagedEngine{Engine: &wazero.Engine{}, stage: os.Args[1]})
	}
}

type stagedEngine struct {
	Engine
	stage string
}

const reached = "reached the stage"

func (e *stagedEngine) stop(stage string) {
	if e.stage == stage {
		os.Stderr.WriteString(reached)
		for {
			time.Sleep(time.Second)
		}
	}
}

func (e *stagedEngine) Compile(module []byte, dir string) error {
	if e.stage == "full disk" {
		return errors.Join(wazero.ErrCache, syscall.ENOSPC)
	}
	err := e.Engine.Compile(module, dir)
	e.stop("compile") // with all that it writes
	return err
}

func (e *stagedEngine) Load(module []byte, abi hostabi.ABI, memoryBytes int64) error {
	e.stop("load")
	return e.Engine.Load(module, abi, memoryBytes)
}

func (e *stagedEngine) LoadFolder(dir string, abi hostabi.ABI, memoryBytes int64) error {
	e.stop("load")
	return e.Engine.LoadFolder(dir, abi, memoryBytes)
}

func (e *stagedEngine) Freeze() []byte {
	e.stop("freeze")
	return e.Engine.Freeze()
}

func (e *stagedEngine) Run(call *hostabi.Call) (uint32, error) {
	e.stop("run")
	return e.Engine.Run(call)
}

func (e *stagedEngine) Reset() { // the first one is before a call
	if e.Engine.Reset(); e.Frozen() {
		e.stop("reset")
	}
}

// stagedPool is a pool whose workers stop in a stage. Those that reached it appear in the
// channel.
func stagedPool(t *testing.T, stage string) (*Pool, chan *process) {
	p := newPool(t)
	there := make(chan *process, 10)
	var watching sync.WaitGroup
	p.spawn = func() (*process, error) {
		started, err := startProcess([]string{staged, stage})
		if err != nil {
			return nil, err
		}
		watching.Go(func() {
			for !bytes.Contains(started.stderr.text(), []byte(reached)) {
				if started.gone(time.Millisecond) {
					return
				}
			}
			there <- started
		})
		return started, nil
	}
	t.Cleanup(func() { p.Close(); watching.Wait(); close(there) })
	return p, there
}

// TestKilledInEachStage kills -9 every worker that reaches a stage, and then calls again.
func TestKilledInEachStage(t *testing.T) {
	for _, stage := range []string{"compile", "load", "freeze", "run"} {
		t.Run(stage, func(t *testing.T) {
			p, there := stagedPool(t, stage)
			m := guest(t, "guests/echo")
			go func() {
				for victim := range there {
					syscall.Kill(victim.cmd.Process.Pid, syscall.SIGKILL)
				}
			}()
			_, err := invoke(t, p, m, `{}`)
			wantFault(t, err, fault.GuestTrap, "crash")
			q := reopen(t, p.options.CacheDir)
			mustInvoke(t, q.Pool, m, `{}`)
			mustBeWhole(t, q.Pool, m)
			mustHold(t, p.options.CacheDir, 1)
		})
	}
}

// TestKilledAfterItsAnswer kills a worker that is about to wait for the next call.
func TestKilledAfterItsAnswer(t *testing.T) {
	p, there := stagedPool(t, "reset")
	m := guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	victim := <-there
	syscall.Kill(victim.cmd.Process.Pid, syscall.SIGKILL)
	<-victim.exited
	p.spawn = spawning(workerName)
	mustInvoke(t, p, m, `{}`)
}

// TestStoppedInEachStage ends the context of a call in each stage: that is what the call
// ends with, at once.
func TestStoppedInEachStage(t *testing.T) {
	for _, stage := range []string{"compile", "load", "freeze", "run"} {
		t.Run(stage, func(t *testing.T) {
			p, there := stagedPool(t, stage)
			m := guest(t, "guests/echo")
			mine := errors.New("mine")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var stopped time.Time
			go func() {
				<-there
				stopped = time.Now()
				cancel(mine)
			}()
			_, err := p.invoke(ctx, m, nil, &fakeHandler{})
			if !errors.Is(err, mine) || time.Since(stopped) > wasmtests.Slowdown*100*time.Millisecond {
				t.Errorf("after %v: %v", time.Since(stopped), err)
			}
			if len(p.idle) > 0 || p.room != (room{}) {
				t.Errorf("%d idle workers, %+v", len(p.idle), p.room)
			}
		})
	}
}

// TestCacheThatCannotBeWritten goes on without the cache.
func TestCacheThatCannotBeWritten(t *testing.T) {
	p := reopen(t, t.TempDir())
	p.spawn = spawning(staged, "full disk")
	m := guest(t, "guests/echo")
	mustInvoke(t, p.Pool, m, `{}`)
	if !p.said("without a cache") {
		t.Errorf("said %q", p.lines)
	}
	mustHold(t, p.options.CacheDir, 0)
	if err := p.Compile(t.Context(), m); err != nil {
		t.Errorf("compiling ahead of a call: %v", err)
	}
}

// TestCompileRunsNothing compiles ahead of a call in a worker that would stop if it ran.
func TestCompileRunsNothing(t *testing.T) {
	for _, stage := range []string{"freeze", "load"} {
		p, _ := stagedPool(t, stage)
		m := guest(t, "hostile/startloop")
		for range 2 {
			if err := p.Compile(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		mustBeWhole(t, p, m)
	}
}

// TestWarm leaves nothing to do before a call.
func TestWarm(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	if err := p.Warm(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	q, there := stagedPool(t, "freeze")
	q.options.CacheDir, q.cache = p.options.CacheDir, p.cache
	mustInvoke(t, q, m, `{}`)
	if len(there) > 0 {
		t.Error("it was frozen again")
	}
	if len(p.idle) != 1 || !p.idle[0].worker.frozen {
		t.Errorf("idle %+v", p.idle)
	}
}

// TestStartThatDoesNotEnd is endless before the call, whose time it uses.
func TestStartThatDoesNotEnd(t *testing.T) {
	p, m := newPool(t), guest(t, "hostile/startloop")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := p.Warm(ctx, m); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	m.Limits.TimeoutMS = 200 // also where nobody sets a deadline
	wantFault(t, p.Warm(context.Background(), m), fault.Timeout, "start_timeout")
	if busyWorkers(p) != 0 || p.room != (room{}) {
		t.Errorf("%d busy, room %+v", busyWorkers(p), p.room)
	}
}

// TestPlainStart calls a module whose state before a call cannot be kept, of which the
// pool asks once.
func TestPlainStart(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/keeper-table")
	mustInvoke(t, p, m, `{}`)
	w := p.idle[0].worker
	if w.frozen || !p.modules[p.idle[0].key].plain {
		t.Errorf("frozen %v, plain %v", w.frozen, p.modules)
	}
	m, _ = m.complete()
	if err := p.freeze(t.Context(), m, &worker{}); err != nil { // a worker without a socket
		t.Error(err)
	}
}

// TestTrapBeforeTheCall comes out of the call, and of none that only prepares for one.
func TestTrapBeforeTheCall(t *testing.T) {
	p, m := newPool(t), guest(t, "hostile/inittrap")
	if err := p.Warm(t.Context(), m); err != nil {
		t.Error(err)
	}
	for range 2 {
		_, err := invoke(t, p, m, `{}`)
		e := wantFault(t, err, fault.GuestTrap, "trap")
		if stack := fmt.Sprint(e.Details["stack"]); !strings.Contains(stack, "prepare") {
			t.Errorf("stack %s", stack)
		}
	}
}
