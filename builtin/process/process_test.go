package process_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

type object = map[string]any

type killed struct {
	PID       int
	Signal    string
	Delivered bool
}

// withCommand starts a command of the session and returns the id of its process, and what
// comes of it.
func withCommand(t *testing.T, r *rig.Rig) (pid int, ended <-chan runtime.Envelope) {
	t.Helper()
	rig.NeedsSandbox(t)
	// No other process has this argument.
	argument := fmt.Sprintf("300.%d%d", os.Getpid(), time.Now().UnixNano())
	done := make(chan runtime.Envelope, 1)
	go func() { done <- r.Call("shell.run", object{"command": "sleep " + argument, "cwd": "."}) }()
	for range 1000 {
		time.Sleep(10 * time.Millisecond)
		for _, pid := range rig.Processes(t, argument) {
			if text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(text) == "sleep\n" {
				return pid, done
			}
		}
	}
	t.Fatal("nothing sleeps")
	return 0, nil
}

// orphan is a process that nothing of air started.
func orphan(t *testing.T) int {
	t.Helper()
	out, err := exec.Command("sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return pid
}

func kill(pid int) object { return object{"pid": pid, "reason": "a test"} }

func TestKillOwn(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Person(func(_ context.Context, q permission.Question) (permission.Answer, error) {
		t.Errorf("a person is asked: %+v", q)
		return permission.Answer{}, nil
	})})
	pid, ended := withCommand(t, r)
	var out killed
	r.Must("process.kill", kill(pid), &out)
	if out != (killed{pid, "SIGTERM", true}) {
		t.Errorf("got %+v", out)
	}
	var run struct {
		ExitCode int `json:"exit_code"`
	}
	envelope := <-ended
	if err := json.Unmarshal(envelope.Output, &run); err != nil || run.ExitCode != 143 {
		t.Errorf("the command ended with %+v, %v", run, envelope.Error)
	}
}

// Case P5.
func TestKillOthers(t *testing.T) {
	r := rig.New(t, rig.Options{})
	stranger := orphan(t)
	for _, c := range []struct {
		what string
		pid  int
		kind fault.Kind
		code string
	}{
		{"the first process", 1, fault.PermissionDenied, "floor_process"},
		{"air itself", os.Getpid(), fault.PermissionDenied, "floor_process"},
		{"what runs air", os.Getppid(), fault.PermissionDenied, "floor_process"},
		{"a stranger", stranger, fault.ApprovalRequired, ""},
		{"nobody", 4194304, fault.NotFound, "no_process"},
		{"no process id", 0, fault.InvalidInput, ""},
		{"a group", -1, fault.InvalidInput, ""},
	} {
		e := r.Call("process.kill", kill(c.pid))
		if e.OK || e.Error.Kind != c.kind || c.code != "" && e.Error.Code != c.code {
			t.Errorf("%s: %+v, want %s/%s", c.what, e.Error, c.kind, c.code)
		}
	}
	if e := r.Call("process.kill", object{"pid": stranger, "reason": "x", "signal": "SIGSTOP"}); e.OK || e.Error.Kind != fault.InvalidInput {
		t.Errorf("another signal: %+v", e.Error)
	}
	if e := r.Call("process.kill", object{"pid": stranger}); e.OK || e.Error.Kind != fault.InvalidInput {
		t.Errorf("without a reason: %+v", e.Error)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", stranger)); err != nil {
		t.Errorf("the stranger is gone: %v", err)
	}
}

func TestKillStrangerAllowed(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	var out killed
	r.Must("process.kill", object{"pid": orphan(t), "reason": "a test", "signal": "SIGKILL"}, &out)
	if !out.Delivered || out.Signal != "SIGKILL" {
		t.Errorf("got %+v", out)
	}
}

// A capability that did not declare to execute signals nothing, whosever it is.
func TestKillByGuest(t *testing.T) {
	stranger := 0
	r := rig.New(t, rig.Options{Approver: rig.Yes, Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		input, err := json.Marshal(kill(stranger))
		if err != nil {
			return nil, err
		}
		e := access.Call(ctx, "process.kill", input)
		if e.Error != nil {
			return nil, e.Error
		}
		return object{}, nil
	}}})
	own, ended := withCommand(t, r)
	for _, pid := range []int{own, orphan(t), 1} {
		stranger = pid
		if e := r.Call("a.run", object{}); e.OK || e.Error.Kind != fault.PermissionDenied && e.Error.Kind != fault.GuestError {
			t.Errorf("process %d: %+v", pid, e.Error)
		}
	}
	select {
	case e := <-ended:
		t.Errorf("the command has ended: %+v", e)
	default:
	}
	r.Must("process.kill", kill(own), nil)
	<-ended
}
