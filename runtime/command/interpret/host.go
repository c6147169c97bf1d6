package interpret

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/permission"
)

// Host is the end of the conversation that decides.
type Host struct {
	Text  string        // the command line
	Place command.Place // where it runs
	// Decide answers for the effects of one program or file; nil means that they may be.
	Decide func(ctx context.Context, effects []permission.Effect) error
}

// Serve tells the interpreter what to run, and answers its questions until it has ended. The
// error is the first refusal.
func (h Host) Serve(ctx context.Context, conn net.Conn) error {
	out, in := gob.NewEncoder(conn), gob.NewDecoder(conn)
	if err := out.Encode(start{h.Text}); err != nil {
		return fmt.Errorf("telling the shell what to run: %w", err)
	}
	var refusal error
	for {
		var q question
		if err := in.Decode(&q); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
				return refusal
			}
			return errors.Join(refusal, fmt.Errorf("listening to the shell: %w", err))
		}
		var a answer
		if err := h.decide(ctx, q); err != nil {
			a.Refused = err.Error()
			if refusal == nil {
				refusal = err
			}
		}
		if err := out.Encode(a); err != nil {
			return errors.Join(refusal, fmt.Errorf("answering the shell: %w", err))
		}
	}
}

func (h Host) decide(ctx context.Context, q question) error {
	effects, err := h.effects(q)
	if err != nil {
		return err
	}
	return h.Decide(ctx, effects)
}

// effects are those of a question, by the words that it has.
func (h Host) effects(q question) (effects []permission.Effect, err error) {
	if len(q.Argv) == 0 {
		if q.Reading {
			effects = append(effects, permission.Effect{Kind: permission.Read, Target: q.Path})
		}
		if q.Writing {
			effects = append(effects, permission.Effect{Kind: permission.Write, Target: q.Path})
		}
		return effects, nil
	}
	line, err := quoted(q)
	if err != nil {
		return nil, err
	}
	at := h.Place
	at.Dir = q.Dir
	return command.Analyse(line, at)
}

// quoted is the program with its arguments as a command line that says exactly that.
func quoted(q question) (string, error) {
	line := ""
	for _, pair := range q.Assign {
		name, value, _ := strings.Cut(pair, "=")
		value, err := syntax.Quote(value, syntax.LangBash)
		if err != nil {
			return "", err
		}
		line += name + "=" + value + " "
	}
	for i, word := range q.Argv {
		text, err := syntax.Quote(word, syntax.LangBash)
		if err != nil {
			return "", err
		}
		if i > 0 {
			line += " "
		}
		line += text
	}
	return line, nil
}
