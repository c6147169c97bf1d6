package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

func waiting(ctx context.Context, _ *runtime.Access, _ json.RawMessage) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func timed(r *rig.Rig, tool string, input any, timeout time.Duration) runtime.Envelope {
	return r.Registry.Call(r.Context(), runtime.Call{Tool: tool, Input: r.JSON(input), Timeout: timeout})
}

func TestDeadline(t *testing.T) {
	r := with(t, waiting)
	started := time.Now()
	e := timed(r, "a.run", object{}, 20*time.Millisecond)
	failed(t, e, fault.Timeout, "deadline")
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if types := r.Types(e.RunID); types[len(types)-1] != "tool.failed" {
		t.Errorf("%v", types)
	}
}

// A nested call has no more time than is left of the outer one.
func TestDeadlineOfNestedCall(t *testing.T) {
	var nested runtime.Envelope
	r := rig.New(t, rig.Options{Provider: rig.Guests{
		"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			nested = rig.Call(ctx, access, "b.run", object{})
			return nil, nested.Error
		},
		"b": waiting,
	}})
	failed(t, timed(r, "a.run", object{}, 20*time.Millisecond), fault.Timeout, "deadline")
	failed(t, nested, fault.Timeout, "deadline")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := with(t, func(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error) {
		cancel()
		return waiting(ctx, access, input)
	})
	e := r.Registry.Call(ctx, runtime.Call{Tool: "a.run"})
	failed(t, e, fault.Cancelled, "")
	if got, want := r.Types(e.RunID), []string{"tool.started", "permission.decided", "tool.cancelled"}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// slowly is a person who thinks for longer than the call may take.
func slowly(answer permission.Answer) rig.Person {
	return func(ctx context.Context, _ permission.Question) (permission.Answer, error) {
		time.Sleep(150 * time.Millisecond)
		return answer, ctx.Err()
	}
}

// The clock stands while a person is asked, in the nested call and around it.
func TestClockPausesWhileAsking(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: slowly(permission.Answer{Choice: permission.Once}), Provider: rig.Guests{
		"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			if e := rig.Call(ctx, access, "fs.write", object{"path": "a.txt", "content": "new"}); e.Error != nil {
				return nil, e.Error
			}
			return object{}, ctx.Err()
		},
	}})
	r.Put("a.txt", "old")
	e := timed(r, "fs.write", object{"path": "a.txt", "content": "x"}, 100*time.Millisecond)
	if !e.OK {
		t.Errorf("%+v", e.Error)
	}
	if e := timed(r, "a.run", object{}, 100*time.Millisecond); !e.OK {
		t.Errorf("%+v", e.Error)
	}
}

// C6: an answer that comes after the call was cancelled changes nothing.
func TestC6AnswerAfterCancellation(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	late := rig.Person(func(context.Context, permission.Question) (permission.Answer, error) {
		cancel(errors.New("interrupt"))
		return permission.Answer{Choice: permission.Once}, nil
	})
	r := rig.New(t, rig.Options{Approver: late})
	path := r.Put("a.txt", "old")
	e := r.Registry.Call(ctx, runtime.Call{Tool: "fs.write", Input: r.JSON(object{"path": "a.txt", "content": "new"})})
	failed(t, e, fault.Cancelled, "")
	unchanged(t, path, "old")
	if got, want := r.Types(e.RunID), []string{"tool.started", "permission.requested", "permission.decided", "tool.cancelled"}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

func TestRefusalCarriesTheWord(t *testing.T) {
	no := rig.Person(func(context.Context, permission.Question) (permission.Answer, error) {
		return permission.Answer{Choice: permission.Refuse, Note: "use docs/ instead"}, nil
	})
	r := rig.New(t, rig.Options{Approver: no})
	path := r.Put("a.txt", "old")
	e := r.Call("fs.write", object{"path": "a.txt", "content": "new"})
	if e.OK || e.Error.Kind != fault.PermissionDenied {
		t.Fatalf("%+v", e.Error)
	}
	unchanged(t, path, "old")
	if !strings.Contains(e.Error.Message, "use docs/ instead") {
		t.Errorf("%s", e.Error.Message)
	}
}

// C7: without a person the call ends at once.
func TestC7NobodyToAsk(t *testing.T) {
	r := rig.New(t, rig.Options{})
	path := r.Put("a.txt", "old")
	failed(t, r.Call("fs.write", object{"path": "a.txt", "content": "new"}), fault.ApprovalRequired, "")
	unchanged(t, path, "old")
}
