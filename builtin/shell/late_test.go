package shell_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime/permission"
)

// A person is not asked without end about what turns up while a command runs.
func TestLateQuestionsAreBounded(t *testing.T) {
	asked := 0
	r := rigWith(t, rig.Options{Approver: rig.Person(func(context.Context, permission.Question) (permission.Answer, error) {
		asked++
		return permission.Answer{Choice: permission.Once}, nil
	})})
	for i := range 7 {
		r.Put(fmt.Sprintf("f%d", i+1), "")
	}
	_, e := run(r, `for i in $(seq 7); do rm "f$i"; done`, nil)
	failed(t, e, fault.ApprovalRequired, "too_many_questions")
	left, err := filepath.Glob(filepath.Join(r.Root, "f*"))
	if err != nil || asked < 5 || asked > 6 || len(left) != 2 {
		t.Errorf("asked %d times, left %v, %v", asked, left, err)
	}
	asked = 0
	if must(r, "rm f6 f7", nil); asked != 1 {
		t.Errorf("another call asks %d times", asked)
	}
}

// What a command made that is withheld does not hide that it was ended for its time.
func TestATimeoutStaysOne(t *testing.T) {
	r := newRig(t)
	r.Put("made.sh", "mkdir .vscode\necho x > .vscode/tasks.json\nsleep 60\n")
	_, e := run(r, "sh made.sh", object{"timeout_ms": 1500})
	failed(t, e, fault.Timeout, "command_timeout")
	if !strings.Contains(e.Error.Message, ".vscode") || e.Error.Details["withheld"] == nil {
		t.Errorf("%+v", e.Error)
	}
	if _, err := os.Lstat(filepath.Join(r.Root, ".vscode")); err == nil {
		t.Error(".vscode was not withheld")
	}
}
