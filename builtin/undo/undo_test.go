package undo_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/event"
)

type object = map[string]any

type undone struct {
	RunID     string `json:"run_id"`
	Tool      string
	Files     []struct{ Path, Change string }
	FileCount int `json:"file_count"`
	Truncated bool
}

// changes are the paths with what became of them.
func (u undone) changes() string {
	var all []string
	for _, f := range u.Files {
		all = append(all, f.Change+" "+f.Path)
	}
	return strings.Join(all, ", ")
}

// tree describes all below the folders, byte by byte: names, types, modes, owners,
// content, links and attributes.
func tree(t *testing.T, roots ...string) string {
	t.Helper()
	var b strings.Builder
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.Name() == ".air" {
				return fs.SkipDir
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			st := info.Sys().(*syscall.Stat_t)
			fmt.Fprintf(&b, "%s %v %d:%d", path, info.Mode(), st.Uid, st.Gid)
			if info.Mode().IsRegular() {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				fmt.Fprintf(&b, " %x %s", sha256.Sum256(text), attributes(path))
			}
			if target, err := os.Readlink(path); err == nil {
				fmt.Fprintf(&b, " -> %s", target)
			}
			b.WriteByte('\n')
			return nil
		})
		must(t, err)
	}
	return b.String()
}

// attributes are a file's own, each with the digest of its value.
func attributes(path string) string {
	names, value := make([]byte, 64<<10), make([]byte, 64<<10)
	n, _ := unix.Listxattr(path, names) // fewer than none: the file system has none
	all := strings.Split(string(names[:max(n, 0)]), "\x00")
	for i, name := range all {
		if n, err := unix.Getxattr(path, name, value); strings.HasPrefix(name, "user.") && err == nil {
			all[i] = fmt.Sprintf("%q %x", name, sha256.Sum256(value[:n]))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func failed(t *testing.T, e runtime.Envelope, kind fault.Kind, code string) {
	t.Helper()
	if e.Error == nil || e.Error.Kind != kind || e.Error.Code != code {
		t.Errorf("%s ends with %+v, want %s/%s", e.Tool, e.Error, kind, code)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// three writes three files in one call: one replaced, one with attributes replaced
// twice, one made in new folders.
func three(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
	for _, input := range []object{
		{"path": "a.txt", "content": "new a"},
		{"path": "sub/b.sh", "content": "first"},
		{"path": "x/y/c.txt", "content": "made", "create_parent_dirs": true},
		{"path": "sub/b.sh", "content": "second"},
		{"path": "x/d.txt", "content": "made too"},
	} {
		if e := rig.Call(ctx, access, "fs.write", input); e.Error != nil {
			return nil, e.Error
		}
	}
	return object{}, nil
}

// put makes the files that three replaces.
func put(t *testing.T, r *rig.Rig) {
	t.Helper()
	r.Put("a.txt", "old a")
	script := r.Put("sub/b.sh", "old b")
	must(t, os.Chmod(script, 0o751))
	for _, name := range []string{"user.note", "user.\xff"} { // a name need not be UTF-8
		if err := unix.Setxattr(script, name, []byte("keep"), 0); err != nil {
			t.Logf("without attributes: %v", err)
		}
	}
	must(t, os.Symlink("a.txt", filepath.Join(r.Root, "link")))
}

// A capability's call is undone as a whole, with all that it wrote through other calls,
// and the undoing is undone.
func TestUndoOfACall(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": three}})
	put(t, r)
	before := tree(t, r.Root)
	wrote := r.Must("a.run", object{}, nil)
	after := tree(t, r.Root)
	if before == after {
		t.Fatal("nothing was written")
	}
	var out undone
	undid := r.Must("air.undo", object{"run_id": wrote.RunID}, &out)
	if got := tree(t, r.Root); got != before {
		t.Errorf("after undo\n%s\nbefore\n%s", got, before)
	}
	if want := "removed x/d.txt, restored sub/b.sh, removed x/y/c.txt, restored a.txt"; out.changes() != want || out.RunID != wrote.RunID || out.Tool != "a.run" || out.FileCount != 4 || out.Truncated {
		t.Errorf("%+v, want %s", out, want)
	}
	failed(t, r.Call("air.undo", object{"run_id": wrote.RunID}), fault.Conflict, "already_undone")
	r.Must("air.undo", object{"run_id": undid.RunID}, nil)
	if got := tree(t, r.Root); got != after {
		t.Errorf("after undo of the undo\n%s\nbefore\n%s", got, after)
	}
	r.Must("air.undo", object{"run_id": wrote.RunID[:20]}, nil)
	if got := tree(t, r.Root); got != before {
		t.Errorf("after the second undo\n%s\nbefore\n%s", got, before)
	}
}

// Without a run, undo goes back call by call, past what it has undone itself.
func TestUndoGoesBack(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	path := r.Put("a.txt", "0")
	for _, text := range []string{"1", "2", "3"} {
		r.Must("fs.write", object{"path": "a.txt", "content": text}, nil)
	}
	r.Must("fs.read", object{"path": "a.txt"}, nil)
	r.Call("fs.write", object{"path": "none/b.txt", "content": ""}) // fails, and so writes nothing
	for _, want := range []string{"2", "1", "0"} {
		r.Must("air.undo", object{}, nil)
		if got := content(t, path); got != want {
			t.Errorf("the file holds %q, want %q", got, want)
		}
	}
	failed(t, r.Call("air.undo", object{}), fault.NotFound, "nothing_to_undo")
	if got := r.Types(""); !slices.Contains(got, event.BackupCreated) || !slices.Contains(got, event.BackupRestored) {
		t.Errorf("events %v", got)
	}
	if report, err := r.Session.Events.Verify(r.Context()); err != nil || len(report.Problems) > 0 {
		t.Errorf("the chain: %v %v", report.Problems, err)
	}
}

// What gets in the way in the last moment takes back what was undone before it.
func TestAllOrNothing(t *testing.T) {
	for name, c := range map[string]struct {
		meddle func(path string) error
		code   string
	}{
		"edited": {func(path string) error { return os.WriteFile(path, []byte("mine"), 0o644) }, "stale"},
		"gone":   {os.Remove, "no_such_file"},
	} {
		t.Run(name, func(t *testing.T) {
			meddle := func() error { return nil }
			r := rig.New(t, rig.Options{Provider: rig.Guests{"a": three}, Backups: backup.Options{Sync: func(f *os.File) error {
				return errors.Join(meddle(), f.Sync())
			}}})
			put(t, r)
			r.Must("a.run", object{}, nil)
			path, meddled := filepath.Join(r.Root, "a.txt"), "" // the last to be undone
			meddle = func() error {
				err := c.meddle(path)
				meddled = withoutTemporaries(tree(t, r.Root))
				return err
			}
			e := r.Call("air.undo", object{})
			if e.Error == nil || e.Error.Code != c.code {
				t.Errorf("%+v", e.Error)
			}
			if got := tree(t, r.Root); got != meddled {
				t.Errorf("after the undo\n%s\nbefore\n%s", got, meddled)
			}
		})
	}
}

// withoutTemporaries leaves out the lines of what has a passing name.
func withoutTemporaries(tree string) string {
	return regexp.MustCompile(`(?m)^.*\.air-tmp-.*\n`).ReplaceAllString(tree, "")
}

// A file that changed since is not touched, and neither is any other of the call.
func TestChangedSince(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"content":  func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("mine"), 0o644)) },
		"mode":     func(t *testing.T, path string) { must(t, os.Chmod(path, 0o600)) },
		"gone":     func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"a folder": func(t *testing.T, path string) { must(t, os.Remove(path)); must(t, os.Mkdir(path, 0o755)) },
		"a pipe":   func(t *testing.T, path string) { must(t, os.Remove(path)); must(t, unix.Mkfifo(path, 0o600)) },
		"a link": func(t *testing.T, path string) {
			must(t, os.Rename(path, path+".x"))
			must(t, os.Symlink("a.txt.x", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := rig.New(t, rig.Options{Provider: rig.Guests{"a": three}})
			put(t, r)
			r.Must("a.run", object{}, nil)
			change(t, filepath.Join(r.Root, "a.txt"))
			before := tree(t, r.Root)
			e := r.Call("air.undo", object{})
			switch {
			case e.Error == nil:
				t.Error("it was undone")
			case name == "a pipe": // refused before it is looked at
				failed(t, e, fault.PermissionDenied, "floor_device")
			default:
				failed(t, e, fault.Conflict, "changed_since")
			}
			if got := tree(t, r.Root); got != before {
				t.Errorf("changed\n%s\nto\n%s", before, got)
			}
		})
	}
}

// What somebody else wrote between two writes of a call is not lost by undoing it.
func TestChangedInBetween(t *testing.T) {
	var root string
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		rig.Call(ctx, access, "fs.write", object{"path": "a.txt", "content": "1"})
		if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte("theirs"), 0o644); err != nil {
			return nil, err
		}
		rig.Call(ctx, access, "fs.write", object{"path": "a.txt", "content": "2"})
		return object{}, nil
	}}})
	root = r.Root
	r.Put("a.txt", "0")
	r.Must("a.run", object{}, nil)
	failed(t, r.Call("air.undo", object{}), fault.Conflict, "changed_since")
	if got := content(t, filepath.Join(r.Root, "a.txt")); got != "2" {
		t.Errorf("the file holds %q", got)
	}
}

// Outside the project a write is backed up too, and undoing it asks, as the write did.
func TestOutside(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	path := r.Put(filepath.Join(r.Outside, "o.txt"), "old")
	before := tree(t, r.Root, r.Outside)
	wrote := r.Must("fs.write", object{"path": path, "content": "new"}, nil)
	if !slices.Contains(r.Types(wrote.RunID), event.BackupCreated) {
		t.Errorf("events %v", r.Types(wrote.RunID))
	}
	undid := r.Must("air.undo", object{}, nil)
	if !slices.Contains(r.Types(undid.RunID), event.PermissionRequested) {
		t.Errorf("nobody was asked: %v", r.Types(undid.RunID))
	}
	if got := tree(t, r.Root, r.Outside); got != before {
		t.Errorf("%s\nbefore\n%s", got, before)
	}
}

// Undo has the effects that it has: rules decide them, and in the project the default is
// to allow them.
func TestUndoIsDecided(t *testing.T) {
	dir := t.TempDir()
	wrote := rig.New(t, rig.Options{Dir: dir, Approver: rig.Yes})
	wrote.Must("fs.write", object{"path": "a.txt", "content": "new"}, nil)
	wrote.Must("fs.write", object{"path": "sub/b.txt", "content": "new", "create_parent_dirs": true}, nil)
	rules := "schema_version: 1\nrules:\n  - deny: delete(sub/**)\n"
	r := rig.New(t, rig.Options{Dir: dir, Rules: rules})
	failed(t, r.Call("air.undo", object{}), fault.PermissionDenied, "denied_by_rule")
	content(t, filepath.Join(r.Root, "sub", "b.txt"))
	readOnly := rig.New(t, rig.Options{Dir: dir, Rules: "schema_version: 1\nrules: []\n", Mode: "read-only"})
	failed(t, readOnly.Call("air.undo", object{}), fault.ApprovalRequired, "read_only_mode")
	content(t, filepath.Join(r.Root, "sub", "b.txt"))
	explained, err := wrote.Registry.Explain(t.Context(), runtime.Call{Tool: "air.undo"})
	if err != nil || len(explained) != 2 || explained[1].Effect.String() != "delete("+filepath.Join(r.Root, "sub", "b.txt")+")" {
		t.Errorf("%+v %v", explained, err)
	}
}

// F16, from a guest: no capability undoes anything, its own calls or others'.
func TestF16GuestCannotUndo(t *testing.T) {
	var got runtime.Envelope
	var store *backup.Store
	var session string
	r := rig.New(t, rig.Options{Approver: rig.Yes, Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		got = rig.Call(ctx, access, "air.undo", object{})
		past, err := store.ToUndo(session, "") // as no tool of a capability can
		if err != nil {
			return nil, err
		}
		defer past.Close()
		_, err = access.Files.Undo(ctx, past)
		return nil, err
	}}})
	store, session = backup.Open(filepath.Join(r.Project.Dir, "backups"), backup.Options{}), r.Session.ID
	r.Put("a.txt", "old")
	r.Must("fs.write", object{"path": "a.txt", "content": "new"}, nil)
	if e := r.Call("a.run", object{}); e.Error == nil || e.Error.Kind != fault.PermissionDenied {
		t.Errorf("%+v", e.Error)
	}
	failed(t, got, fault.PermissionDenied, "direct_only")
	if text := content(t, filepath.Join(r.Root, "a.txt")); text != "new" {
		t.Errorf("the file holds %q", text)
	}
}

// F16: what undo would write to has become a link, at the end of the path or within it.
func TestF16RestoredFileIsALink(t *testing.T) {
	for name, swap := range map[string]func(r *rig.Rig) error{
		"the file": func(r *rig.Rig) error {
			return os.Symlink(filepath.Join(r.Outside, "victim"), filepath.Join(r.Root, "sub", "a.txt"))
		},
		"protected": func(r *rig.Rig) error {
			return os.Symlink(filepath.Join(r.Root, ".env"), filepath.Join(r.Root, "sub", "a.txt"))
		},
		"dangling": func(r *rig.Rig) error {
			return os.Symlink(filepath.Join(r.Outside, "none"), filepath.Join(r.Root, "sub", "a.txt"))
		},
		"the folder": func(r *rig.Rig) error {
			if err := os.Remove(filepath.Join(r.Root, "sub")); err != nil {
				return err
			}
			return os.Symlink(r.Outside, filepath.Join(r.Root, "sub"))
		},
		"the folder, to inside": func(r *rig.Rig) error {
			if err := os.Rename(filepath.Join(r.Root, "sub"), filepath.Join(r.Root, "moved")); err != nil {
				return err
			}
			return os.Symlink("moved", filepath.Join(r.Root, "sub"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := rig.New(t, rig.Options{Approver: rig.Yes})
			r.Put("sub/a.txt", "old")
			r.Put(".env", "victim")
			r.Put(filepath.Join(r.Outside, "victim"), "victim")
			r.Put(filepath.Join(r.Outside, "a.txt"), "new")
			r.Must("fs.write", object{"path": "sub/a.txt", "content": "new"}, nil)
			must(t, os.Remove(filepath.Join(r.Root, "sub", "a.txt")))
			must(t, swap(r))
			before := tree(t, r.Root, r.Outside)
			e := r.Call("air.undo", object{})
			if e.Error == nil || e.Error.Kind != fault.Conflict && e.Error.Kind != fault.PermissionDenied {
				t.Errorf("%+v", e.Error)
			}
			if got := tree(t, r.Root, r.Outside); got != before {
				t.Errorf("changed\n%s\nto\n%s", before, got)
			}
		})
	}
}

// F16: a backup itself is a link to something else.
func TestF16BackupIsALink(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	path := r.Put("a.txt", "old")
	wrote := r.Must("fs.write", object{"path": "a.txt", "content": "new"}, nil)
	kept := filepath.Join(r.Project.Dir, "backups", wrote.RunID+".run")
	must(t, os.Rename(kept, kept+".x"))
	must(t, os.Symlink(kept+".x", kept))
	e := r.Call("air.undo", object{"run_id": wrote.RunID})
	failed(t, e, fault.Integrity, "backup_damaged")
	if !strings.Contains(e.Error.Message, kept) {
		t.Errorf("the file is not named: %v", e.Error)
	}
	if text := content(t, path); text != "new" {
		t.Errorf("the file holds %q", text)
	}
}

// A backup whose bytes changed is not put back, and the error names it.
func TestDamagedBackup(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": three}})
	put(t, r)
	wrote := r.Must("a.run", object{}, nil)
	kept := filepath.Join(r.Project.Dir, "backups", wrote.RunID+".run")
	text := content(t, kept)
	must(t, os.WriteFile(kept, []byte(strings.Replace(text, "old a", "odd a", 1)), 0o600))
	before := tree(t, r.Root)
	e := r.Call("air.undo", object{})
	failed(t, e, fault.Integrity, "backup_damaged")
	if !strings.Contains(e.Error.Message, kept) || e.Error.Hint == "" {
		t.Errorf("the file is not named: %+v", e.Error)
	}
	if got := tree(t, r.Root); got != before {
		t.Errorf("changed\n%s\nto\n%s", before, got)
	}
}

// Where there is no room for a backup nothing is replaced.
func TestNoRoomForABackup(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes, Backups: backup.Options{Limit: 10_000}})
	path := r.Put("a.txt", strings.Repeat("x", 20_000))
	failed(t, r.Call("fs.write", object{"path": "a.txt", "content": "new"}), fault.ResourceExhausted, "backups_full")
	if got := content(t, path); len(got) != 20_000 {
		t.Errorf("%d bytes are left", len(got))
	}
	small := r.Put("b.txt", strings.Repeat("x", 5_000))
	for range 5 { // the older runs make room
		r.Must("fs.write", object{"path": "b.txt", "content": strings.Repeat("y", 5_000)}, nil)
	}
	r.Must("air.undo", object{}, nil)
	if got := content(t, small); got != strings.Repeat("y", 5_000) {
		t.Errorf("%.20s is left", got)
	}
}

// A call's many changes are undone together.
func TestManyFiles(t *testing.T) {
	const files = 200
	deep := strings.Repeat(strings.Repeat("x", 200)+"/", 7) // more text than one event may hold
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		for i := range files {
			e := rig.Call(ctx, access, "fs.write", object{"path": fmt.Sprintf("%s%d", deep, i), "content": "x", "create_parent_dirs": true})
			if e.Error != nil {
				return nil, e.Error
			}
		}
		return object{}, nil
	}}})
	before := tree(t, r.Root)
	r.Must("a.run", object{}, nil)
	var out undone
	r.Must("air.undo", object{}, &out)
	if got := tree(t, r.Root); got != before || out.FileCount != files {
		t.Errorf("%d files undone; left\n%.1000s", out.FileCount, got)
	}
}

// A nested call is undone with the call that it is part of.
func TestNestedRunIsNamed(t *testing.T) {
	var nested string
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		nested = rig.Call(ctx, access, "fs.write", object{"path": "a.txt", "content": "x"}).RunID
		return object{}, nil
	}}})
	outer := r.Must("a.run", object{}, nil)
	e := r.Call("air.undo", object{"run_id": nested})
	failed(t, e, fault.NotFound, "unknown_run")
	if !strings.Contains(e.Error.Hint, outer.RunID) {
		t.Errorf("hint %q does not name %s", e.Error.Hint, outer.RunID)
	}
}

// While a call is under way it is not undone.
func TestUnderWay(t *testing.T) {
	var r *rig.Rig
	r = rig.New(t, rig.Options{Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		rig.Call(ctx, access, "fs.write", object{"path": "a.txt", "content": "x"})
		failed(t, r.Call("air.undo", object{}), fault.Conflict, "run_under_way")
		return object{}, nil
	}}})
	r.Must("a.run", object{}, nil)
	r.Must("air.undo", object{}, nil)
}

// Of several who undo a call at once one does.
func TestUndoneOnce(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": three}})
	put(t, r)
	before := tree(t, r.Root)
	wrote := r.Must("a.run", object{}, nil)
	done := make(chan runtime.Envelope)
	for range 4 {
		go func() { done <- r.Call("air.undo", object{"run_id": wrote.RunID}) }()
	}
	undid := 0
	for range 4 {
		if e := <-done; e.Error == nil {
			undid++
		} else {
			failed(t, e, fault.Conflict, "already_undone")
		}
	}
	if got := tree(t, r.Root); got != before || undid != 1 {
		t.Errorf("%d undid it\n%s", undid, got)
	}
}

// Writes of one call at the same time are all recorded.
func TestWritesAtOnce(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		done := make(chan runtime.Envelope)
		for i := range 8 {
			go func() {
				done <- rig.Call(ctx, access, "fs.write", object{"path": fmt.Sprintf("d/%d", i%4), "content": strings.Repeat("x", 1000*i), "create_parent_dirs": true})
			}()
		}
		for range 8 {
			if e := <-done; e.Error != nil && e.Error.Kind != fault.Conflict && e.Error.Code != "not_decided" { // two onto one path
				return nil, e.Error
			}
		}
		return object{}, nil
	}}})
	before := tree(t, r.Root)
	r.Must("a.run", object{}, nil)
	r.Must("air.undo", object{}, nil)
	if got := tree(t, r.Root); got != before {
		t.Errorf("%s\nbefore\n%s", got, before)
	}
}

// Set-id bits, which a write takes off, come back with the owner, and so does the mode
// of a file that was made again.
func TestModes(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	path := r.Put("a.sh", "old")
	must(t, unix.Chmod(path, 0o4755))
	before := tree(t, r.Root)
	r.Must("fs.write", object{"path": "a.sh", "content": "new"}, nil)
	hasMode(t, path, 0o755)
	r.Must("air.undo", object{}, nil)
	if got := tree(t, r.Root); got != before {
		t.Errorf("%s\nbefore\n%s", got, before)
	}
	r.Must("fs.write", object{"path": "x/made", "content": "", "create_parent_dirs": true}, nil)
	made := tree(t, r.Root)
	undid := r.Must("air.undo", object{}, nil)
	r.Must("air.undo", object{"run_id": undid.RunID}, nil)
	if got := tree(t, r.Root); got != made {
		t.Errorf("%s\nbefore\n%s", got, made)
	}
}

func hasMode(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Mode() != mode {
		t.Errorf("%v %v, want %v", info.Mode(), err, mode)
	}
}

// All attributes come back, however many, or the file is not replaced.
func TestManyAttributes(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "air-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	r := rig.New(t, rig.Options{Dir: dir, Approver: rig.Yes})
	path := r.Put("a.txt", "old")
	attach := func(n, size int) {
		if err := unix.Setxattr(path, fmt.Sprintf("user.%d", n), make([]byte, size), 0); err != nil {
			t.Skipf("of %d bytes: %v", size, err)
		}
	}
	for i := range 4 {
		attach(i, 40_000)
	}
	attach(4, 1)
	before := tree(t, r.Root)
	r.Must("fs.write", object{"path": "a.txt", "content": "new"}, nil)
	must(t, os.Chmod(path, 0o644))
	r.Must("air.undo", object{}, nil)
	if got := tree(t, r.Root); got != before {
		t.Errorf("after undo\n%s\nbefore\n%s", got, before)
	}
	for i := range 20 {
		attach(i, 60_000)
	}
	before = tree(t, r.Root)
	failed(t, r.Call("fs.write", object{"path": "a.txt", "content": "new"}), fault.ResourceExhausted, "backup_record")
	if got := tree(t, r.Root); got != before {
		t.Errorf("changed\n%s\nto\n%s", before, got)
	}
}

// Folders that hold something else by now stay.
func TestFolderInUse(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Must("fs.write", object{"path": "x/y/a", "content": "", "create_parent_dirs": true}, nil)
	mine := r.Put("x/mine", "mine")
	r.Must("air.undo", object{}, nil)
	if got := content(t, mine); got != "mine" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(r.Root, "x", "y")); err == nil {
		t.Error("an empty folder of the call is still there")
	}
}
