package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime/artifact"
	"github.com/aircoding/air/runtime/event"
)

var ctx = context.Background()

// TestMain lets a test start this binary again as another process that opens the
// current session.
func TestMain(m *testing.M) {
	dir := os.Getenv("AIR_SESSION_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	p, h := layout(dir)
	s, err := Current(ctx, p, h, Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Print(s.ID, " ", s.Task)
	os.Exit(0)
}

func layout(dir string) (home.Project, home.Home) {
	h := home.Home{Dir: dir}
	return home.Project{Root: "/somewhere", ID: "p1", Dir: h.Path("projects", "0123")}, h
}

func current(t testing.TB, dir string, o Options) *Session {
	t.Helper()
	p, h := layout(dir)
	s, err := Current(ctx, p, h, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newSession(t *testing.T, dir string) *Session {
	t.Helper()
	p, h := layout(dir)
	s, err := New(ctx, p, h, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func types(t *testing.T, s *event.Store) (list []string) {
	t.Helper()
	all, err := s.List(ctx, event.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		list = append(list, e.Type)
	}
	return list
}

func TestCurrentMakesSessionAndTask(t *testing.T) {
	dir := t.TempDir()
	s := current(t, dir, Options{})
	if !idForm.MatchString(s.ID) || !idForm.MatchString(s.Task) || time.Since(s.Started).Abs() > time.Minute {
		t.Errorf("%+v", s)
	}
	if want := filepath.Join(dir, "projects", "0123", "sessions", s.ID); s.Dir != want {
		t.Errorf("got %s, want %s", s.Dir, want)
	}
	all, err := s.Events.List(ctx, event.Query{})
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for i, want := range []struct{ eventType, payload string }{
		{event.SessionStarted, `{"session_id":"` + s.ID + `"}`},
		{event.SessionTask, `{"task_id":"` + s.Task + `","title":""}`},
	} {
		e := all[i]
		if e.Type != want.eventType || string(e.Payload) != want.payload || e.SessionID != s.ID || e.ProjectID != "p1" || e.Source.Kind != "runtime" {
			t.Errorf("got %+v, want %v", e, want)
		}
	}
	again := current(t, dir, Options{})
	if again.ID != s.ID || again.Task != s.Task || !again.Started.Equal(s.Started) {
		t.Errorf("got %+v, want %+v", again, s)
	}
	if got := types(t, again.Events); len(got) != 2 {
		t.Errorf("opening recorded something: %v", got)
	}
}

func TestCurrentFile(t *testing.T) {
	dir := t.TempDir()
	s := current(t, dir, Options{})
	path := filepath.Join(dir, "projects", "0123", "state", "current.json")
	text, err := os.ReadFile(path)
	if want := `{"schema_version":1,"session_id":"` + s.ID + `"}` + "\n"; err != nil || string(text) != want {
		t.Errorf("got %s (%v), want %s", text, err, want)
	}
	for _, bad := range []string{"", "{", `{"schema_version":1,"session_id":"../../x"}`, `{"schema_version":1}`} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		p, h := layout(dir)
		if _, err := Current(ctx, p, h, Options{}); !fault.Is(err, fault.Integrity) || fault.From(err).Hint == "" {
			t.Errorf("%q: got %v, want an integrity error with a hint", bad, err)
		}
	}
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	p, h := layout(dir)
	if _, err := Current(ctx, p, h, Options{}); !errors.Is(err, regular.ErrNot) {
		t.Errorf("a pipe: %v", err)
	}
	if id, err := Use(ctx, p, h, s.ID); err != nil || id != s.ID {
		t.Errorf("the hint's way out: %s %v", id, err)
	}
}

// Several processes that make the first session at once get one.
func TestCurrentAtOnce(t *testing.T) {
	dir := t.TempDir()
	outputs := make([]strings.Builder, 4)
	var all []*exec.Cmd
	for i := range outputs {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "AIR_SESSION_DIR="+dir)
		c.Stdout, c.Stderr = &outputs[i], os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for i, c := range all {
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %s", err, outputs[i].String())
		}
	}
	s := current(t, dir, Options{})
	for i := range outputs {
		if got, want := outputs[i].String(), s.ID+" "+s.Task; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := types(t, s.Events); !slices.Equal(got, []string{event.SessionStarted, event.SessionTask}) {
		t.Errorf("recorded %v", got)
	}
	p, h := layout(dir)
	if list, err := List(p, h); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
}

func TestNewUseList(t *testing.T) {
	dir := t.TempDir()
	p, h := layout(dir)
	if list, err := List(p, h); err != nil || list == nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("listing made %v %v", entries, err)
	}
	first := current(t, dir, Options{})
	second := newSession(t, dir)
	if second.ID == first.ID || current(t, dir, Options{}).ID != second.ID {
		t.Error("a new session is another one and current")
	}
	list, err := List(p, h)
	want := []Summary{{first.ID, first.Started, false}, {second.ID, second.Started, true}}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("got %v (%v), want %v", list, err, want)
	}
	if id, err := Use(ctx, p, h, first.ID); err != nil || id != first.ID {
		t.Fatal(id, err)
	}
	if current(t, dir, Options{}).ID != first.ID {
		t.Error("use did not make it current")
	}
	if s := current(t, dir, Options{Session: second.ID}); s.ID != second.ID || s.Task != second.Task {
		t.Errorf("got %+v", s)
	}
	if current(t, dir, Options{}).ID != first.ID {
		t.Error("opening a session made it current")
	}
	text, err := json.Marshal(list[0])
	if want := `{"id":"` + first.ID + `","started_at":"` + first.Started.Format(time.RFC3339Nano) + `","current":false}`; err != nil || string(text) != want {
		t.Errorf("got %s (%v), want %s", text, err, want)
	}
}

func TestChooseByPrefix(t *testing.T) {
	dir := t.TempDir()
	p, h := layout(dir)
	for _, id := range []string{
		"01890000-0000-7000-8000-000000000001", "01890000-0000-7000-8000-000000000002", "02000000-0000-7000-8000-000000000000", "not-a-session",
	} {
		if err := os.MkdirAll(filepath.Join(p.Dir, "sessions", id), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		prefix, want string
		code         string
	}{
		{prefix: "02", want: "02000000-0000-7000-8000-000000000000"},
		{prefix: "01890000-0000-7000-8000-000000000001", want: "01890000-0000-7000-8000-000000000001"},
		{prefix: "0", code: "ambiguous_id"},
		{prefix: "01890000-0000-7000-8000-00000000000", code: "ambiguous_id"},
		{prefix: "03", code: "unknown_session"},
		{prefix: "", code: "unknown_session"},
		{prefix: "not", code: "unknown_session"},
		{prefix: "../sessions/02", code: "unknown_session"},
		{prefix: "%", code: "unknown_session"},
		{prefix: strings.Repeat("0", 1000), code: "unknown_session"},
	} {
		got, err := Use(ctx, p, h, c.prefix)
		if c.code != "" && (err == nil || fault.From(err).Code != c.code || fault.From(err).Hint == "") || got != c.want {
			t.Errorf("%.40q: got %s, %v; want %s %s", c.prefix, got, err, c.want, c.code)
		}
	}
	if s := current(t, dir, Options{Session: "02"}); s.ID != "02000000-0000-7000-8000-000000000000" || s.Task == "" {
		t.Errorf("a folder without a begun session is begun: %+v", s)
	}
}

func TestTasks(t *testing.T) {
	dir := t.TempDir()
	s := current(t, dir, Options{})
	first := s.Task
	second, err := s.NewTask(ctx, "second <one>")
	if err != nil || s.Task != second.ID || second.Title != "second <one>" {
		t.Fatalf("%+v %v", second, err)
	}
	tasks, err := s.Tasks(ctx)
	if err != nil || len(tasks) != 2 || tasks[0].ID != first || tasks[1] != second {
		t.Errorf("%+v %v, want %+v", tasks, err, second)
	}
	if current(t, dir, Options{}).Task != second.ID {
		t.Error("the new task is not current in another process")
	}
	if other := current(t, dir, Options{Task: first}); other.Task != first {
		t.Errorf("got task %s, want %s", other.Task, first)
	}
	if current(t, dir, Options{}).Task != second.ID {
		t.Error("choosing a task for one call made it current")
	}
	if got, err := s.UseTask(ctx, first); err != nil || got.ID != first || s.Task != first {
		t.Errorf("%+v %v", got, err)
	}
	if current(t, dir, Options{}).Task != first {
		t.Error("use did not make it current")
	}
	for _, bad := range []string{"", "x", "ffff", "%"} {
		if _, err := s.UseTask(ctx, bad); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: got %v, want not_found", bad, err)
		}
	}
	p, h := layout(dir)
	if _, err := Current(ctx, p, h, Options{Task: "ffff"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want not_found", err)
	}
	if _, err := s.NewTask(ctx, strings.Repeat("x", maxTitle+1)); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("got %v, want invalid_input", err)
	}
	if got := types(t, s.Events); !slices.Equal(got, []string{event.SessionStarted, event.SessionTask, event.SessionTask}) {
		t.Errorf("recorded %v", got)
	}
}

func TestReadsBelongToTheTask(t *testing.T) {
	dir := t.TempDir()
	s := current(t, dir, Options{})
	check := func(s *Session, path, want string) {
		t.Helper()
		if got, ok, err := s.LastRead(ctx, path); err != nil || got != want || ok != (want != "") {
			t.Errorf("%s: got %q %v %v, want %q", path, got, ok, err, want)
		}
	}
	check(s, "/p/a", "")
	for _, sum := range []string{"1111", "2222"} {
		if err := s.RecordRead(ctx, "/p/a", sum); err != nil {
			t.Fatal(err)
		}
	}
	check(s, "/p/a", "2222")
	check(s, "/p/A", "")
	check(current(t, dir, Options{}), "/p/a", "2222")
	first := s.Task
	if _, err := s.NewTask(ctx, ""); err != nil {
		t.Fatal(err)
	}
	check(s, "/p/a", "")
	if _, err := s.UseTask(ctx, first); err != nil {
		t.Fatal(err)
	}
	check(s, "/p/a", "2222")
}

func TestArtifactsBelongToTheTask(t *testing.T) {
	s := current(t, t.TempDir(), Options{})
	create := func() artifact.Record {
		t.Helper()
		r, err := s.Artifacts.Create(ctx, artifact.New{Type: "report"}, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := create(); r.TaskID != s.Task || r.SessionID != s.ID || !strings.HasPrefix(r.Path, filepath.Join(s.Dir, "artifacts")+"/") {
		t.Errorf("%+v", r)
	}
	if _, err := s.NewTask(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if r := create(); r.TaskID != s.Task {
		t.Errorf("%+v", r)
	}
}

// A database that was removed is begun again, so that work can go on, and Verify tells.
func TestRemovedDatabase(t *testing.T) {
	dir := t.TempDir()
	s := current(t, dir, Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.Dir, "session.db")); err != nil {
		t.Fatal(err)
	}
	again := current(t, dir, Options{})
	if again.ID != s.ID || again.Task == "" || again.Task == s.Task {
		t.Errorf("%+v", again)
	}
	r, err := again.Events.Verify(ctx)
	if err != nil || len(r.Problems) != 1 || r.Problems[0] != "events 1 to 2 are missing before event 3" {
		t.Errorf("%q %v", r.Problems, err)
	}
}

// A session whose folder was removed is not current any more.
func TestRemovedSession(t *testing.T) {
	dir := t.TempDir()
	s := current(t, dir, Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	if again := current(t, dir, Options{}); again.ID == s.ID {
		t.Error("a removed session came back")
	}
}

func TestCreateLeavesNothingHalf(t *testing.T) {
	dir := t.TempDir()
	p, h := layout(dir)
	if err := os.MkdirAll(filepath.Join(p.Dir, "state", "current.json"), 0o700); err != nil { // nothing can be written there
		t.Fatal(err)
	}
	if _, err := New(ctx, p, h, Options{}); err == nil {
		t.Fatal("created")
	}
	if list, err := os.ReadDir(filepath.Join(p.Dir, "sessions")); err != nil || len(list) != 0 {
		t.Errorf("left %v %v", list, err)
	}
}

func TestProjectEvents(t *testing.T) {
	p, h := layout(t.TempDir())
	s, err := ProjectEvents(p, h, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := s.Append(ctx, event.Event{Type: event.CapabilityEnabled})
	if err != nil || e.SessionID != "" || e.ProjectID != "p1" {
		t.Errorf("%+v %v", e, err)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "events.db")); err != nil {
		t.Error(err)
	}
}

func TestClock(t *testing.T) {
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := current(t, t.TempDir(), Options{Clock: func() time.Time { return then }})
	all, err := s.Events.List(ctx, event.Query{})
	if err != nil || !all[0].Timestamp.Equal(then) {
		t.Errorf("%v %v", all, err)
	}
}

// What every call pays before anything else: opening an existing session, and closing it.
func BenchmarkOpenSession(b *testing.B) {
	dir := b.TempDir()
	p, h := layout(dir)
	s, err := Current(ctx, p, h, Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Current(ctx, p, h, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
