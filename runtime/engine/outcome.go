package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/sandbox"
)

// endCause classifies the end of a worker that did not answer.
type endCause int

const (
	causeCrash      endCause = iota
	causeStopped             // by the call's context
	causeCompile             // by the compile deadline
	causeLoadMemory          // the process ran out of what it may have while it loaded
	causeMemory              // or later
	causeViolation           // it broke the protocol, or a system call was forbidden
	causeSetup               // it could not confine itself, and saw no module
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
	case status.Exited() && outOfMemory(text) && !w.loaded:
		return &endedError{causeLoadMemory, reason}
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
func (p *Pool) loadFault(m Module, err error) error {
	var refused *refusedError
	if errors.As(err, &refused) {
		return fault.New(fault.InvalidInput, "invalid_module", "module of %s: %v", m.Tool, refused).
			WithHint("the module is not valid WebAssembly: build it again, or tell its publisher")
	}
	var ended *endedError
	if errors.As(err, &ended) && (ended.cause == causeCompile || ended.cause == causeLoadMemory) {
		return fault.New(fault.ResourceExhausted, "compile_limit",
			"compiling the module of %s: stopped at %v or %d MiB: %v", m.Tool, p.compileTimeout, sandbox.CompileBytes>>20, ended.reason).
			WithHint("the module is too complex to compile within the limits, or this machine is very busy: then try again")
	}
	if ended != nil && ended.cause == causeStopped && (p.cache == nil || !p.cache.has(m.SHA256)) {
		return fmt.Errorf("compiling the module of %s: %w", m.Tool, ended.reason)
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
		// Not the guest's memory, of which a worker refuses what is over the limit.
		return fault.New(fault.ResourceExhausted, "worker_memory", "the worker of %s ran out of memory: %v", m.Tool, ended.reason).
			WithHint("this machine may be short of memory: try again, or give the tool less to do")
	case causeSetup:
		return fault.New(fault.Unavailable, "worker", "no worker for %s: %v", m.Tool, ended.reason)
	case causeViolation:
		return fault.New(fault.GuestTrap, "violation", "worker of %s: %v", m.Tool, ended.reason).
			WithHint("the worker did what no honest guest can cause: do not trust this capability")
	}
	return fault.New(fault.GuestTrap, "crash", "worker of %s: %v", m.Tool, ended.reason)
}

// result turns the end of a call, as the worker tells it, into what the caller is told. A
// fault has the end of what the guest printed as a detail, which often says what went wrong.
func (m Module) result(d hostabi.Done) (result, error) {
	if !d.Trapped && !d.OutputRefused && d.Status == hostabi.StatusError && m.ABI.KnowsAir() {
		return result{log: d.Log}, m.guestError(d.Output)
	}
	if e := m.fault(d); e != nil {
		if len(d.Log) > 0 {
			e = e.With("log", printable(string(d.Log[max(0, len(d.Log)-2048):]), 2048))
		}
		return result{log: d.Log}, e
	}
	return result{output: bytes.TrimSpace(d.Output), log: d.Log}, nil // a program ends its output with a newline
}

// fault is what became of a call that neither went well nor ended with an error of the
// guest's own; nil if it did. Of a result only that it is JSON is checked: the registry
// checks its bounds and its schema.
func (m Module) fault(d hostabi.Done) *fault.Error {
	switch {
	case d.Trapped:
		return m.trapFault(d)
	case d.OutputRefused: // whatever the guest says of it: half a result can look like a whole one
		return fault.New(fault.ResourceExhausted, "output_bytes", "%s wrote more than its %d bytes of output", m.Tool, m.Limits.OutputBytes).
			WithHint("raise limits.output_bytes in the manifest, or ask the tool for less")
	case d.Status == hostabi.StatusOK && json.Valid(d.Output):
		return nil
	case d.Status == hostabi.StatusOK:
		return m.badOutput(notJSON(d.Output))
	}
	ended := fmt.Sprintf("air_call returned %d", d.Status)
	if !m.ABI.KnowsAir() {
		ended = fmt.Sprintf("exit status %d", d.Status)
	}
	switch {
	case d.MemoryRefused:
		return m.memoryFault(ended + " after memory.grow was refused")
	case !m.ABI.KnowsAir(): // what it wrote to stdout is no result then
		return fault.New(fault.GuestError, "exit_status", "%s: %s", m.Tool, ended).With("status", d.Status)
	}
	return fault.New(fault.GuestTrap, "bad_status", "%s: %s, which is neither 0 nor 1", m.Tool, ended)
}

// trapFault splits a trap's text into its first line, which is the reason, and the stack.
func (m Module) trapFault(d hostabi.Done) *fault.Error {
	reason, rest, _ := strings.Cut(string(d.Output), "\n")
	reason = printable(strings.TrimSuffix(reason, " (recovered by wazero)"), 300)
	if d.MemoryRefused {
		return m.memoryFault("memory.grow was refused, then: " + reason)
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
	if strings.HasSuffix(reason, "unreachable") {
		e = e.WithHint("the guest aborted or panicked: what it printed, if anything, says why")
	}
	return e
}

func (m Module) memoryFault(why string) *fault.Error {
	return fault.New(fault.ResourceExhausted, "memory", "%s needs more than its %s of memory: %s", m.Tool, size(m.Limits.MemoryBytes), why).
		WithHint("raise limits.memory_bytes in the manifest, or give the tool less to do")
}

func size(bytes int64) string {
	if bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

func (m Module) badOutput(why string) *fault.Error {
	return fault.New(fault.GuestError, "bad_output", "%s: %s", m.Tool, why).
		WithHint("the capability breaks its contract: mend it, or tell its publisher")
}

func notJSON(output []byte) string {
	if len(bytes.TrimSpace(output)) == 0 {
		return "its result is empty, which is not JSON"
	}
	return fmt.Sprintf("its result is not JSON: it begins with %q", printable(string(output[:min(len(output), 100)]), 100))
}

const maxGuestError = 64 << 10

var guestCode = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

// guestError is what a guest says of its own failure.
func (m Module) guestError(text []byte) error {
	var said struct {
		Code    string         `json:"code"`
		Message string         `json:"message"`
		Details map[string]any `json:"details"`
	}
	if err := canon.Check(text, canon.Limits{Bytes: maxGuestError}); err != nil {
		return m.badOutput("its error is not {code, message, details}: " + printable(err.Error(), 200))
	}
	if err := json.Unmarshal(text, &said); err != nil || !guestCode.MatchString(said.Code) {
		return m.badOutput("its error is not {code, message, details}")
	}
	e := fault.New(fault.GuestError, said.Code, "%s: %s", m.Tool, printable(said.Message, 2048))
	delete(said.Details, causeDetail) // only the host says that a nested call was refused
	e.Details = said.Details
	return e
}

// causeDetail is the detail that carries the error of a refused nested call.
const causeDetail = "cause"

// printable makes text of a guest safe to show: bounded, and without control characters
// or marks that change how the text around it reads.
func printable(foreign string, limit int) string { return text.Cut(text.Printable(foreign), limit) }
