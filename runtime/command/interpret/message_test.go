package interpret

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/permission"
)

// TestHostilePeer: a broken or hostile interpreter neither hangs the host nor makes it
// hold more than a message may have.
func TestHostilePeer(t *testing.T) {
	frame := func(size uint32, text string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, size), text...)
	}
	for name, sent := range map[string][]byte{
		"a length beyond the limit": frame(1<<32-1, ""),
		"no JSON":                   frame(4, "nope"),
		"another type":              frame(12, `{"Argv": 17}`),
		"deep nesting":              frame(200_000, strings.Repeat("[", 200_000)),
		"a message that ends early": frame(100, "{"),
		"half a length":             {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			ours.SetDeadline(time.Now().Add(10 * time.Second))
			go func() {
				io.ReadFull(theirs, make([]byte, 4))
				go io.Copy(io.Discard, theirs)
				theirs.Write(sent)
				theirs.Close()
			}()
			err := Host{Text: "ls", Place: command.Place{Dir: "/p", Root: "/p"}, Decide: func(context.Context, []permission.Effect) error {
				t.Error("something was decided")
				return nil
			}}.Serve(t.Context(), ours)
			if err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestContextEnds: a silent interpreter is left when the context ends.
func TestContextEnds(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	go io.Copy(io.Discard, theirs)
	started := time.Now()
	if err := (Host{Text: "ls", Place: command.Place{Dir: "/p"}}).Serve(ctx, ours); err != nil || time.Since(started) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(started))
	}
}

// TestAfterRefusal: who goes on asking after a refusal gets no other answer.
func TestAfterRefusal(t *testing.T) {
	ours, theirs := net.Pipe()
	decided, no := 0, errors.New("no")
	served := make(chan error, 1)
	go func() {
		served <- Host{Text: "ls", Place: command.Place{Dir: "/p"}, Decide: func(context.Context, []permission.Effect) error { decided++; return no }}.Serve(t.Context(), ours)
	}()
	var s start
	if err := receive(theirs, &s, maxStart); err != nil || s.Text != "ls" {
		t.Fatalf("%+v, %v", s, err)
	}
	for range 3 {
		if err := send(theirs, question{Dir: []byte("/p"), Argv: bytesOf([]string{"ls"})}, maxQuestion); err != nil {
			t.Fatal(err)
		}
		var a answer
		if err := receive(theirs, &a, maxAnswer); err != nil || a.Refused != "no" {
			t.Errorf("%+v, %v", a, err)
		}
	}
	theirs.Close()
	if err := <-served; err != no || decided != 1 {
		t.Errorf("%v after %d decisions", err, decided)
	}
}

// TestBounded: words that no message holds are not sent, what no system starts is not asked
// about, and a variable does not fill the memory.
func TestBounded(t *testing.T) {
	var b bytes.Buffer
	if err := send(&b, question{Argv: [][]byte{make([]byte, maxQuestion)}}, maxQuestion); err == nil || b.Len() > 0 {
		t.Errorf("%v, %d bytes were sent", err, b.Len())
	}
	o := interpreted(t, place(t), `cat $(seq 1 900000)`, allow)
	if o.code != 126 || o.err != nil || !strings.Contains(o.stderr, "cat: Argument list too long") {
		t.Errorf("%d %v %.200s", o.code, o.err, o.stderr)
	}
	o = interpreted(t, place(t), `X=aaaaaaaaaaaaaaaa; while :; do X=$X$X; done`, allow)
	if o.code != exitFailed || !strings.Contains(o.stderr, "in its variables") {
		t.Errorf("%d %v %.200s", o.code, o.err, o.stderr)
	}
}

func FuzzReceive(f *testing.F) {
	var b bytes.Buffer
	if err := send(&b, question{Dir: []byte("/p"), Argv: bytesOf([]string{"ls", "\xff"})}, maxQuestion); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, sent []byte) {
		var q question
		if receive(bytes.NewReader(sent), &q, maxQuestion) != nil {
			return
		}
		if len(q.Argv) > 0 {
			_, _ = Host{Place: command.Place{Dir: "/p", Root: "/p"}}.effects(&command.Line{}, q)
		}
	})
}

// BenchmarkTrue is the whole of a command line that does nothing, from the start of the
// process on.
func BenchmarkTrue(b *testing.B) {
	for b.Loop() {
		if o := interpreted(b, command.Place{Dir: "/", Root: "/", Home: "/"}, "true", allow); o.code != 0 {
			b.Fatal(o)
		}
	}
}
