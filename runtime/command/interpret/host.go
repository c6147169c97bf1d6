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
	// Apart runs a program that changes a repository, and returns its exit code. It closes
	// none of its files. An error ends the whole command line. Nil leaves all to the shell.
	Apart func(ctx context.Context, a Apart) (status int, err error)
}

// Serve tells the interpreter what to run, and answers its questions until it has ended, or
// ctx has, with which the conversation is closed. The error is the first refusal, as Decide
// gave it; after one, nothing more may be.
func (h Host) Serve(ctx context.Context, conn net.Conn) error {
	line, err := command.Read(h.Text, h.Place)
	if err != nil {
		_ = conn.Close()
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := send(conn, start{Text: h.Text, Root: h.Place.Root, Names: line.Names()}, maxStart); err != nil {
		return lost(ctx, fmt.Errorf("telling the shell what to run: %w", err))
	}
	programs, end := context.WithCancel(ctx)
	left := &aparts{run: h.Apart}
	refusal := h.converse(ctx, conn, line, func(a Apart) error { return left.take(programs, conn, a) })
	end() // nobody waits for them any more
	if failed := left.wait(); refusal == nil && ctx.Err() == nil {
		refusal = failed
	}
	return lost(ctx, refusal)
}

// converse answers questions until the shell has ended. The error is the first refusal.
func (h Host) converse(ctx context.Context, conn net.Conn, line *command.Line, take func(Apart) error) (refusal error) {
	for {
		var q question
		if err := receive(conn, &q, maxQuestion); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && refusal == nil {
				refusal = fmt.Errorf("listening to the shell: %w", err)
			}
			_ = conn.Close() // whoever asks on finds nobody
			return refusal
		}
		var effects []permission.Effect
		if refusal == nil {
			effects, refusal = h.decide(ctx, line, q)
		}
		a := answer{Apart: refusal == nil && h.Apart != nil && IsApart(effects)}
		if refusal != nil {
			a.Refused = text.Head(refusal.Error(), maxAnswer/8)
		}
		err := send(conn, a, maxAnswer)
		if err == nil && a.Apart {
			err = take(Apart{Argv: texts(q.Argv), Dir: string(q.Dir), Assign: texts(q.Assign), Unset: texts(q.Unset), Effects: effects})
		}
		if err != nil && refusal == nil {
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

func (h Host) decide(ctx context.Context, line *command.Line, q question) ([]permission.Effect, error) {
	effects, err := h.effects(line, q)
	if err == nil {
		err = h.Decide(ctx, effects)
	}
	if err == nil || ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return effects, err // where ctx has ended, nobody waits for an answer any more
	}
	return nil, refused{err}
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
		return h.Place.PathEffects(effects...), nil
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
