package permission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aircoding/air/internal/fault"
)

// maxRefusals is how often a person is asked in a session that they keep refusing.
const maxRefusals = 5

var _ Approver = (*Terminal)(nil)

// Approve shows a question and waits for the answer. What was typed before the
// question was on the screen does not count, nor what comes after ctx has ended.
func (t *Terminal) Approve(ctx context.Context, q Question) (Answer, error) {
	release, err := t.take(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer release()
	if err := t.refusedEnough(ctx); err != nil {
		return Answer{}, err
	}
	answer, err := t.ask(ctx, q)
	if err == nil && answer.Choice == Refuse {
		_, err = t.Refusals(ctx, 1)
	}
	return answer, err
}

// refusedEnough is the error of a question that is not asked: the person refused as many
// in the session as they are asked to.
func (t *Terminal) refusedEnough(ctx context.Context) error {
	count, err := t.Refusals(ctx, 0)
	if err != nil || count < maxRefusals {
		return err
	}
	return fault.New(fault.ApprovalRequired, "refused_enough", "%d questions were refused in this session, so no more are asked", maxRefusals).
		WithHint("do not work around this; a person sees what waits with air permission pending, and is asked again in a session that they begin")
}

// Confirm asks a yes or no question. Anything but yes is no.
func (t *Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	release, err := t.take(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if err := t.print(ctx, "\nair: "+Printable(question)+"\n"); err != nil {
		return false, err
	}
	line, err := t.prompt(ctx, "yes or no> ")
	if err != nil {
		return false, t.ended(err)
	}
	word := strings.ToLower(strings.TrimSpace(line))
	return word == "y" || word == "yes", nil
}

const maxTries = 3

func (t *Terminal) ask(ctx context.Context, q Question) (Answer, error) {
	text, q, err := render(q, t.columns())
	if err != nil {
		return Answer{}, err
	}
	if err := t.print(ctx, text); err != nil {
		return Answer{}, err
	}
	for range maxTries {
		line, err := t.prompt(ctx, "choice> ")
		if err != nil {
			return Answer{}, t.ended(err)
		}
		if answer, ok := parseAnswer(line, q); ok {
			return answer, nil
		}
		if err := t.print(ctx, "air: type the letter of one of the answers above\n"); err != nil {
			return Answer{}, err
		}
	}
	return Answer{Choice: Refuse, Note: "no answer that was offered"}, nil
}

// prompt reads the line that is typed after the prompt has been shown.
func (t *Terminal) prompt(ctx context.Context, text string) (string, error) {
	if err := t.invite(ctx, text); err != nil {
		return "", err
	}
	line, err := t.line(ctx)
	if errors.Is(err, io.EOF) {
		return "deny", nil
	}
	return line, err
}

// invite shows a prompt, before which nothing that was typed counts.
func (t *Terminal) invite(ctx context.Context, text string) error {
	if err := flushInput(t.fd); err != nil {
		return noTerminal(fmt.Sprintf("discarding what was typed before: %v", err))
	}
	return t.print(ctx, text)
}

// ended tells the person that their answer would come too late.
func (t *Terminal) ended(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = t.print(ctx, "\nair: the question has ended unanswered\n") // the device may be gone too
	return errors.Join(err, flushInput(t.fd))
}

// parseAnswer takes only the choices that were offered.
func parseAnswer(line string, q Question) (Answer, bool) {
	word, note, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch strings.ToLower(word) {
	case "o", "once":
		return Answer{Choice: Once}, true
	case "h", "host", "hosts":
		return Answer{Choice: AnyHost}, q.AnyHost
	case "s", "session":
		return Answer{Choice: Session}, !q.OnceOnly
	case "p", "project":
		return Answer{Choice: Project}, len(q.Rules) > 0
	case "d", "deny", "n", "no":
		return Answer{Choice: Refuse, Note: strings.TrimSpace(note)}, true
	}
	return Answer{}, false
}
