package backup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

// TestPending: how a file stands to what a command may have done to it.
func TestPending(t *testing.T) {
	old, after, other := state("old"), state("new"), state("other")
	for name, c := range map[string]struct {
		settle func(t *testing.T, j *Journal, n int)
		want   map[*State]Standing
	}{
		"settled":   {func(t *testing.T, j *Journal, n int) { must(t, j.Settle(n, after)) }, map[*State]Standing{old: Undone, after: Undoable, other: Changed, nil: Changed}},
		"deleted":   {func(t *testing.T, j *Journal, n int) { must(t, j.Settle(n, nil)) }, map[*State]Standing{old: Undone, nil: Undoable, other: Changed}},
		"not known": {func(*testing.T, *Journal, int) {}, map[*State]Standing{old: Undone, after: Changed, nil: Changed}},
	} {
		t.Run(name, func(t *testing.T) {
			s := Open(t.TempDir(), Options{})
			j := begin(t, s, Run{})
			n, err := j.Add(ctx, Change{Path: "/p/a", Before: old, Pending: true}, strings.NewReader("old"))
			must(t, err)
			c.settle(t, j, n)
			must(t, j.Close())
			p, err := s.Find(j.run.ID)
			must(t, err)
			defer p.Close()
			steps := p.Steps()
			if len(steps) != 1 || !steps[0].To.Same(old) {
				t.Fatalf("%+v", steps)
			}
			for current, want := range c.want {
				if got := steps[0].Judge(current); got != want {
					t.Errorf("%+v: %v, want %v", current, got, want)
				}
			}
		})
	}
}

// A run that says nothing but that it may have changed something stays, and is no run to
// undo.
func TestPartial(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	first := begin(t, s, Run{})
	add(t, first, "/p/a", "", "new")
	must(t, first.Close())
	j := begin(t, s, Run{})
	must(t, j.Partial())
	must(t, j.Partial())
	must(t, j.Close())
	_, err := s.ToUndo("s1", j.run.ID)
	failed(t, err, fault.NotFound, "nothing_kept")
	last, err := s.ToUndo("s1", "")
	must(t, err)
	defer last.Close()
	if last.ID != first.run.ID || last.Partial {
		t.Errorf("%+v", last.Run)
	}
	list, err := s.List()
	if err != nil || len(list) != 2 || !list[0].Partial || list[1].Partial {
		t.Errorf("%+v %v", list, err)
	}
}

// A run that changed what an undo does not take back is the last one, and says how to go back.
func TestOtherwise(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	first := begin(t, s, Run{})
	add(t, first, "/p/a", "", "new")
	must(t, first.Close())
	j := begin(t, s, Run{})
	must(t, j.Otherwise("turn round"))
	must(t, j.Close())
	for _, id := range []string{"", j.run.ID} {
		_, err := s.ToUndo("s1", id)
		failed(t, err, fault.Conflict, "not_undoable")
		if hint := fault.From(err).Hint; !strings.HasPrefix(hint, "turn round; ") {
			t.Errorf("%q", hint)
		}
	}
	named, err := s.ToUndo("s1", first.run.ID)
	must(t, err)
	named.Close()
}

// A record that settles what is not pending is damage, not a change.
func TestSettlesNothing(t *testing.T) {
	for name, number := range map[string]int{"no change": 0, "a number too high": 7, "below zero": -1} {
		t.Run(name, func(t *testing.T) {
			s := Open(t.TempDir(), Options{})
			j := begin(t, s, Run{})
			add(t, j, "/p/a", "", "new")
			must(t, j.Settle(number, nil))
			must(t, j.Close())
			_, err := s.Find(j.run.ID)
			failed(t, err, fault.Integrity, "backup_damaged")
		})
	}
}

// Folders in which temporary files may be are known to the next start only when the process
// is gone, and once.
func TestStaging(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	leftovers := func() (all []string) {
		s.Leftovers(func(folder string) { all = append(all, folder) })
		return all
	}
	j := begin(t, s, Run{})
	for _, folder := range []string{"/p/a", "/p/b\xff", "/p/a"} {
		must(t, j.Staging(folder))
	}
	if got := leftovers(); got != nil {
		t.Errorf("of a run under way: %q", got)
	}
	must(t, j.staged.Close()) // as when the process is killed
	if got := leftovers(); len(got) != 2 || got[0] != "/p/a" || got[1] != "/p/b\xff" {
		t.Errorf("%q", got)
	}
	if got := leftovers(); got != nil {
		t.Errorf("twice: %q", got)
	}
	k := begin(t, s, Run{})
	must(t, k.Staging("/p/a"))
	must(t, k.Close())
	if entries, err := os.ReadDir(filepath.Join(s.dir, "staged")); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
}
