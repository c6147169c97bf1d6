package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
)

var ctx = context.Background()

// TestMain lets a test start this binary again as another process that makes artifacts.
func TestMain(m *testing.M) {
	work := map[string]func(dir string) error{"until full": untilFull, "for ever": forEver, "hang": hang}
	role, dir := os.Getenv("AIR_ARTIFACT_ROLE"), os.Getenv("AIR_ARTIFACT_DIR")
	if role == "" {
		os.Exit(m.Run())
	}
	if err := work[role](dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func process(role, dir string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "AIR_ARTIFACT_ROLE="+role, "AIR_ARTIFACT_DIR="+dir)
	c.Stderr = os.Stderr
	return c
}

func openIn(dir string) (*Store, error) {
	key, err := event.LoadKey(filepath.Join(dir, "keys"))
	if err != nil {
		return nil, err
	}
	events, err := event.Open(filepath.Join(dir, "s1", "session.db"), key, event.Options{SessionID: "s1", HeadDir: filepath.Join(dir, "keys", "heads")})
	if err != nil {
		return nil, err
	}
	s, err := Open(filepath.Join(dir, "s1", "artifacts"), "s1", events)
	if err != nil {
		return nil, err
	}
	return s.ForTask("t1"), nil
}

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.events.Close() })
	return s
}

func create(t testing.TB, s *Store, n New, content string) Record {
	t.Helper()
	r, err := s.Create(ctx, n, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// files lists what lies below the artifacts, relative to them.
func files(dir string) (list []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	return list, err
}

func noneStored(t *testing.T, s *Store) {
	t.Helper()
	if err := stored(s, 0); err != nil {
		t.Error(err)
	}
}

// stored checks that there are n artifacts: files, records and events.
func stored(s *Store, n int) error {
	list, err := files(s.dir)
	if err != nil || len(list) != n {
		return fmt.Errorf("files %v (%v), want %d", list, err, n)
	}
	records, err := s.List(ctx)
	if err != nil || len(records) != n {
		return fmt.Errorf("records %v (%v), want %d", records, err, n)
	}
	events, err := s.events.List(ctx, event.Query{Types: []string{event.ArtifactCreated}})
	if err != nil || len(events) != n {
		return fmt.Errorf("events %v (%v), want %d", events, err, n)
	}
	report, err := s.events.Verify(ctx)
	if err != nil || len(report.Problems) > 0 {
		return fmt.Errorf("%q %w", report.Problems, err)
	}
	return nil
}

func TestCreate(t *testing.T) {
	s := open(t, t.TempDir())
	r := create(t, s, New{
		Type: "report", Name: "sum.JSON", MediaType: "application/json", RunID: "r1", Owner: Owner{"acme", "sha256:1"}, EntityType: "file", EntityID: "a.csv",
		Metadata: json.RawMessage(`{"rows":3}`),
	}, "[1,2,3]")
	sum := sha256.Sum256([]byte("[1,2,3]"))
	want := Record{
		ID: r.ID, SessionID: "s1", TaskID: "t1", RunID: "r1", Owner: Owner{"acme", "sha256:1"}, Type: "report", Name: "sum.JSON", MediaType: "application/json",
		SHA256: hex.EncodeToString(sum[:]), Size: 7, URI: "air://s1/" + r.ID, Path: filepath.Join(s.dir, "report", r.ID+".json"),
		CreatedAt: r.CreatedAt, EntityType: "file", EntityID: "a.csv", Metadata: json.RawMessage(`{"rows":3}`),
	}
	same(t, r, want)
	if !idForm.MatchString(r.ID) || time.Since(r.CreatedAt) > time.Minute {
		t.Errorf("id %s, made %v", r.ID, r.CreatedAt)
	}
	got, err := s.Get(ctx, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
	content, err := s.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	if text, err := io.ReadAll(content); err != nil || string(text) != "[1,2,3]" {
		t.Errorf("%s %v", text, err)
	}
	if info, err := os.Stat(r.Path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if err := stored(s, 1); err != nil {
		t.Error(err)
	}
}

func same(t *testing.T, got, want Record) {
	t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if !bytes.Equal(g, w) {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

func TestCreatedEvent(t *testing.T) {
	s := open(t, t.TempDir())
	r := create(t, s, New{Type: "report", Name: "a.txt", RunID: "r1", Owner: Owner{"acme", "sha256:1"}, Metadata: json.RawMessage(`{"secret":"guest's words"}`)}, "abc")
	own := create(t, s, New{Type: "output"}, "")
	list, err := s.events.List(ctx, event.Query{})
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	want := `{"artifact_id":"` + r.ID + `","type":"report","name":"a.txt","sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",` +
		`"size_bytes":3,"uri":"air://s1/` + r.ID + `","owner":"acme","owner_digest":"sha256:1","task_id":"t1","run_id":"r1"}`
	if string(list[0].Payload) != want || list[0].Source != (event.Source{Kind: "capability", ID: "acme"}) {
		t.Errorf("got  %s %v\nwant %s", list[0].Payload, list[0].Source, want)
	}
	if list[1].Source.Kind != "runtime" || own.Size != 0 {
		t.Errorf("%+v %+v", list[1], own)
	}
	byRun, err := s.events.List(ctx, event.Query{RunID: "r1"})
	if err != nil || len(byRun) != 1 {
		t.Errorf("events of the run: %v %v", byRun, err)
	}
}

func TestIdenticalBytesAreKeptOnce(t *testing.T) {
	s := open(t, t.TempDir())
	first := create(t, s, New{Type: "report", Name: "a.txt"}, "same")
	second := create(t, s, New{Type: "log", Name: "b.md"}, "same")
	if second.Path != first.Path || second.ID == first.ID || second.Type != "log" {
		t.Errorf("%+v\n%+v", first, second)
	}
	if list, err := files(s.dir); err != nil || len(list) != 1 {
		t.Errorf("files %v %v", list, err)
	}
	if got, err := s.Get(ctx, second.ID); err != nil || got.Path != first.Path {
		t.Errorf("%+v %v", got, err)
	}
	if err := os.Remove(first.Path); err != nil {
		t.Fatal(err)
	}
	third := create(t, s, New{Type: "report"}, "same")
	if _, err := s.Open(third); err != nil {
		t.Errorf("a record was pointed at a file that is gone: %v", err)
	}
}

func TestExtension(t *testing.T) {
	for _, c := range []struct{ name, mediaType, want string }{
		{"a.CSV", "", ".csv"},
		{"a.tar.gz", "", ".gz"},
		{"a./../../x", "", ".bin"},
		{"a.b/c", "text/html; charset=utf-8", ".html"},
		{"a.averylongone", "application/json", ".json"},
		{"a.t\u00e9", "text/x-log", ".txt"},
		{"", "image/png", ".png"},
		{".hidden", "", ".hidden"},
		{"", "", ".bin"},
	} {
		if got := (New{Name: c.name, MediaType: c.mediaType}).extension(); got != c.want {
			t.Errorf("%q %q: got %q, want %q", c.name, c.mediaType, got, c.want)
		}
	}
}

// Case G24: a type becomes part of a path.
func TestG24TypeRefused(t *testing.T) {
	s := open(t, t.TempDir())
	for _, bad := range []string{"../x", "", "/x", "a/b", "a/../b", ".", "..", "Report", "1a", "a b", "a\x00", "a\n", "ä", strings.Repeat("a", 33)} {
		_, err := s.Create(ctx, New{Type: bad}, strings.NewReader("x"))
		if !fault.Is(err, fault.InvalidInput) || fault.From(err).Code != "artifact_type" {
			t.Errorf("%q: got %v, want invalid_input artifact_type", bad, err)
		}
	}
	noneStored(t, s)
	create(t, s, New{Type: "a" + strings.Repeat("-", 31)}, "x")
}

// Case G24: an id reaches neither the database nor a path unless it has an id's form.
func TestG24IDRefused(t *testing.T) {
	s := open(t, t.TempDir())
	r := create(t, s, New{Type: "report"}, "x")
	for _, bad := range []string{
		"", "../session.db", "art_../../x", r.ID + "/..", r.ID + "\n", " " + r.ID, strings.ToUpper(r.ID), r.ID[4:], "art_%", `art_' OR '1'='1`,
		r.ID[:18] + "4" + r.ID[19:], strings.Repeat("a", 1<<20),
	} {
		if _, err := s.Get(ctx, bad); !fault.Is(err, fault.InvalidInput) || fault.From(err).Code != "artifact_id" || len(err.Error()) > 500 {
			t.Errorf("%.50q: got %v, want invalid_input artifact_id", bad, err)
		}
		if _, err := s.Open(Record{ID: bad, Path: r.Path, Size: 1}); err == nil {
			t.Errorf("%.50q: opened what no store returned", bad)
		}
	}
	unknown := "art_01890000-0000-7000-8000-000000000000"
	if _, err := s.Get(ctx, unknown); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want not_found", err)
	}
}

// Case G24: what a caller, or a changed database, says about paths does not count.
func TestG24PathTricks(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	secret := filepath.Join(dir, "s1", "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := create(t, s, New{Type: "report"}, "x")
	forged := r
	forged.Path = secret
	content, err := s.Open(forged)
	if err != nil {
		t.Fatal(err)
	}
	if f := content.(*os.File); f.Name() != r.Path {
		t.Errorf("opened %s", f.Name())
	}
	content.Close()
	for _, path := range []string{"../secret", secret, "report/../../secret", "report"} {
		if _, err := s.events.DB().Exec(`UPDATE artifacts SET path = ?`, path); err != nil {
			t.Fatal(err)
		}
		changed, err := s.Get(ctx, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open(changed); !fault.Is(err, fault.Integrity) {
			t.Errorf("%s: got %v, want an integrity error", path, err)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	for name, n := range map[string]New{
		"name with a control":    {Name: "a\x1b[2J"},
		"name too long":          {Name: strings.Repeat("a", 256)},
		"name no UTF-8":          {Name: "a\xff"},
		"media type with a line": {MediaType: "text/plain\nx: y"},
		"owner too long":         {Owner: Owner{Capability: strings.Repeat("a", 200)}},
		"entity with a NUL":      {EntityID: "a\x00"},
		"metadata no JSON":       {Metadata: json.RawMessage(`{"a"`)},
		"metadata no object":     {Metadata: json.RawMessage(` [1]`)},
		"metadata too large":     {Metadata: json.RawMessage(`{"a":"` + strings.Repeat("x", maxMetadata) + `"}`)},
		"metadata too deep":      {Metadata: json.RawMessage(strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100))},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir())
			n.Type = "report"
			if _, err := s.Create(ctx, n, strings.NewReader("x")); !fault.Is(err, fault.InvalidInput) {
				t.Errorf("got %v, want invalid_input", err)
			}
			noneStored(t, s)
		})
	}
}

func TestCreateFails(t *testing.T) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		ctx     context.Context
		content io.Reader
		want    error
	}{
		"reader fails at once":  {ctx, iotest.ErrReader(broken), broken},
		"reader fails half way": {ctx, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), broken},
		"cancelled":             {cancelled, strings.NewReader("x"), context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir())
			if _, err := s.Create(c.ctx, New{Type: "report"}, c.content); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			noneStored(t, s)
		})
	}
	t.Run("too large", func(t *testing.T) {
		s := open(t, t.TempDir())
		s.limit = 10
		_, err := s.Create(ctx, New{Type: "report"}, strings.NewReader("12345678901"))
		if !fault.Is(err, fault.ResourceExhausted) || fault.From(err).Code != "artifact_size" {
			t.Errorf("got %v, want resource_exhausted artifact_size", err)
		}
		noneStored(t, s)
		create(t, s, New{Type: "report"}, "1234567890")
	})
	t.Run("record not stored", func(t *testing.T) {
		s := open(t, t.TempDir())
		if _, err := s.events.DB().Exec(`CREATE TRIGGER no BEFORE INSERT ON artifacts BEGIN SELECT RAISE(ABORT, 'no'); END`); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Create(ctx, New{Type: "report"}, strings.NewReader("x")); err == nil {
			t.Error("created")
		}
		noneStored(t, s)
	})
}

func TestOpenDamaged(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"gone":      os.Remove,
		"shorter":   func(path string) error { return os.Truncate(path, 2) },
		"longer":    func(path string) error { return os.Truncate(path, 20) },
		"a folder":  func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a symlink": func(path string) error { return errors.Join(os.Remove(path), os.Symlink("/etc/passwd", path)) },
		"a pipe":    func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir())
			r := create(t, s, New{Type: "report"}, "12345")
			if err := damage(r.Path); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Open(r); !fault.Is(err, fault.Integrity) || fault.From(err).Hint == "" {
				t.Errorf("got %v, want an integrity error with a hint", err)
			}
		})
	}
}

func hang(dir string) error {
	s, err := openIn(dir)
	if err != nil {
		return err
	}
	_, err = s.Create(ctx, New{Type: "report"}, io.MultiReader(strings.NewReader("half"), os.Stdin))
	return err
}

// Open removes what a process that died left, and only that.
func TestOpenRemovesStrays(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	c := process("hang", dir)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := wait(func() bool { return tempOf(s.dir, 4) != "" }); err != nil {
		t.Fatal(err)
	}
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(tempOf(s.dir, 4), hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if tempOf(s.dir, 4) == "" {
		t.Error("the file of a process that writes was removed")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || tempOf(s.dir, 4) == "" {
		t.Fatalf("the process was to leave a file when killed (%v)", err)
	}
	open(t, dir)
	noneStored(t, s)
}

// tempOf returns the one file that is being written, with size bytes so far.
func tempOf(dir string, size int64) string {
	found, err := filepath.Glob(filepath.Join(dir, "report", ".tmp-*"))
	if err != nil || len(found) != 1 {
		return ""
	}
	if info, err := os.Stat(found[0]); err != nil || info.Size() != size {
		return ""
	}
	return found[0]
}

func wait(done func() bool) error {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if done() {
			return nil
		}
	}
	return errors.New("it did not happen")
}

func forEver(dir string) error {
	s, err := openIn(dir)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		if _, err := s.Create(ctx, New{Type: "report"}, strings.NewReader(strings.Repeat(fmt.Sprint(i), 30_000))); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString("."); err != nil {
			return err
		}
	}
}

// A process that is killed while it makes artifacts leaves no record without its file
// and no half artifact.
func TestKilledWhileCreating(t *testing.T) {
	dir := t.TempDir()
	for i := range 8 {
		c := process("for ever", dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, i+1)); err != nil { // it has stored that many
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Fatal(err)
		}
		if n := checkFiles(t, dir); n <= i {
			t.Errorf("%d records are left", n)
		}
	}
}

func checkFiles(t *testing.T, dir string) int {
	t.Helper()
	s := open(t, dir)
	defer s.events.Close()
	records, err := s.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		content, err := os.ReadFile(r.Path)
		if sum := sha256.Sum256(content); err != nil || hex.EncodeToString(sum[:]) != r.SHA256 {
			t.Errorf("%s is not what was recorded: %v", r.Path, err)
		}
	}
	if r, err := s.events.Verify(ctx); err != nil || len(r.Problems) > 0 {
		t.Errorf("%q %v", r.Problems, err)
	}
	return len(records)
}

// untilFull lives with files of at most 64 KiB for a moment.
func untilFull(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := openIn(dir)
	if err != nil {
		return err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: old.Max}); err != nil {
		return err
	}
	_, err = s.Create(ctx, New{Type: "report"}, strings.NewReader(strings.Repeat("x", 65<<10)))
	if f := fault.From(err); f == nil || f.Kind != fault.ResourceExhausted || f.Code != "disk_full" || f.Hint == "" {
		return fmt.Errorf("got %w, want resource_exhausted disk_full with a hint", err)
	}
	if err := stored(s, 0); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if _, err := s.Create(ctx, New{Type: "report"}, strings.NewReader(strings.Repeat("x", 65<<10))); err != nil {
		return err
	}
	return stored(s, 1)
}

// Case G25: a disk that is full, here a limit to the size of files.
func TestG25FullDisk(t *testing.T) {
	if err := process("until full", t.TempDir()).Run(); err != nil {
		t.Error(err)
	}
}

func BenchmarkCreate(b *testing.B) {
	s := open(b, b.TempDir())
	for i := 0; b.Loop(); i++ {
		create(b, s, New{Type: "report"}, fmt.Sprint(i))
	}
}
