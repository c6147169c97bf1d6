package shell_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

// unique is an argument for sleep that no other process has: about an hour.
func unique() string { return fmt.Sprintf("3600.%d", time.Now().UnixNano()) }

// ended checks that nothing is left that has the argument.
func ended(t *testing.T, argument string) {
	t.Helper()
	if left := rig.Processes(t, argument); len(left) > 0 {
		t.Errorf("still there: %v", left)
	}
}

func TestP1DoubleForkDoesNotOutliveATimeout(t *testing.T) {
	r := newRig(t)
	mark := unique()
	r.Put("fork.sh", "(setsid setsid sleep "+mark+" </dev/null >/dev/null 2>&1 &)\necho forked\nsleep "+mark+"\n")
	out, e := run(r, "sh fork.sh", object{"timeout_ms": 1500})
	failed(t, e, fault.Timeout, "command_timeout")
	if text(out.StdoutPreview) != "forked\n" || out.ExitCode != 137 || out.CommandRunID == "" {
		t.Errorf("what was there before: %s", e.Output)
	}
	ended(t, mark)
}

func TestP1DoubleForkDoesNotOutliveItsCommand(t *testing.T) {
	r := newRig(t)
	mark := unique()
	r.Put("fork.sh", "(setsid setsid sleep "+mark+" </dev/null >/dev/null 2>&1 &)\necho done\n")
	if out := must(r, "sh fork.sh", nil); text(out.StdoutPreview) != "done\n" || out.ExitCode != 0 {
		t.Errorf("%+v", out)
	}
	ended(t, mark)
}

func TestP2ChildHoldingStdoutDoesNotHoldTheCall(t *testing.T) {
	r := newRig(t)
	mark := unique()
	r.Put("hold.sh", "sleep "+mark+" &\necho away\n")
	started := time.Now()
	out := must(r, "sh hold.sh", object{"timeout_ms": 60000})
	if text(out.StdoutPreview) != "away\n" || time.Since(started) > 20*time.Second {
		t.Errorf("%+v after %v", out, time.Since(started))
	}
	ended(t, mark)
}

func TestP3EndlessYes(t *testing.T) {
	r := newRig(t)
	mark := fmt.Sprint("yes-", time.Now().UnixNano())
	out, e := run(r, "yes "+mark, object{"timeout_ms": 3000})
	failed(t, e, fault.Timeout, "command_timeout")
	line := mark + "\n"
	if got := text(out.StdoutPreview); len(got) != 16<<10 || got[:len(line)] != line {
		t.Errorf("a preview of %d bytes", len(got))
	}
	got := content(r, out.StdoutArtifactID)
	if len(got) < 1<<20 || len(got) > 64<<20+200 || !strings.HasPrefix(got, line) {
		t.Errorf("an artifact of %d bytes", len(got))
	}
	ended(t, mark)
}

func TestP4NothingToTypeAt(t *testing.T) {
	r := newRig(t)
	if out := must(r, "cat; echo read $?", nil); text(out.StdoutPreview) != "read 0\n" {
		t.Errorf("standard input: %s", text(out.StdoutPreview))
	}
	if out := must(r, "cat", object{"stdin": "given\n"}); text(out.StdoutPreview) != "given\n" {
		t.Errorf("standard input that was given: %s", text(out.StdoutPreview))
	}
	r.Put("tty.sh", "(cat < /dev/tty) 2>/dev/null || echo none\n")
	if out := must(r, "sh tty.sh", nil); text(out.StdoutPreview) != "none\n" {
		t.Errorf("/dev/tty: %s", text(out.StdoutPreview))
	}
}

func TestP6ForkBomb(t *testing.T) {
	r := newRig(t)
	mark := fmt.Sprint("bomb-", time.Now().UnixNano(), ".sh")
	r.Put(mark, "sh $0 & sh $0\n")
	started := time.Now()
	_, e := run(r, "sh "+mark, object{"timeout_ms": 500})
	failed(t, e, fault.Timeout, "command_timeout")
	if took := time.Since(started); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	ended(t, mark)
}

func TestP6FillingTheDisk(t *testing.T) {
	r := newRig(t)
	r.Put("fill.sh", "dd if=/dev/zero of=/tmp/full bs=1M count=1200\n") // in the sandbox's own /tmp
	out := must(r, "sh fill.sh", nil)
	if out.ExitCode == 0 || !strings.Contains(text(out.StderrPreview), "No space left") {
		t.Errorf("%d: %s", out.ExitCode, text(out.StderrPreview))
	}
}

func TestCancelled(t *testing.T) {
	r := newRig(t)
	mark := unique()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := r.Session.Events.Subscribe(onText("begun", cancel))
	defer stop()
	e := r.Registry.Call(ctx, runtime.Call{Tool: "shell.run", Input: r.JSON(object{"command": "echo begun; sleep " + mark, "cwd": "."})})
	if e.Error == nil || e.Error.Kind != fault.Cancelled || !strings.Contains(string(e.Output), "begun") {
		t.Errorf("%+v %s", e.Error, e.Output)
	}
	ended(t, mark)
	last := eventOf(r, e.RunID, "command.cancelled")
	if last["exit_code"] != 137.0 || last["tier"] != "sandbox" {
		t.Errorf("%v", last)
	}
}

func TestTimeoutOfTheCall(t *testing.T) {
	r := newRig(t)
	mark := unique()
	e := r.Registry.Call(t.Context(), runtime.Call{Tool: "shell.run", Timeout: time.Second, Input: r.JSON(object{"command": "echo begun; sleep " + mark, "cwd": "."})})
	if e.Error == nil || e.Error.Kind != fault.Timeout || e.Error.Code != "deadline" || !strings.Contains(string(e.Output), "begun") {
		t.Errorf("%+v %s", e.Error, e.Output)
	}
	ended(t, mark)
	if failure := eventOf(r, e.RunID, "command.failed")["error"].(object); failure["kind"] != "timeout" {
		t.Errorf("%v", failure)
	}
}

func TestMissingProgramIsData(t *testing.T) {
	r := newRig(t)
	for _, program := range []string{"no-such-program-here", "cowsay"} {
		out := must(r, program+" x", nil)
		if out.ExitCode != 127 || !strings.Contains(text(out.StderrPreview), program) {
			t.Errorf("%s: %d %q", program, out.ExitCode, text(out.StderrPreview))
		}
	}
	if out := must(r, "exit 3", nil); out.ExitCode != 3 {
		t.Errorf("%+v", out)
	}
	if out := must(r, "sh -c 'kill -TERM $$'", nil); out.ExitCode != 128+15 {
		t.Errorf("%+v", out)
	}
}
