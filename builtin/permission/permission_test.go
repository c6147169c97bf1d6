package permission_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

type object = map[string]any

// chooser is a person who answers an agent's questions.
type chooser func(ctx context.Context, q permission.AgentQuestion) (string, error)

func (c chooser) Choose(ctx context.Context, q permission.AgentQuestion) (string, error) {
	return c(ctx, q)
}

// no is a person who refuses every call.
var no = rig.Person(func(context.Context, permission.Question) (permission.Answer, error) {
	return permission.Answer{Choice: permission.Refuse}, nil
})

func question() object {
	return object{"subject": "Deploy", "risk_level": "high", "reason": "The tests pass.", "options": []string{"now", "later"}, "default_option": "later", "request_ref": object{"n": 1}}
}

func failed(t *testing.T, e runtime.Envelope, kind fault.Kind, code string) {
	t.Helper()
	if e.Error == nil || e.Error.Kind != kind || e.Error.Code != code {
		t.Errorf("got %+v, want %s/%s", e.Error, kind, code)
	}
}

func TestAsks(t *testing.T) {
	var asked permission.AgentQuestion
	r := rig.New(t, rig.Options{Chooser: chooser(func(_ context.Context, q permission.AgentQuestion) (string, error) {
		asked = q
		return "now", nil
	})})
	var output map[string]string
	e := r.Must("permission.request", question(), &output)
	if len(output) != 2 || output["selected_option"] != "now" || !regexp.MustCompile("^"+ids.Pattern+"$").MatchString(output["prompt_id"]) || output["prompt_id"] != asked.ID {
		t.Errorf("%v", output)
	}
	if asked.Subject != "Deploy" || asked.Risk != "high" || asked.Reason != "The tests pass." || strings.Join(asked.Options, " ") != "now later" || asked.Default != "later" {
		t.Errorf("%+v", asked)
	}
	if got := strings.Join(r.Types(e.RunID), " "); got != "tool.started permission.decided permission.requested tool.completed" {
		t.Errorf("events %s", got)
	}
}

// An answer is no grant: what was asked for in the question is decided as before.
func TestAnswerPermitsNothing(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: no, Chooser: chooser(func(context.Context, permission.AgentQuestion) (string, error) { return "allow", nil })})
	r.Put("a.txt", "old")
	q := question()
	q["subject"], q["options"], q["default_option"] = "overwrite(a.txt)", []string{"allow"}, "allow"
	r.Must("permission.request", q, nil)
	failed(t, r.Call("fs.write", object{"path": "a.txt", "content": "new"}), fault.PermissionDenied, permission.CodeDeniedByPerson)
	for _, e := range r.Events("") {
		if e.Type == "permission.granted" {
			t.Errorf("%s", e.Payload)
		}
	}
}

func TestRefused(t *testing.T) {
	r := rig.New(t, rig.Options{Chooser: chooser(func(context.Context, permission.AgentQuestion) (string, error) {
		return "", fault.New(fault.PermissionDenied, permission.CodeDeniedByPerson, "none: %q", "ask Ann")
	})})
	e := r.Call("permission.request", question())
	failed(t, e, fault.PermissionDenied, permission.CodeDeniedByPerson)
	if !strings.Contains(e.Error.Message, "ask Ann") || strings.Contains(string(e.Output), "selected_option") {
		t.Errorf("%s, %s", e.Error.Message, e.Output)
	}
}

// C7: nobody is waited for.
func TestC7NobodyToAsk(t *testing.T) {
	failed(t, rig.New(t, rig.Options{}).Call("permission.request", question()), fault.ApprovalRequired, "no_terminal")
	failed(t, rig.New(t, rig.Options{Approver: rig.Yes}).Call("permission.request", question()), fault.ApprovalRequired, "no_terminal")
}

// C6: an answer to a call that has ended is none.
func TestC6AnswerAfterCancellation(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := rig.New(t, rig.Options{Chooser: chooser(func(context.Context, permission.AgentQuestion) (string, error) {
		cancel(errors.New("interrupt"))
		return "now", nil
	})})
	e := r.Registry.Call(ctx, runtime.Call{Tool: "permission.request", Input: r.JSON(question())})
	if e.OK || e.Error.Kind != fault.Cancelled || strings.Contains(string(e.Output), "now") {
		t.Errorf("%+v %s", e.Error, e.Output)
	}
}

func TestClockStands(t *testing.T) {
	r := rig.New(t, rig.Options{Chooser: chooser(func(ctx context.Context, _ permission.AgentQuestion) (string, error) {
		time.Sleep(150 * time.Millisecond)
		return "now", ctx.Err()
	})})
	e := r.Registry.Call(r.Context(), runtime.Call{Tool: "permission.request", Input: r.JSON(question()), Timeout: 100 * time.Millisecond})
	if !e.OK {
		t.Errorf("%+v", e.Error)
	}
}

// C9: a guest does not get to put a question at all.
func TestC9GuestAsks(t *testing.T) {
	var nested runtime.Envelope
	asked := false
	r := rig.New(t, rig.Options{
		Chooser: chooser(func(context.Context, permission.AgentQuestion) (string, error) {
			asked = true
			return "now", nil
		}),
		Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			nested = rig.Call(ctx, access, "permission.request", question())
			return object{}, nil
		}},
	})
	r.Must("a.run", object{}, nil)
	failed(t, nested, fault.PermissionDenied, "direct_only")
	if asked {
		t.Error("a person was asked")
	}
}

func TestBadQuestions(t *testing.T) {
	r := rig.New(t, rig.Options{Chooser: chooser(func(context.Context, permission.AgentQuestion) (string, error) {
		t.Error("a person was asked")
		return "", nil
	})})
	for name, change := range map[string]object{
		"no options":                    {"options": []string{}},
		"nine options":                  {"options": strings.Split("a b c d e f g h i", " ")},
		"an option twice":               {"options": []string{"now", "now"}},
		"options that look alike":       {"options": []string{"now", "Now"}},
		"options that differ by blanks": {"options": []string{"now", "now "}},
		"an empty option":               {"options": []string{" "}},
		"a long option":                 {"options": []string{strings.Repeat("x", 129)}},
		"a default that is no option":   {"default_option": "never"},
		"a long subject":                {"subject": strings.Repeat("x", 257)},
		"a long reason":                 {"reason": strings.Repeat("x", 1001)},
		"no subject":                    {"subject": ""},
		"an unknown risk":               {"risk_level": "none"},
		"an unknown key":                {"grant": true},
	} {
		q := question()
		if name != "a default that is no option" {
			delete(q, "default_option")
		}
		for key, value := range change {
			q[key] = value
		}
		e := r.Call("permission.request", q)
		if e.OK || e.Error.Kind != fault.InvalidInput {
			t.Errorf("%s: %+v", name, e.Error)
		}
	}
}
