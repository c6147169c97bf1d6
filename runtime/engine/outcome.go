package engine

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/sandbox"
)

// endCause classifies the end of a worker that did not answer.
type endCause int

const (
	causeCrash     endCause = iota
	causeStopped            // by the call's context
	causeCompile            // by the compile deadline
	causeMemory             // the process ran out of what it may have
	causeViolation          // it broke the protocol, or a system call was forbidden
	causeSetup              // it could not confine itself, and saw no module
)

func killedFor(reason error) endCause {
	switch reason {
	case errCompile:
		return causeCompile
	case errBreach:
		return causeViolation
	}
	return causeStopped
}

// inspect classifies a worker that is gone and was not killed from here.
func (w *worker) inspect(err error) *endedError {
	status, _ := w.cmd.ProcessState.Sys().(syscall.WaitStatus)
	text := w.stderr.text()
	said, _, _ := bytes.Cut(text, []byte("\n"))
	reason := fmt.Errorf("worker ended: %v", w.cmd.ProcessState)
	if len(said) > 0 {
		reason = fmt.Errorf("%w: %s", reason, printable(string(said), 200))
	}
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGSYS, bytes.HasPrefix(said, []byte("SIGSYS")):
		return &endedError{causeViolation, reason}
	case status.Exited() && status.ExitStatus() == 0:
		return &endedError{causeViolation, fmt.Errorf("worker left in the middle of a call: %w", err)}
	case status.Exited() && status.ExitStatus() == setupFailed:
		return &endedError{causeSetup, reason}
	case status.Exited() && outOfMemory(text):
		return &endedError{causeMemory, reason}
	}
	return &endedError{causeCrash, reason}
}

// outOfMemory recognizes what the Go runtime, or that of the race detector, says when the
// kernel refuses it memory.
func outOfMemory(said []byte) bool {
	for _, text := range []string{"out of memory", "cannot allocate memory", "cannot map pages", "failed to allocate"} {
		if bytes.Contains(said, []byte(text)) {
			return true
		}
	}
	return false
}

// loadFault says what became of a module that did not load.
func (m Module) loadFault(err error) error {
	var refused *refusedError
	if errors.As(err, &refused) {
		return fault.New(fault.InvalidInput, "invalid_module", "module of %s: %v", m.Tool, refused).
			WithHint("the module is not valid WebAssembly: build it again, or tell its publisher")
	}
	var ended *endedError
	if errors.As(err, &ended) && (ended.cause == causeCompile || ended.cause == causeMemory) {
		return fault.New(fault.ResourceExhausted, "compile_limit",
			"compiling the module of %s: stopped at %v or %d MiB: %v", m.Tool, compileDeadline, sandbox.CompileBytes>>20, ended.reason).
			WithHint("the module is too complex to compile within the limits, or this machine is very busy: then try again")
	}
	return m.endFault(err)
}

// endFault says what became of a call whose worker ended.
func (m Module) endFault(err error) error {
	var ended *endedError
	if !errors.As(err, &ended) {
		return err
	}
	switch ended.cause {
	case causeStopped:
		return fmt.Errorf("%s: %w", m.Tool, ended.reason)
	case causeMemory:
		return m.memoryFault(ended.reason.Error())
	case causeSetup:
		return fault.New(fault.Unavailable, "worker", "no worker for %s: %v", m.Tool, ended.reason)
	case causeViolation:
		return fault.New(fault.GuestTrap, "violation", "worker of %s: %v", m.Tool, ended.reason).
			WithHint("the worker did what no honest guest can cause: do not trust this capability")
	}
	return fault.New(fault.GuestTrap, "crash", "worker of %s: %v", m.Tool, ended.reason)
}

func (m Module) memoryFault(why string) *fault.Error {
	limit := m.Limits.WithDefaults().MemoryBytes
	return fault.New(fault.ResourceExhausted, "memory", "%s needs more than its %g MiB of memory: %s", m.Tool, float64(limit)/(1<<20), why).
		WithHint("raise limits.memory_bytes in the manifest, or give the tool less to do")
}

func (m Module) outputFault() *fault.Error {
	return fault.New(fault.ResourceExhausted, "output_bytes", "%s wrote more than its %d bytes of output", m.Tool, m.Limits.WithDefaults().OutputBytes).
		WithHint("raise limits.output_bytes in the manifest, or ask the tool for less")
}

// result turns the end of a call, as the worker tells it, into what the caller is told.
func (m Module) result(d hostabi.Done) (result, error) {
	switch {
	case d.Trapped:
		return result{}, m.trapped(d)
	case d.OutputRefused: // whatever the guest says of it: half a result can look like a whole one
		return result{}, m.outputFault()
	case d.Status == hostabi.StatusOK:
		return m.output(d)
	case d.Status == hostabi.StatusError:
		return result{log: d.Log}, m.guestError(d.Output)
	case d.MemoryRefused:
		return result{}, m.memoryFault(fmt.Sprintf("air_call returned %d after memory.grow was refused", d.Status))
	}
	return result{}, withLog(fault.New(fault.GuestTrap, "bad_status", "%s: air_call returned %d, which is neither 0 nor 1", m.Tool, d.Status), d.Log)
}

// trapped splits a trap's text into its first line, which is the reason, and the stack.
func (m Module) trapped(d hostabi.Done) error {
	reason, rest, _ := strings.Cut(string(d.Output), "\n")
	reason = printable(strings.TrimSuffix(reason, " (recovered by wazero)"), 300)
	if d.MemoryRefused {
		return withLog(m.memoryFault("memory.grow was refused, then: "+reason), d.Log)
	}
	e := fault.New(fault.GuestTrap, "trap", "%s trapped: %s", m.Tool, reason)
	var stack []string
	for line := range strings.Lines(rest) {
		if line = printable(strings.TrimSpace(line), 200); line != "" && line != "wasm stack trace:" && len(stack) < 30 {
			stack = append(stack, line)
		}
	}
	if len(stack) > 0 {
		e = e.With("stack", stack)
	}
	return withLog(e, d.Log)
}

// withLog adds the end of what the guest printed, which often says what went wrong.
func withLog(e *fault.Error, log []byte) *fault.Error {
	if len(log) == 0 {
		return e
	}
	return e.With("log", printable(string(log[max(0, len(log)-2048):]), 2048))
}

// printable makes text of a guest safe to show: bounded, and without control characters
// or marks that change how the text around it reads.
func printable(foreign string, limit int) string { return text.Cut(text.Printable(foreign), limit) }
