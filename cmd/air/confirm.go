package main

import (
	"context"
	"errors"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// confirm asks a yes or no question on the terminal, unless yes was said on the
// command line. Without a person it is an error.
func (a *app) confirm(ctx context.Context, question string, yes bool) (err error) {
	if yes {
		return nil
	}
	t, err := a.openTerminal()
	if err != nil {
		return notAsked()
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	agreed, err := t.Confirm(ctx, question)
	if err == nil && !agreed {
		err = fault.New(fault.Cancelled, "refused", "not done: the answer was no")
	}
	return err
}

// openTerminal opens the person's terminal, unless they are not to be asked.
func (a *app) openTerminal() (*permission.Terminal, error) {
	if a.flags.noPrompt || !isTerminal(a.stderr) {
		return nil, notAsked()
	}
	return permission.OpenTerminal()
}

func notAsked() error {
	return fault.New(fault.ApprovalRequired, "no_terminal", "this needs a person's consent, and there is no terminal to ask on").
		WithHint("--yes accepts what is shown")
}
