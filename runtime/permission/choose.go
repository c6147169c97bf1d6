package permission

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// AgentQuestion is a question that an agent has for its person, in the agent's words.
type AgentQuestion struct {
	ID      string   `json:"prompt_id"`
	Subject string   `json:"subject"`
	Risk    string   `json:"risk_level"` // as the agent sees it
	Reason  string   `json:"reason"`
	Options []string `json:"options"`
	Default string   `json:"default_option,omitempty"` // one of the options; "" for none
}

// Chooser puts an agent's question to a person. The answer permits nothing. A person who
// takes none of the options refuses: an error of kind permission_denied.
type Chooser interface {
	Choose(ctx context.Context, q AgentQuestion) (option string, err error)
}

var _ Chooser = (*Terminal)(nil)

// Choose shows an agent's question so that it cannot pass for one of air's own, and
// waits for the number of an option. Refusals count as those of Approve do.
func (t *Terminal) Choose(ctx context.Context, q AgentQuestion) (string, error) {
	release, err := t.take(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	if err := t.refusedEnough(ctx); err != nil {
		return "", err
	}
	option, note, err := t.choose(ctx, q)
	if err != nil {
		return "", err
	}
	if option != "" && !isRefusal(option) {
		return option, nil
	}
	if _, err := t.Refusals(ctx, 1); err != nil {
		return "", err
	}
	if option == "" {
		return "", declined(note)
	}
	return option, nil
}

func declined(note string) error {
	message := "a person took none of the options"
	if note != "" {
		message += fmt.Sprintf(": %q", shorten(Printable(note), 500))
	}
	return fault.New(fault.PermissionDenied, CodeDeniedByPerson, "%s", message).
		WithHint("do not work around this, and do not ask again for the same")
}

// choose returns the option, or "" with the person's word for none of them.
func (t *Terminal) choose(ctx context.Context, q AgentQuestion) (option, note string, err error) {
	text, err := renderChoice(q, t.columns())
	if err != nil {
		return "", "", err
	}
	if err := t.print(ctx, text); err != nil {
		return "", "", err
	}
	for range maxTries {
		line, err := t.prompt(ctx, "answer> ")
		if err != nil {
			return "", "", t.ended(err)
		}
		if option, note, ok := parseOption(line, q); ok {
			return option, note, nil
		}
	}
	return "", "no answer that was offered", nil
}

// parseOption takes the number of an option, nothing for the default, or a refusal.
func parseOption(line string, q AgentQuestion) (option, note string, ok bool) {
	word, note, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch strings.ToLower(word) {
	case "":
		return q.Default, "", q.Default != ""
	case "d", "deny", "none":
		return "", strings.TrimSpace(note), true
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > len(q.Options) || note != "" {
		return "", "", false
	}
	return q.Options[n-1], "", true
}

// isRefusal reports whether an option says no in so many words: an agent that goes on
// asking what is always answered so uses up its questions like any other.
func isRefusal(option string) bool {
	return slices.Contains([]string{"none", "deny", "no", "reject", "refuse", "cancel", "decline", "abort"}, strings.ToLower(strings.TrimSpace(option)))
}

// renderChoice lays an agent's question out: its words stand behind > and never at the
// beginning of a line, and the heading says whose they are.
func renderChoice(q AgentQuestion, columns int) (string, error) {
	p := newPage(columns, '>')
	p.line("air: your agent has a question, in its own words (behind >)")
	p.block("about", q.Subject)
	p.block("risk", q.Risk)
	p.block("reason", q.Reason)
	for i, option := range q.Options {
		p.block(strconv.Itoa(i+1), option)
	}
	p.line("type the number of an answer, or d [why] for none of them")
	if i := slices.Index(q.Options, q.Default); i >= 0 {
		p.line(fmt.Sprintf("an empty line stands for %d", i+1))
	}
	p.line("no answer to this permits anything: air asks for permissions itself")
	if len(p.lines) > maxScreen {
		return "", tooLong(len(p.lines))
	}
	return "\n" + p.String(), nil
}
