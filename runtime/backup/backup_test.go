package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
)

var ctx = context.Background()

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func failed(t *testing.T, err error, kind fault.Kind, code string) {
	t.Helper()
	if err == nil || !fault.Is(err, kind) || fault.From(err).Code != code {
		t.Errorf("got %v, want %s/%s", err, kind, code)
	}
}

// state is a file with a content and the mode 0644.
func state(content string) *State {
	sum := sha256.Sum256([]byte(content))
	return &State{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content)), Mode: 0o644}
}

func begin(t testing.TB, s *Store, run Run) *Journal {
	t.Helper()
	if run.ID == "" {
		run.ID = ids.New()
	}
	if run.Tool == "" {
		run.Tool, run.SessionID = "fs.write", "s1"
	}
	j, err := s.Begin(ctx, run)
	must(t, err)
	t.Cleanup(func() { must(t, j.Close()) })
	return j
}

// add records that a file changes from a content to another; "" is that it is not there.
func add(t testing.TB, j *Journal, path, from, to string) int {
	t.Helper()
	c := Change{CallID: "c1", Path: Path(path)}
	if from != "" {
		c.Before = state(from)
	}
	if to != "" {
		c.After = state(to)
	}
	n, err := j.Add(ctx, c, strings.NewReader(from))
	must(t, err)
	return n
}

// wrote is a run that has ended.
func wrote(t testing.TB, s *Store, run Run, path, from, to string) string {
	t.Helper()
	j := begin(t, s, run)
	add(t, j, path, from, to)
	if run.Undoes != "" {
		must(t, j.Done())
	}
	must(t, j.Close())
	return j.run.ID
}

func find(t testing.TB, s *Store, id string) *Past {
	t.Helper()
	p, err := s.Find(id)
	must(t, err)
	t.Cleanup(p.Close)
	return p
}

func TestRecorded(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "deep", "backups"), Options{})
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	run := Run{ID: ids.New(), SessionID: "s1", Tool: "fs.write", Started: started}
	j, err := s.Begin(ctx, run)
	must(t, err)
	before := state("old\x00\n")
	before.Mode, before.UID, before.GID, before.Attributes = 0o4751, 1, 2, []Attribute{{[]byte("user.\xff"), []byte{0xff, 0}}}
	first := Change{
		CallID: "c1", Path: "/p/caf\xe9", Before: before, After: state("new"), At: started,
		Made: []Folder{{"/p/\xff", 0o750}}, Removed: []Folder{{"/q", 0o2755}},
	}
	if n, err := j.Add(ctx, first, strings.NewReader("old\x00\n")); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	add(t, j, "/p/b", "", "x")
	if p := find(t, s, run.ID); !p.UnderWay {
		t.Error("the run is not under way")
	}
	must(t, j.Close())
	p := find(t, s, run.ID[:30])
	if p.Run != run || p.UnderWay || p.Done || p.UndoneBy != "" || len(p.Changes) != 2 {
		t.Errorf("%+v", p)
	}
	got, want := p.Changes[0], first
	got.content = 0
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if !bytes.Equal(g, w) || got.Path != first.Path || got.Made[0].Path != first.Made[0].Path {
		t.Errorf("got  %s\nwant %s", g, w)
	}
	var b bytes.Buffer
	must(t, p.Copy(ctx, &b, p.Steps()[1]))
	if b.String() != "old\x00\n" {
		t.Errorf("%q", b.String())
	}
	if info, err := os.Stat(s.path(run.ID)); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if info, err := os.Stat(s.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
}

// Content that is not what was announced is not kept, and what follows is whole.
func TestContentChanged(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	j := begin(t, s, Run{})
	for _, wrong := range []string{"ol", "olds", "odd", ""} {
		if _, err := j.Add(ctx, Change{Path: "/a", Before: state("old")}, strings.NewReader(wrong)); !errors.Is(err, ErrChanged) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	cancelled, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("enough"))
	if _, err := j.Add(cancelled, Change{Path: "/a", Before: state("old")}, strings.NewReader("old")); err == nil || err.Error() != "enough" {
		t.Errorf("%v", err)
	}
	add(t, j, "/b", "b", "c")
	must(t, j.Close())
	if p := find(t, s, j.run.ID); len(p.Changes) != 1 || p.Changes[0].Path != "/b" {
		t.Errorf("%+v", p.Changes)
	}
}

// After a sync that failed nobody knows what the disk has: nothing is added any more, and
// a run whose changes were all withdrawn leaves nothing.
func TestSyncFails(t *testing.T) {
	gone := errors.New("the disk is gone")
	s := Open(t.TempDir(), Options{Sync: func(*os.File) error { return gone }})
	j, err := s.Begin(t.Context(), Run{ID: ids.New()})
	if err != nil {
		t.Fatal(err)
	}
	n, err := j.Add(t.Context(), Change{Path: "/a", After: state("x")}, nil)
	if err != nil || !errors.Is(j.Sync(), gone) || !errors.Is(j.Sync(), gone) {
		t.Fatal(err)
	}
	if _, err := j.Add(t.Context(), Change{Path: "/b", After: state("x")}, nil); !errors.Is(err, gone) {
		t.Error(err)
	}
	_ = j.Withdraw(n) // it cannot be said any more
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestWithdrawn(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	j := begin(t, s, Run{})
	add(t, j, "/a", "1", "2")
	n, err := j.Add(ctx, Change{Path: "/x/b", After: state("2"), Made: []Folder{{"/x", 0o755}}}, nil)
	must(t, err)
	add(t, j, "/x/c", "", "2")
	must(t, j.Withdraw(n))
	must(t, j.Close())
	if p := find(t, s, j.run.ID); len(p.Changes) != 2 || p.Changes[1].Path != "/x/c" || len(p.Steps()[0].Made) != 1 {
		t.Errorf("%+v", p.Changes)
	}
	nothing := begin(t, s, Run{})
	must(t, nothing.Withdraw(add(t, nothing, "/a", "", "x")))
	must(t, nothing.Close())
	if _, err := s.Find(nothing.run.ID); err == nil {
		t.Error("a run that did nothing is kept")
	}
	if _, err := j.Add(ctx, Change{Path: "/a", After: state("x")}, nil); err == nil {
		t.Error("something was added after the end")
	}
}

// What a killed process leaves at the end of a file does not count, wherever it was cut.
func TestTornEnd(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	j := begin(t, s, Run{})
	add(t, j, "/a", "first", "x")
	whole := j.size
	add(t, j, "/b", "second", "y")
	must(t, j.Close())
	text, err := os.ReadFile(s.path(j.run.ID))
	must(t, err)
	for end := range len(text) {
		must(t, os.WriteFile(s.path(j.run.ID), text[:end], 0o600))
		p, err := s.Find(j.run.ID)
		if err != nil {
			t.Fatalf("cut at %d: %v", end, err)
		}
		want := 0
		if int64(end) >= whole {
			want = 1
		}
		if len(p.Changes) != want {
			t.Errorf("cut at %d: %d changes", end, len(p.Changes))
		}
		p.Close()
	}
	must(t, os.WriteFile(s.path(j.run.ID), append(text[:whole:whole], make([]byte, 5000)...), 0o600))
	if p := find(t, s, j.run.ID); len(p.Changes) != 1 { // as a power cut leaves it
		t.Errorf("%d changes before zeros", len(p.Changes))
	}
}

// Any other change of a file is damage, and named.
func TestDamaged(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	id := wrote(t, s, Run{}, "/a", "old", "new")
	other := wrote(t, s, Run{}, "/b", "old", "new")
	text, err := os.ReadFile(s.path(id))
	must(t, err)
	foreign, err := os.ReadFile(s.path(other))
	must(t, err)
	second := bytes.IndexByte(text, '\n') + 1
	for name, damaged := range map[string][]byte{
		"a bit of the beginning": flip(text, 20),
		"a bit of a record":      flip(text, second+30),
		"a checksum":             flip(text, second),
		"a line end":             flip(text, second-1),
		"another run":            foreign,
		"no beginning":           text[second:],
		"two beginnings":         append(slices.Clone(text), text[:second]...),
		"nonsense behind":        append(slices.Clone(text), "nonsense\n"...),
		"a line without end":     append(slices.Clone(text), bytes.Repeat([]byte("x"), MaxRecord+1)...),
	} {
		must(t, os.WriteFile(s.path(id), damaged, 0o600))
		_, err := s.Find(id)
		if failed(t, err, fault.Integrity, "backup_damaged"); err != nil && !strings.Contains(err.Error(), s.path(id)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Find(other); err != nil {
		t.Errorf("another run: %v", err)
	}
	must(t, os.WriteFile(s.path(id), flip(text, len(text)-1), 0o600))
	p := find(t, s, id)
	failed(t, p.Copy(ctx, &bytes.Buffer{}, p.Steps()[0]), fault.Integrity, "backup_damaged")
}

func flip(text []byte, at int) []byte {
	flipped := slices.Clone(text)
	flipped[at] ^= 1
	return flipped
}

// F16: neither a new nor an old backup goes through a link.
func TestF16LinkInTheStore(t *testing.T) {
	dir := t.TempDir()
	s := Open(filepath.Join(dir, "backups"), Options{})
	victim := filepath.Join(dir, "victim")
	must(t, os.WriteFile(victim, []byte("victim"), 0o600))
	must(t, os.Mkdir(s.dir, 0o700))
	id := ids.New()
	must(t, os.Symlink(victim, s.path(id)))
	if _, err := s.Begin(ctx, Run{ID: id}); !errors.Is(err, os.ErrExist) {
		t.Errorf("begin: %v", err)
	}
	_, err := s.Find(id)
	failed(t, err, fault.Integrity, "backup_damaged")
	must(t, s.makeRoom(ctx, 0))
	if text, err := os.ReadFile(victim); err != nil || string(text) != "victim" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := s.Begin(ctx, Run{ID: "../" + id}); err == nil {
		t.Error("an id became a path")
	}
}

func TestSteps(t *testing.T) {
	p := &Past{Changes: []Change{
		{Path: "/p/a", Before: state("1"), After: state("2")},
		{Path: "/p/x/y/new", After: state("n"), Made: []Folder{{"/p/x", 0o755}, {"/p/x/y", 0o700}}},
		{Path: "/p/a", Before: state("2"), After: state("3")},
		{Path: "/p/x/b", After: state("b")},
		{Path: "/p/gone", Before: state("g"), Removed: []Folder{{"/p/r", 0o755}}},
	}}
	steps := p.Steps()
	var paths []string
	for _, s := range steps {
		paths = append(paths, s.Path)
	}
	if want := []string{"/p/gone", "/p/x/b", "/p/a", "/p/x/y/new"}; !slices.Equal(paths, want) {
		t.Errorf("got %v, want %v", paths, want)
	}
	if got := fmt.Sprint(steps[1].Made, steps[3].Made); got != "[{/p/x 493}] [{/p/x/y 448} {/p/x 493}]" {
		t.Errorf("folders %s", got)
	}
	for _, c := range []struct {
		step int
		now  *State
		want Standing
	}{
		{0, nil, Undoable}, {0, state("g"), Undone}, {0, state("x"), Changed},
		{1, state("b"), Undoable}, {1, nil, Undone}, {1, state("x"), Changed},
		{2, state("3"), Undoable}, {2, state("2"), Undoable}, {2, state("1"), Undone}, {2, nil, Changed}, {2, state("x"), Changed},
	} {
		if got := steps[c.step].Judge(c.now); got != c.want {
			t.Errorf("%s as %v: %v, want %v", paths[c.step], c.now, got, c.want)
		}
	}
	other := state("3")
	other.Mode = 0o600
	if got := steps[2].Judge(other); got != Changed {
		t.Errorf("another mode: %v", got)
	}
}

// A change that did not happen leaves the file as the next one found it; what anything
// else left there is foreign.
func TestForeign(t *testing.T) {
	for name, c := range map[string]struct {
		found string // by the second change
		want  Standing
	}{"the first happened": {"2", Undoable}, "the first did not": {"1", Undoable}, "something else": {"theirs", Changed}} {
		p := &Past{Changes: []Change{
			{Path: "/a", Before: state("1"), After: state("2")},
			{Path: "/a", Before: state(c.found), After: state("3")},
		}}
		if got := p.Steps()[0].Judge(state("3")); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestLast(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	last := func(want string) {
		t.Helper()
		p, err := s.Last("s1")
		if want == "" {
			failed(t, err, fault.NotFound, "nothing_to_undo")
			return
		}
		must(t, err)
		defer p.Close()
		if p.ID != want {
			t.Errorf("got %s, want %s", p.ID, want)
		}
	}
	last("")
	a := wrote(t, s, Run{}, "/a", "", "x")
	b := wrote(t, s, Run{}, "/b", "", "x")
	wrote(t, s, Run{SessionID: "s2", Tool: "fs.write"}, "/c", "", "x")
	last(b)
	undo := wrote(t, s, Run{SessionID: "s2", Tool: "air.undo", Undoes: b}, "/b", "x", "")
	last(a)
	if p := find(t, s, b); p.UndoneBy != undo {
		t.Errorf("undone by %q", p.UndoneBy)
	}
	wrote(t, s, Run{Tool: "air.undo", SessionID: "s1", Undoes: undo}, "/b", "", "x")
	last(b)
	if p := find(t, s, b); p.UndoneBy != "" {
		t.Errorf("undone by %q", p.UndoneBy)
	}
	half := begin(t, s, Run{SessionID: "s1", Tool: "air.undo", Undoes: b}) // killed before its end
	add(t, half, "/b", "x", "")
	must(t, half.Close())
	last(b)
	list, err := s.List()
	if err != nil || len(list) != 6 || list[5].ID != a || list[2].UndoneBy == "" || list[0].Files != 1 {
		t.Errorf("%+v %v", list, err)
	}
	must(t, os.WriteFile(s.path(half.run.ID), []byte("nonsense\n"), 0o600))
	_, err = s.Last("s1")
	failed(t, err, fault.Integrity, "backup_damaged")
	find(t, s, a) // is not in the way of another
}

func TestFind(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	a, b := "01890000-0000-7000-8000-000000000001", "01890000-0000-7000-8000-000000000002"
	for _, id := range []string{a, b} {
		wrote(t, s, Run{ID: id, Tool: "fs.write"}, "/a", "", "x")
	}
	_, err := s.Find("0189")
	failed(t, err, fault.InvalidInput, "ambiguous_id")
	for _, bad := range []string{"", "02", "../x", "%", strings.Repeat("0", 1000), a + "0"} {
		_, err := s.Find(bad)
		failed(t, err, fault.NotFound, "unknown_run")
	}
	if p := find(t, s, a); p.ID != a {
		t.Errorf("%s", p.ID)
	}
}

// The oldest runs make room, but for those under way and those that somebody reads.
func TestMakeRoom(t *testing.T) {
	content := strings.Repeat("x", 3000)
	s := Open(t.TempDir(), Options{Limit: 20_000})
	old := begin(t, s, Run{}) // under way
	add(t, old, "/a", content, "y")
	read := wrote(t, s, Run{}, "/a", content, "y")
	reading := find(t, s, read)
	gone := wrote(t, s, Run{}, "/a", content, "y")
	var last string
	for range 5 {
		last = wrote(t, s, Run{}, "/a", content, "y")
	}
	all, err := s.ids()
	must(t, err)
	_, total := s.sizes(all)
	if total > 20_000 || !slices.Contains(all, old.run.ID) || !slices.Contains(all, read) || !slices.Contains(all, last) || slices.Contains(all, gone) {
		t.Errorf("%d bytes in %v", total, all)
	}
	must(t, reading.Copy(ctx, &bytes.Buffer{}, reading.Steps()[0]))
	_, err = old.Add(ctx, Change{Path: "/b", Before: state(strings.Repeat("z", 17_000))}, strings.NewReader(strings.Repeat("z", 17_000)))
	failed(t, err, fault.ResourceExhausted, "backups_full")
}

func TestFewRuns(t *testing.T) {
	s := Open(t.TempDir(), Options{Runs: 3})
	for range 5 {
		wrote(t, s, Run{}, "/a", "", "x")
	}
	must(t, s.makeRoom(ctx, 0))
	if all, err := s.ids(); err != nil || len(all) != 3 {
		t.Errorf("%v %v", all, err)
	}
}

func TestRecordTooLarge(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	j := begin(t, s, Run{})
	_, err := j.Add(ctx, Change{Path: Path("/" + strings.Repeat("x", MaxRecord)), After: state("x")}, nil)
	failed(t, err, fault.ResourceExhausted, "backup_record")
	add(t, j, "/a", "", "x")
	must(t, j.Close())
	if p := find(t, s, j.run.ID); len(p.Changes) != 1 {
		t.Errorf("%+v", p.Changes)
	}
}

// Reading what is no file of ours ends with an error or a run, never otherwise.
func FuzzRead(f *testing.F) {
	s := Open(f.TempDir(), Options{})
	id := ids.New()
	j := begin(f, s, Run{ID: id})
	add(f, j, "/a", "old", "new")
	must(f, j.Withdraw(0))
	add(f, j, "/b", "old", "new")
	must(f, j.Close())
	text, err := os.ReadFile(s.path(id))
	must(f, err)
	f.Add(text)
	f.Add(text[:len(text)-1])
	f.Add([]byte("00000000 {}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		must(t, os.WriteFile(s.path(id), text, 0o600))
		p, err := s.load(id)
		if err != nil {
			return
		}
		defer p.Close()
		for _, step := range p.Steps() {
			if step.To != nil {
				_ = p.Copy(ctx, &bytes.Buffer{}, step) // an error or what was stored
			}
		}
	})
}

// BenchmarkAdd is what a record costs that replaces 4 KiB.
func BenchmarkAdd(b *testing.B) {
	s := Open(b.TempDir(), Options{})
	content := strings.Repeat("x", 4096)
	for b.Loop() {
		wrote(b, s, Run{}, "/a", content, "y")
	}
}
