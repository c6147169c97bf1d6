package permission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

// commands is the question about the effects of a command line, as the engine puts it.
func commands(t *testing.T, effects ...Effect) Question {
	t.Helper()
	p := newPlace(t)
	e := p.engine("")
	for i := range effects {
		if effects[i].Kind.IsPath() {
			resolved, err := p.paths.Resolve(effects[i])
			if err != nil {
				t.Fatal(err)
			}
			effects[i] = resolved
		}
	}
	r := request("shell.run", nil, effects...)
	var asks []Decision
	for _, d := range e.Decide(r) {
		if d.Verdict == Ask {
			asks = append(asks, d)
		}
	}
	return e.Question(r, asks)
}

func rendered(t *testing.T, q Question, columns int) (string, Question) {
	t.Helper()
	text, left, err := render(q, columns)
	if err != nil {
		t.Fatal(err)
	}
	return text, left
}

func TestCommandPrompt(t *testing.T) {
	digest := strings.Repeat("0123456789abcdef", 4)
	q := commands(t,
		Effect{Kind: Read, Target: "sub", Folder: true},
		Effect{Kind: Run, Target: "go test ./...", Risk: RiskWorkspace, Why: "runs the project's code"},
		Effect{Kind: Run, Target: "rm -rf 'a b'", Risk: RiskDestructive, Why: "deletes for good"},
		Effect{Kind: Run, Target: "rm -rf c", Risk: RiskDestructive, Why: "deletes for good"},
		Effect{Kind: Run, Target: "git -C x push", Also: "git push", Risk: RiskNetwork, Why: "talks to a remote"},
		Effect{Kind: Run, Target: "./x.sh", Script: "./x.sh", ScriptSHA256: digest, Risk: RiskOpaque, Why: "a script"},
		Effect{Kind: Net, Target: "https://example.com:443"},
		Effect{Kind: Env, Target: "LD_PRELOAD"},
		Effect{Kind: Secret, Target: "token"},
	)
	text, left := rendered(t, q, 80)
	if !slices.Equal(left.Rules, q.Rules) || left.OnceOnly {
		t.Errorf("a short question lost answers: %+v", left)
	}
	at := 0
	for _, want := range []string{
		"\nair: shell.run asks for permission\n",
		"  run       | rm -rf 'a b'\n  run       | rm -rf c\n  risk      | destructive\n  why       | deletes for good\n  rule      | default: run\n",
		"  run       | git -C x push\n  that is   | git push\n  risk      | network\n  why       | talks to a remote\n",
		"  run       | ./x.sh\n  script    | ./x.sh\n  sha256    | 0123456789abcdef…\n  risk      | opaque\n",
		"  net       | https://example.com:443\n",
		"  env       | LD_PRELOAD\n",
		"  secret    | token\n",
		"  besides   | 2 that need no question\n",
		"  folder    | ",
		"  called by | you or your agent\n  project   | ",
		"  o = once\n  s = for this session\n",
		"  d [why] = deny, with a word to the agent\n",
	} {
		found := strings.Index(text[at:], want)
		if found < 0 {
			t.Fatalf("%q is not shown, or not in this order, in:\n%s", want, text)
		}
		at += found + len(want) - 1
	}
	if strings.Contains(text, "go test") {
		t.Errorf("what needs no question is shown:\n%s", text)
	}
}

// What is decided as the same is told once; what is asked about is never left out.
func TestThousandCommands(t *testing.T) {
	var effects []Effect
	for i := range 1000 {
		e := Effect{Kind: Run, Target: fmt.Sprintf("echo %d", i), Risk: RiskReadOnly}
		if i%100 == 99 {
			e = Effect{Kind: Run, Target: fmt.Sprintf("rm -rf %d", i), Risk: RiskDestructive, Why: "deletes for good"}
		}
		effects = append(effects, e)
	}
	q := commands(t, effects...)
	text, left := rendered(t, q, 80)
	if got := strings.Count(text, "rm -rf"); got != 20 { // ten asks, and the ten rules of "project"
		t.Errorf("%d of 20 are shown:\n%s", got, text)
	}
	if !strings.Contains(text, "  besides   | 990 that need no question\n") || len(left.Rules) != 10 {
		t.Errorf("%d rules in:\n%s", len(left.Rules), text)
	}
	if strings.Index(text, "rm -rf 999") > strings.Index(text, "besides") {
		t.Error("what is asked about does not come first")
	}
}

func TestMoreThanAScreen(t *testing.T) {
	asks := func(n int) Question {
		var effects []Effect
		for i := range n {
			effects = append(effects, Effect{Kind: Run, Target: fmt.Sprintf("rm -rf %d", i), Risk: RiskDestructive, Why: "deletes for good"})
		}
		return commands(t, effects...)
	}
	text, left := rendered(t, asks(maxScreen-3), 80) // three lines say why
	if left.OnceOnly || len(left.Rules) == 0 || strings.Contains(text, "long ") {
		t.Errorf("%+v", left)
	}
	text, left = rendered(t, asks(200), 80)
	if !left.OnceOnly || len(left.Rules) > 0 || strings.Count(text, "rm -rf") != 200 {
		t.Errorf("%d of 200 are shown; once only: %v; %d rules", strings.Count(text, "rm -rf"), left.OnceOnly, len(left.Rules))
	}
	end := text[strings.LastIndex(text, "rm -rf"):]
	if !strings.Contains(end, "203 lines are asked about above") || strings.Contains(text, "  s = ") || strings.Contains(text, "  p = ") {
		t.Errorf("%s", end)
	}
	for _, typed := range []string{"s", "p"} {
		if answer, ok := parseAnswer(typed, left); ok {
			t.Errorf("%s: %+v", typed, answer)
		}
	}
	if _, _, err := render(asks(maxShown), 80); !fault.Is(err, fault.ApprovalRequired) {
		t.Errorf("%d commands: %v", maxShown, err)
	}
	word := commands(t, Effect{Kind: Run, Target: "rm -rf " + strings.Repeat("x", 100_000), Risk: RiskDestructive, Why: "deletes for good"})
	if _, _, err := render(word, 80); !fault.Is(err, fault.ApprovalRequired) {
		t.Errorf("a word of 100,000 letters: %v", err)
	}
}

// C3: padding, marks, very long words, wide characters.
func TestC3PaddingAndMarks(t *testing.T) {
	for _, trick := range []string{
		strings.Repeat("x", 3000),
		"x" + strings.Repeat(" ", 500) + "x",
		strings.Repeat("世界", 500),
		strings.Repeat("👩‍💻", 200),
		strings.Repeat("e\u0301", 800),
		"ls" + strings.Repeat("\n", 100) + "air: fs.read asks for permission",
	} {
		for _, columns := range []int{40, 80, 132} {
			q := commands(t, Effect{Kind: Run, Target: JoinArgv([]string{"rm", trick}), Risk: RiskOpaque, Why: trick, Also: trick, Script: trick})
			q.Folder, q.Project = trick, trick
			text, _ := rendered(t, q, columns)
			for _, line := range strings.Split(text, "\n") {
				if head, shown, ok := strings.Cut(line, "| "); ok && len(head)+2+widest(shown) > min(columns, 80) {
					t.Errorf("%d columns: a line of %d: %q", columns, len(head)+2+widest(shown), line)
				}
			}
		}
	}
}

// widest is the most columns that a terminal gives a text.
func widest(text string) (columns int) {
	for _, r := range text {
		columns++
		if r > '~' && r != '…' {
			columns++
		}
	}
	return columns
}
