package event

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
)

// TestMain lets a test start this binary again as another process that uses a store.
func TestMain(m *testing.M) {
	work := map[string]func(dir string) error{"append50": append50, "append for ever": appendForEver, "append until full": appendUntilFull}
	role, dir := os.Getenv("AIR_EVENT_ROLE"), os.Getenv("AIR_EVENT_DIR")
	if role == "" {
		os.Exit(m.Run())
	}
	if err := work[role](dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func process(t testing.TB, role, dir string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "AIR_EVENT_ROLE="+role, "AIR_EVENT_DIR="+dir)
	c.Stderr = os.Stderr
	return c
}

func append50(dir string) error {
	s, err := openIn(dir, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	for i := range 50 {
		if _, err := s.Append(ctx, started(i)); err != nil {
			return err
		}
	}
	return nil
}

// appendForEver writes a line for each event that is stored.
func appendForEver(dir string) error {
	s, err := openIn(dir, Options{})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		if _, err := s.Append(ctx, started(i)); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString("."); err != nil {
			return err
		}
	}
}

// appendUntilFull lives with files of at most 256 KiB, then without that limit.
func appendUntilFull(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := openIn(dir, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 256 << 10, Max: old.Max}); err != nil {
		return err
	}
	stored, err := fill(s)
	if !fault.Is(err, fault.ResourceExhausted) || fault.From(err).Code != "disk_full" || fault.From(err).Hint == "" {
		return fmt.Errorf("got %v, want a resource_exhausted error with a hint", err)
	}
	if err := whole(s, stored); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if _, err := s.Append(ctx, started(0)); err != nil {
		return fmt.Errorf("with space again: %w", err)
	}
	return whole(s, stored+1)
}

func fill(s *Store) (stored int, err error) {
	payload, err := json.Marshal(map[string]string{"text": strings.Repeat("x", 10_000)})
	if err != nil {
		return 0, err
	}
	for stored < 1000 {
		if _, err := s.Append(ctx, Event{Type: ToolStarted, Payload: payload}); err != nil {
			return stored, err
		}
		stored++
	}
	return stored, nil
}

func whole(s *Store, events int) error {
	r, err := s.Verify(ctx)
	if err != nil {
		return err
	}
	if len(r.Problems) > 0 || r.Events != events {
		return fmt.Errorf("%d events, want %d; problems: %q", r.Events, events, r.Problems)
	}
	return nil
}

// openIn opens the store that tests keep in a folder, laid out as in ~/.air.
func openIn(dir string, o Options) (*Store, error) {
	key, err := LoadKey(filepath.Join(dir, "keys"))
	if err != nil {
		return nil, err
	}
	o.HeadDir = filepath.Join(dir, "keys", "heads")
	return Open(filepath.Join(dir, "session", "session.db"), key, o)
}

func open(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := openIn(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func mustAppend(t testing.TB, s *Store, e Event) Event {
	t.Helper()
	e, err := s.Append(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// started is a tool.started with a payload of its own.
func started(n int) Event {
	return Event{Type: ToolStarted, Source: Source{Kind: "tool", ID: "fs.read"}, Payload: fmt.Appendf(nil, `{"n":%d,"run_id":"run-%d"}`, n, n%2)}
}

func at(second int) func() time.Time {
	return func() time.Time {
		return time.Date(2026, 1, 2, 3, 4, second, 0, time.FixedZone("", 3600))
	}
}
