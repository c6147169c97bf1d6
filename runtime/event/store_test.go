package event

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
)

var ctx = context.Background()

func TestAppendFillsIn(t *testing.T) {
	s := open(t, t.TempDir(), Options{SessionID: "s1", ProjectID: "p1", Clock: at(5)})
	e := mustAppend(t, s, Event{Type: ToolStarted, Source: Source{Kind: "tool", ID: "fs.read"}, Payload: json.RawMessage(`{"a": "<b>"}`)})
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"` + e.ID + `","type":"tool.started","version":1,"timestamp":"2026-01-02T02:04:05Z","session_id":"s1","project_id":"p1",` +
		`"source":{"kind":"tool","id":"fs.read"},"route":[],"payload":{"a":"\u003cb\u003e"}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if e.ID[14] != '7' {
		t.Errorf("id %s is no UUIDv7", e.ID)
	}
	stored, err := s.Get(ctx, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(stored.Payload); got != `{"a":"<b>"}` {
		t.Errorf("stored payload is %s", got)
	}
	if !stored.Timestamp.Equal(e.Timestamp) || stored.SessionID != "s1" || stored.Source != e.Source {
		t.Errorf("stored %+v, want %+v", stored, e)
	}
	other := mustAppend(t, s, Event{Type: SessionStarted, SessionID: "s2", ProjectID: "p2", Version: 3})
	if other.SessionID != "s2" || other.ProjectID != "p2" || other.Version != 3 || string(other.Payload) != `{}` {
		t.Errorf("what was given is kept, and an empty payload is an object: got %+v", other)
	}
}

func TestAppendRefuses(t *testing.T) {
	big := json.RawMessage(`"` + strings.Repeat("x", maxPayload) + `"`)
	for name, c := range map[string]struct {
		event Event
		kind  fault.Kind
		code  string
	}{
		"no type":           {event: Event{}, kind: fault.InvalidInput, code: "unknown_event"},
		"unknown type":      {event: Event{Type: "tool.exploded"}, kind: fault.InvalidInput, code: "unknown_event"},
		"ephemeral type":    {event: Event{Type: ToolProgress}, kind: fault.InvalidInput, code: "unknown_event"},
		"capability's own":  {event: Event{Type: "capability.acme.done"}, kind: fault.InvalidInput, code: "unknown_event"},
		"payload too large": {event: Event{Type: ToolStarted, Payload: big}, kind: fault.ResourceExhausted, code: "payload_size"},
		"payload no JSON":   {event: Event{Type: ToolStarted, Payload: json.RawMessage(`{"a":`)}, kind: fault.InvalidInput, code: "bad_payload"},
		"two values":        {event: Event{Type: ToolStarted, Payload: json.RawMessage(`{} {}`)}, kind: fault.InvalidInput, code: "bad_payload"},
		"payload no UTF-8":  {event: Event{Type: ToolStarted, Payload: json.RawMessage("\"\xff\"")}, kind: fault.InvalidInput, code: "bad_payload"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir(), Options{})
			_, err := s.Append(ctx, c.event)
			if !fault.Is(err, c.kind) || fault.From(err).Code != c.code {
				t.Errorf("got %v, want %s %s", err, c.kind, c.code)
			}
			if err := whole(s, 0); err != nil {
				t.Error(err)
			}
		})
	}
}

// Custom events are stored by AppendCustom alone, which stores nothing else.
func TestAppendCustom(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	for _, eventType := range []string{"capability.acme.done", "capability.acme.batch.done", ToolCompleted, CapabilityEnabled, "tool.progress", "other", ""} {
		_, custom := s.AppendCustom(ctx, Event{Type: eventType})
		if ok := strings.HasPrefix(eventType, "capability.acme."); ok != (custom == nil) {
			t.Errorf("custom %s: %v", eventType, custom)
		}
		_, builtIn := s.Append(ctx, Event{Type: eventType})
		if ok := eventType == ToolCompleted || eventType == CapabilityEnabled; ok != (builtIn == nil) {
			t.Errorf("built in %s: %v", eventType, builtIn)
		}
	}
	if err := whole(s, 4); err != nil {
		t.Error(err)
	}
}

func TestAppendLargest(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	mustAppend(t, s, Event{Type: ToolStarted, Payload: json.RawMessage(`"` + strings.Repeat("x", maxPayload-2) + `"`)})
	if err := whole(s, 1); err != nil {
		t.Error(err)
	}
}

func TestAppendCommitsWithItsChanges(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	if _, err := s.DB().Exec(`CREATE TABLE rows (n INTEGER)`); err != nil {
		t.Fatal(err)
	}
	row := func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO rows VALUES (1)`)
		return err
	}
	broken := errors.New("broken")
	if _, err := s.Append(ctx, started(1), row, func(*sql.Tx) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the change's error", err)
	}
	count(t, s, 0)
	if _, err := s.Append(ctx, started(1), row, row); err != nil {
		t.Fatal(err)
	}
	count(t, s, 2)
	if err := whole(s, 1); err != nil {
		t.Error(err)
	}
	if err := s.Change(ctx, row); err != nil {
		t.Fatal(err)
	}
	if err := s.Change(ctx, func(tx *sql.Tx) error { return errors.Join(row(tx), broken) }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the change's error", err)
	}
	count(t, s, 3)
}

func count(t *testing.T, s *Store, want int) {
	t.Helper()
	var n int
	if err := s.DB().QueryRow(`SELECT count(*) FROM rows`).Scan(&n); err != nil || n != want {
		t.Errorf("%d rows (%v), want %d", n, err, want)
	}
}

func TestAppendAfterCancel(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Append(cancelled, started(1)); fault.From(err).Kind != fault.Cancelled {
		t.Errorf("got %v, want cancelled", err)
	}
	if err := whole(s, 0); err != nil {
		t.Error(err)
	}
}

func TestList(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	var ids []string
	for i, eventType := range []string{ToolStarted, PermissionDecided, ToolCompleted, ToolStarted, ToolFailed, SessionTask} {
		e := Event{Type: eventType}
		if eventType != SessionTask {
			e.Payload = fmt.Appendf(nil, `{"run_id":"r%d"}`, i/3)
		}
		ids = append(ids, mustAppend(t, s, e).ID)
	}
	for name, c := range map[string]struct {
		query Query
		want  []int
	}{
		"all":               {Query{}, []int{0, 1, 2, 3, 4, 5}},
		"first":             {Query{Limit: 2}, []int{0, 1}},
		"newest":            {Query{Limit: 2, Newest: true}, []int{4, 5}},
		"one type":          {Query{Types: []string{ToolStarted}}, []int{0, 3}},
		"types":             {Query{Types: []string{ToolFailed, ToolStarted}}, []int{0, 3, 4}},
		"run":               {Query{RunID: "r1"}, []int{3, 4}},
		"run and type":      {Query{RunID: "r1", Types: []string{ToolStarted, ToolCompleted}}, []int{3}},
		"after":             {Query{After: ids[2]}, []int{3, 4, 5}},
		"after, newest":     {Query{After: ids[2], Newest: true, Limit: 1}, []int{5}},
		"after the last":    {Query{After: ids[5]}, nil},
		"none of such type": {Query{Types: []string{"x' OR 1=1 --"}}, nil},
		"no such run":       {Query{RunID: "r"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := s.List(ctx, c.query)
			if err != nil || list == nil {
				t.Fatalf("%v, %v", list, err)
			}
			got := []int(nil)
			for _, e := range list {
				got = append(got, slices.Index(ids, e.ID))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	for _, id := range []string{"nope", ids[0][:8]} {
		if _, err := s.List(ctx, Query{After: id}); !fault.Is(err, fault.NotFound) {
			t.Errorf("after %q: got %v, want not_found", id, err)
		}
		if _, err := s.Get(ctx, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("get %q: got %v, want not_found", id, err)
		}
	}
	if !slices.IsSorted(ids) {
		t.Errorf("ids are not in the order of the events: %v", ids)
	}
}

func TestSubscribe(t *testing.T) {
	s := open(t, t.TempDir(), Options{SessionID: "s1"})
	var seen []string
	blocked := make(chan bool)
	cancel := s.Subscribe(func(e Event) {
		<-blocked
		if e.ID == "" || e.SessionID != "s1" || e.Timestamp.IsZero() {
			t.Errorf("not filled in: %+v", e)
		}
		seen = append(seen, e.Type)
	})
	s.Publish(Event{Type: ToolProgress})
	s.Publish(Event{Type: ToolStarted}) // never happened
	s.Publish(Event{Type: "capability.acme.done"})
	mustAppend(t, s, Event{Type: ToolCompleted})
	if _, err := s.Append(ctx, Event{Type: "nope"}); err == nil {
		t.Error("nope was stored")
	}
	close(blocked) // a subscriber that waits has delayed nothing above
	cancel()
	cancel()
	mustAppend(t, s, Event{Type: ToolFailed})
	if want := []string{ToolProgress, "capability.acme.done", ToolCompleted}; !slices.Equal(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
	if err := whole(s, 2); err != nil {
		t.Error(err)
	}
}

// A guest that floods messages to a subscriber that does not read takes bounded memory,
// and what was stored reaches the subscriber all the same.
func TestSubscribeFlooded(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	seen := map[string]int{}
	blocked := make(chan bool)
	cancel := s.Subscribe(func(e Event) { <-blocked; seen[e.Type]++ })
	for range 3 * maxWaiting {
		s.Publish(Event{Type: "tool.log"})
	}
	mustAppend(t, s, Event{Type: ToolCompleted})
	close(blocked)
	cancel()
	if n := seen["tool.log"]; n < maxWaiting || n > 2*maxWaiting { // one batch taken, one waiting
		t.Errorf("%d log lines arrived", n)
	}
	if seen[ToolCompleted] != 1 {
		t.Error("the stored event did not arrive")
	}
}

func TestLoadKeyAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	keys := make([]Key, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = LoadKey(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, k := range keys {
		if k != keys[0] || k == (Key{}) {
			t.Fatal("not one key for all")
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "events.key")); err != nil || info.Mode() != 0o600 || info.Size() != 32 {
		t.Errorf("%v %v", info, err)
	}
}

func TestLoadKeyTruncated(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "events.key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(dir); !fault.Is(err, fault.Integrity) {
		t.Errorf("got %v, want an integrity error", err)
	}
}

func TestLoadKeyFromNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "events.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(dir); !errors.Is(err, regular.ErrNot) {
		t.Errorf("a pipe: got %v", err)
	}
}

func TestOpenDamaged(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, Options{}).Close()
	path := filepath.Join(dir, "session", "session.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := openIn(dir, Options{})
	if !fault.Is(err, fault.Integrity) || fault.From(err).Hint == "" || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an integrity error with a hint that names the file", err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	mustAppend(t, s, started(1))
	err := filepath.WalkDir(filepath.Join(dir), func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Whatever payload is accepted comes back as the same JSON and leaves a whole chain.
func FuzzPayload(f *testing.F) {
	for _, seed := range []string{`{}`, ` { "run_id" : 7 } `, `[1e400]`, `{"a":1,"a":2}`, `"\ud800"`, "\"\u2028<\"", `nul`, "\x00", `{"run_id":"r"}{`} {
		f.Add([]byte(seed))
	}
	s := open(f, f.TempDir(), Options{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		e, err := s.Append(ctx, Event{Type: ToolStarted, Payload: payload})
		if err != nil {
			return
		}
		var want bytes.Buffer
		if len(payload) == 0 {
			payload = []byte(`{}`)
		}
		if err := json.Compact(&want, payload); err != nil {
			t.Fatalf("stored %q, which is not JSON: %v", payload, err)
		}
		got, err := s.Get(ctx, e.ID)
		if err != nil || string(got.Payload) != want.String() {
			t.Errorf("got %s (%v), want %s", got.Payload, err, &want)
		}
		if r, err := s.Verify(ctx); err != nil || len(r.Problems) > 0 {
			t.Errorf("%q %v", r.Problems, err)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	s := open(b, b.TempDir(), Options{SessionID: "s", ProjectID: "p"})
	e := Event{Type: ToolStarted, Payload: fmt.Appendf(nil, `{"run_id":"r","input":{"bytes":300,"head":%q}}`, strings.Repeat("x", 300))}
	for b.Loop() {
		mustAppend(b, s, e)
	}
}
