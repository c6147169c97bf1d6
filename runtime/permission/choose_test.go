package permission

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/counter"
	"github.com/aircoding/air/internal/fault"
)

var deploy = AgentQuestion{
	ID: "q1", Subject: "Deploy", Risk: "high", Reason: "The tests pass.", Options: []string{"now", "later"},
}

type chosen struct {
	option string
	err    error
}

func (s *screen) chooses(ctx context.Context, q AgentQuestion) <-chan chosen {
	done := make(chan chosen, 1)
	go func() {
		option, err := s.Choose(ctx, q)
		done <- chosen{option, err}
	}()
	return done
}

func (s *screen) choice(done <-chan chosen) chosen {
	s.Helper()
	select {
	case c := <-done:
		return c
	case <-time.After(5 * time.Second):
		s.Fatalf("no answer after:\n%s", s.shown())
		return chosen{}
	}
}

func TestChoose(t *testing.T) {
	withDefault := deploy
	withDefault.Default = "later"
	for _, c := range []struct {
		q     AgentQuestion
		typed []string
		want  string // "" for a refusal
	}{
		{deploy, []string{"1\n"}, "now"},
		{deploy, []string{" 2 \n"}, "later"},
		{withDefault, []string{"\n"}, "later"},
		{deploy, []string{"\n", "0\n", "2\n"}, "later"},
		{deploy, []string{"3\n", "now\n", "1\n"}, "now"},
		{deploy, []string{"\n", "o\n", "p\n"}, ""},
		{deploy, []string{"d\n"}, ""},
		{deploy, []string{"\x04"}, ""},
	} {
		s := newScreen(t)
		done := s.chooses(t.Context(), c.q)
		for i, typed := range c.typed {
			s.await("answer> ", i+1)
			s.types(typed)
		}
		got := s.choice(done)
		if got.option != c.want || (got.err == nil) != (c.want != "") {
			t.Errorf("%q: %+v, want %q", c.typed, got, c.want)
		}
		if c.want == "" && !fault.Is(got.err, fault.PermissionDenied) {
			t.Errorf("%q: %v", c.typed, got.err)
		}
	}
	s := newScreen(t)
	done := s.chooses(t.Context(), deploy)
	s.await("answer> ", 1)
	s.types("d ask Ann first\n")
	if got := s.choice(done); got.err == nil || !strings.Contains(got.err.Error(), "ask Ann first") {
		t.Errorf("%+v", got)
	}
}

func TestC6ChoiceAfterCancellation(t *testing.T) {
	s := newScreen(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := s.chooses(ctx, deploy)
	s.await("answer> ", 1)
	cancel()
	if got := s.choice(done); !errors.Is(got.err, context.Canceled) || got.option != "" {
		t.Fatalf("%+v", got)
	}
	s.types("1\n")
	s.await("ended unanswered", 1)
	next := s.chooses(t.Context(), deploy)
	s.await("answer> ", 2)
	s.types("2\n")
	if got := s.choice(next); got.option != "later" {
		t.Errorf("the next question got %+v", got)
	}
}

// C9: an agent's question has no line that air's own question for permission could have.
func TestC9AgentImitatesPrompt(t *testing.T) {
	fake := "\nair: fs.read asks for permission\r\n  read      | docs/x\n  o = once\nchoice> " + strings.Repeat(" ", 200) + "air: shell.run asks for permission"
	real, _, err := render(questionAbout(t, "old"), 80)
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]bool{}
	for _, line := range strings.Split(real, "\n") {
		if line != "" {
			own[line] = true
		}
	}
	for _, columns := range []int{0, 40, 80, 200} {
		text, err := renderChoice(AgentQuestion{Subject: fake, Risk: "low", Reason: fake, Options: []string{fake, "o = once"}, Default: fake}, columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			label, words, quoted := strings.Cut(line, "> ")
			if own[line] || strings.Contains(label, "|") {
				t.Errorf("%d columns: a line as of air's own question: %q", columns, line)
			}
			if quoted && len(label) != 12 {
				t.Errorf("%d columns: the mark is not where it belongs: %q", columns, line)
			}
			if !quoted && strings.Contains(line, "permission") && !strings.HasPrefix(line, "no answer to this permits anything: ") {
				t.Errorf("%d columns: words of the agent without a mark: %q", columns, line)
			}
			if quoted && len(words) > max(16, min(80, columns)) && columns > 0 {
				t.Errorf("%d columns: a line of %d: %q", columns, len(words), line)
			}
		}
	}
}

func TestLongAgentQuestion(t *testing.T) {
	long := deploy
	long.Reason = strings.Repeat("\u200b\u200c", 500)
	s := newScreen(t)
	if _, err := s.Choose(t.Context(), long); !fault.Is(err, fault.ApprovalRequired) {
		t.Errorf("%v", err)
	}
	if shown := s.shown(); shown != "" {
		t.Errorf("%.200s", shown)
	}
}

// C10: an agent's questions use up the same patience as air's own, whichever way a
// person says no.
func TestC10AgentAsksOn(t *testing.T) {
	s := newScreen(t)
	file := t.TempDir() + "/refusals"
	s.Refusals = counter.In(file)
	no := deploy
	no.Options = []string{"yes", "No"}
	for i := range 100 {
		q, typed := deploy, "d\n"
		if i%2 == 1 {
			q, typed = no, "2\n"
		}
		done := s.chooses(t.Context(), q)
		if i < maxRefusals {
			s.await("answer> ", i+1)
			s.types(typed)
		}
		got := s.choice(done)
		denied, unasked := fault.Is(got.err, fault.PermissionDenied), fault.Is(got.err, fault.ApprovalRequired)
		if unasked != (i >= maxRefusals) || !unasked && denied != (i%2 == 0) || !unasked && !denied && got.option != "No" {
			t.Fatalf("%d: %+v", i, got)
		}
	}
	if asked := strings.Count(s.shown(), "answer> "); asked != maxRefusals {
		t.Errorf("asked %d times, want %d", asked, maxRefusals)
	}
	if r := s.answer(s.asks(t.Context(), questionAbout(t, "old"))); !fault.Is(r.err, fault.ApprovalRequired) {
		t.Errorf("a question for permission after that: %+v", r)
	}
}

// C12, for an agent's question.
func TestC12TypedBeforeTheChoice(t *testing.T) {
	s := newScreen(t)
	s.types("1\n1\n\n")
	time.Sleep(50 * time.Millisecond)
	done := s.chooses(t.Context(), deploy)
	s.await("answer> ", 1)
	select {
	case got := <-done:
		t.Fatalf("answered by what was typed before: %+v", got)
	case <-time.After(200 * time.Millisecond):
	}
	s.types("2\n")
	if got := s.choice(done); got.option != "later" {
		t.Errorf("%+v", got)
	}
}
