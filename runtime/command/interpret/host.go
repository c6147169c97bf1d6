package interpret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/aircoding/air/internal/text"
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

// Serve tells the interpreter what to run, and answers its questions until it has ended, or
// ctx has, with which the conversation is closed. The error is the first refusal, as Decide
// gave it; after one, nothing more may be.
func (h Host) Serve(ctx context.Context, conn net.Conn) error {
	line, err := command.Read(h.Text, h.Place)
	if err != nil {
		conn.Close()
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := send(conn, start{Text: h.Text, Root: h.Place.Root, Names: line.Names()}, maxStart); err != nil {
		return lost(ctx, fmt.Errorf("telling the shell what to run: %w", err))
	}
	var refusal error
	for {
		var q question
		if err := receive(conn, &q, maxQuestion); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && refusal == nil {
				refusal = fmt.Errorf("listening to the shell: %w", err)
			}
			conn.Close() // whoever asks on finds nobody
			return lost(ctx, refusal)
		}
		if refusal == nil {
			refusal = h.decide(ctx, line, q)
		}
		var a answer
		if refusal != nil {
			a.Refused = text.Head(refusal.Error(), maxAnswer/8)
		}
		if err := send(conn, a, maxAnswer); err != nil && refusal == nil {
			refusal = fmt.Errorf("answering the shell: %w", err)
		}
	}
}

// lost is the error of a conversation that failed: none where it was ended on purpose.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil && !isRefusal(err) {
		return nil
	}
	var r refused
	if errors.As(err, &r) {
		return r.error
	}
	return err
}

// refused marks what Decide answered.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

func isRefusal(err error) bool {
	var r refused
	return errors.As(err, &r)
}

func (h Host) decide(ctx context.Context, line *command.Line, q question) error {
	effects, err := h.effects(line, q)
	if err == nil {
		err = h.Decide(ctx, effects)
	}
	if err != nil {
		return refused{err}
	}
	return nil
}

// effects are those of a question, by the words that it has.
func (h Host) effects(line *command.Line, q question) (effects []permission.Effect, err error) {
	if len(q.Argv) == 0 {
		if q.Reading {
			effects = append(effects, permission.Effect{Kind: permission.Read, Target: string(q.Path)})
		}
		if q.Writing {
			effects = append(effects, permission.Effect{Kind: permission.Write, Target: string(q.Path)})
		}
		return effects, nil
	}
	at := h.Place
	at.Dir = string(q.Dir)
	p := command.Program{Argv: texts(q.Argv), Pipes: q.Pipes, Assign: texts(q.Assign), Unset: texts(q.Unset)}
	p.Heard = line.Heard(q.At, p.Argv)
	return command.AnalyseProgram(p, at)
}

func texts(all [][]byte) []string {
	list := make([]string, len(all))
	for i, b := range all {
		list[i] = string(b)
	}
	return list
}

func bytesOf(all []string) [][]byte {
	list := make([][]byte, len(all))
	for i, s := range all {
		list[i] = []byte(s)
	}
	return list
}
