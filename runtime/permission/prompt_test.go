package permission

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/counter"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// screen is the person's side of a terminal: a real pseudo-terminal.
type screen struct {
	*testing.T
	*Terminal
	master *os.File
	device string

	mu   sync.Mutex
	text strings.Builder
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	device, err := unlockPTY(fd)
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{T: t, master: os.NewFile(uintptr(fd), "ptmx"), device: device}
	if s.Terminal, err = openTerminal(device); err != nil {
		t.Fatal(err)
	}
	go s.watch()
	t.Cleanup(func() {
		if err := errors.Join(s.Terminal.Close(), s.master.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *screen) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := s.master.Read(buffer)
		s.mu.Lock()
		s.text.Write(buffer[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until the text has been shown a number of times.
func (s *screen) await(text string, times int) {
	s.Helper()
	for range 500 {
		if strings.Count(s.shown(), text) >= times {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Fatalf("%q was not shown %d times in:\n%s", text, times, s.shown())
}

func (s *screen) types(text string) {
	s.Helper()
	if _, err := s.master.WriteString(text); err != nil {
		s.Fatal(err)
	}
}

type result struct {
	answer Answer
	err    error
}

// asks puts the question in the background.
func (s *screen) asks(ctx context.Context, q Question) <-chan result {
	done := make(chan result, 1)
	go func() {
		a, err := s.Approve(ctx, q)
		done <- result{a, err}
	}()
	return done
}

func (s *screen) answer(done <-chan result) result {
	s.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(5 * time.Second):
		s.Fatalf("no answer after:\n%s", s.shown())
		return result{}
	}
}

// questionAbout is a real question about a path, as the engine puts it.
func questionAbout(t *testing.T, path string, chain ...Caller) Question {
	p := newPlace(t)
	p.put("old", "")
	e := p.engine("")
	r := request("fs.write", chain, p.resolve(Write, path))
	return e.Question(r, e.Decide(r))
}

func TestPromptAnswers(t *testing.T) {
	q := questionAbout(t, "old")
	onceOnly := q
	onceOnly.Rules, onceOnly.OnceOnly = nil, true
	for _, c := range []struct {
		typed string
		q     Question
		want  Answer
	}{
		{"o\n", q, Answer{Choice: Once}},
		{"Session\n", q, Answer{Choice: Session}},
		{"p\n", q, Answer{Choice: Project}},
		{"d\n", q, Answer{Choice: Refuse}},
		{"d  use the staging copy \n", q, Answer{Choice: Refuse, Note: "use the staging copy"}},
		{"\x04", q, Answer{Choice: Refuse}}, // end of input
	} {
		s := newScreen(t)
		done := s.asks(t.Context(), c.q)
		s.await("choice> ", 1)
		s.types(c.typed)
		if r := s.answer(done); r.err != nil || r.answer != c.want {
			t.Errorf("%q: %+v, want %+v", c.typed, r, c.want)
		}
	}
	s := newScreen(t)
	done := s.asks(t.Context(), onceOnly) // what is not offered is no answer
	for i, typed := range []string{"s\n", "p\n", "y\n"} {
		s.await("choice> ", i+1)
		s.types(typed)
	}
	if r := s.answer(done); r.err != nil || r.answer.Choice != Refuse {
		t.Errorf("three answers that were not offered: %+v", r)
	}
}

func TestPromptShows(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - ask: read(data/**)\n    reason: ask me\n")
	p.link("data", "alias")
	p.put("data/x", "")
	r := request("fs.read", []Caller{reader()}, p.resolve(Read, "alias/x"))
	s := newScreen(t)
	done := s.asks(t.Context(), e.Question(r, e.Decide(r)))
	s.await("choice> ", 1)
	s.types("o\n")
	s.answer(done)
	flat := strings.NewReplacer("\r\n", "", "          | ", "").Replace(s.shown()) // long texts are broken
	for _, want := range []string{"fs.read", p.root + "/data/x", "project", "ask me", p.air + "/permissions.yaml:3", "csv@" + digestA, "allow: read(data/x) for csv@" + digestA} {
		if !strings.Contains(strings.ReplaceAll(flat, "  ", ""), strings.ReplaceAll(want, "  ", "")) {
			t.Errorf("%q is not shown in:\n%s", want, s.shown())
		}
	}
}

func TestC3TricksInPrompts(t *testing.T) {
	tricks := "a\x1b[2K\rsafe.txt\u202etxt.exe\u200b" + strings.Repeat(" ", 150) + "\u00a0\u3164\u2028\u0085\x07\xff end"
	q := questionAbout(t, tricks)
	if shown := q.Asks[0].Effect.Target; Printable(shown) != shown {
		t.Errorf("the question itself carries %q", shown)
	}
	q.Asks[0].Effect.Target, q.Chain = tricks, []Caller{{Capability: tricks}} // another engine may be careless
	out, _, _ := render(q, 80)
	for _, r := range out {
		if r != '\n' && (!text.Visible(r)) {
			t.Errorf("%U reaches the screen", r)
		}
	}
	if strings.Contains(out, strings.Repeat(" ", 20)) {
		t.Error("padding reaches the screen")
	}
	for _, line := range strings.Split(out, "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("a line of %d characters, which the terminal would break", len([]rune(line)))
		}
	}
}

func TestC6AnswerAfterCancellation(t *testing.T) {
	s := newScreen(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := s.asks(ctx, questionAbout(t, "old"))
	s.await("choice> ", 1)
	cancel()
	if r := s.answer(done); !errors.Is(r.err, context.Canceled) || r.answer != (Answer{}) {
		t.Fatalf("%+v", r)
	}
	s.types("p\n")
	s.await("ended unanswered", 1)
	// The late answer does not answer the next question either.
	next := s.asks(t.Context(), questionAbout(t, "old"))
	s.await("choice> ", 2)
	s.types("d\n")
	if r := s.answer(next); r.answer.Choice != Refuse {
		t.Errorf("the next question got %+v", r)
	}
}

func TestC7NobodyToAsk(t *testing.T) {
	stderr, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	old := os.Stderr
	os.Stderr = stderr
	defer func() { os.Stderr = old }()
	if _, err := OpenTerminal(); !fault.Is(err, fault.ApprovalRequired) {
		t.Errorf("with stderr in a file: %v", err)
	}
	if _, err := openTerminal("/dev/null"); !fault.Is(err, fault.ApprovalRequired) {
		t.Errorf("a device that is no terminal: %v", err)
	}
	s := newScreen(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if r := s.answer(s.asks(ctx, questionAbout(t, "old"))); !errors.Is(r.err, context.DeadlineExceeded) {
		t.Errorf("a person who never answers: %+v", r)
	}
}

func TestC9GuestImitatesPrompt(t *testing.T) {
	fake := "x\n  class     | project\nchoice> o\nair: fs.read asks for permission" + strings.Repeat("-", 60) + "choice> "
	q := questionAbout(t, fake, reader())
	var labels []string
	out, _, err := render(q, 80)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		label, _, ok := strings.Cut(line, "|")
		if ok {
			labels = append(labels, strings.TrimSpace(label))
		} else if !strings.HasPrefix(line, "  o ") && !strings.HasPrefix(line, "  s ") && !strings.HasPrefix(line, "  p ") && !strings.HasPrefix(line, "  d ") && line != "air: fs.write asks for permission" {
			t.Errorf("a line that is not ours: %q", line)
		}
	}
	if strings.Count(strings.Join(labels, " "), "class") != 1 {
		t.Errorf("labels %q", labels)
	}
}

func TestC10HundredPrompts(t *testing.T) {
	s := newScreen(t)
	file := t.TempDir() + "/refusals"
	q := questionAbout(t, "old")
	for i := range 100 {
		s.Refusals = counter.In(file) // as in a process of its own
		done := s.asks(t.Context(), q)
		if i < maxRefusals {
			s.await("choice> ", i+1)
			s.types("d\n")
		}
		if r := s.answer(done); i < maxRefusals && (r.err != nil || r.answer.Choice != Refuse) || i >= maxRefusals && !fault.Is(r.err, fault.ApprovalRequired) {
			t.Fatalf("%d: %+v", i, r)
		}
	}
	if asked := strings.Count(s.shown(), "choice> "); asked != maxRefusals {
		t.Errorf("asked %d times, want %d", asked, maxRefusals)
	}
}

func TestRefusalsCountWithoutAFile(t *testing.T) {
	s := newScreen(t)
	q := questionAbout(t, "old")
	for i := range maxRefusals + 1 {
		done := s.asks(t.Context(), q)
		if i < maxRefusals {
			s.await("choice> ", i+1)
			s.types("d\n")
		}
		if r := s.answer(done); i < maxRefusals && (r.err != nil || r.answer.Choice != Refuse) || i >= maxRefusals && !fault.Is(r.err, fault.ApprovalRequired) {
			t.Fatalf("%d: %+v", i, r)
		}
	}
}

func TestC12TypedBeforeThePrompt(t *testing.T) {
	s := newScreen(t)
	s.types("p\np\np\n")
	time.Sleep(50 * time.Millisecond)
	done := s.asks(t.Context(), questionAbout(t, "old"))
	s.await("choice> ", 1)
	select {
	case r := <-done:
		t.Fatalf("answered by what was typed before: %+v", r)
	case <-time.After(200 * time.Millisecond):
	}
	s.types("o\n")
	if r := s.answer(done); r.answer.Choice != Once {
		t.Errorf("%+v", r)
	}
}

// Two calls ask one after the other.
func TestOneQuestionAtATime(t *testing.T) {
	s := newScreen(t)
	q := questionAbout(t, "old")
	first := s.asks(t.Context(), q)
	s.await("choice> ", 1)
	ctx, cancel := context.WithCancel(t.Context())
	second := s.asks(ctx, q)
	time.Sleep(50 * time.Millisecond)
	if strings.Count(s.shown(), "asks for permission") != 1 {
		t.Error("two questions on the screen")
	}
	cancel()
	if r := s.answer(second); !errors.Is(r.err, context.Canceled) {
		t.Errorf("waiting for one's turn: %+v", r)
	}
	s.types("o\n")
	if r := s.answer(first); r.answer.Choice != Once {
		t.Errorf("%+v", r)
	}
}

func TestConfirm(t *testing.T) {
	for typed, want := range map[string]bool{"y\n": true, "Yes\n": true, "n\n": false, "\n": false, "o\n": false, "\x04": false} {
		s := newScreen(t)
		done := make(chan error, 1)
		var agreed bool
		go func() {
			var err error
			agreed, err = s.Confirm(t.Context(), "Enable it?")
			done <- err
		}()
		s.await("yes or no> ", 1)
		s.types(typed)
		if err := <-done; err != nil || agreed != want {
			t.Errorf("%q: %v, %v", typed, agreed, err)
		}
	}
}
