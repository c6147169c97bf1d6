package main

import (
	"context"
	"encoding/json"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// confirm asks a yes or no question on the terminal, unless yes was said on the
// command line. Without a person it is an error.
func (a *app) confirm(ctx context.Context, question string, yes bool) error {
	if yes {
		return nil
	}
	if a.flags.noPrompt || !isTerminal(a.stderr) {
		return notAsked()
	}
	t, err := permission.OpenTerminal()
	if err != nil {
		return notAsked()
	}
	defer t.Close()
	agreed, err := t.Confirm(ctx, question)
	if err == nil && !agreed {
		err = fault.New(fault.Cancelled, "refused", "not done: the answer was no")
	}
	return err
}

func notAsked() error {
	return fault.New(fault.ApprovalRequired, "no_terminal", "this needs a person's consent, and there is no terminal to ask on").
		WithHint("--yes accepts what is shown")
}

// appendEvent records something that a person did.
func appendEvent(ctx context.Context, store *event.Store, eventType string, payload any) error {
	body, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	_, err = store.Append(ctx, event.Event{Type: eventType, Source: event.Source{Kind: "person"}, Payload: body})
	return err
}
