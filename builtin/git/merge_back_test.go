package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

var strategies = []string{"fast_forward", "manual_merge", "patch_apply"}

// TestMergeHiddenChange: a change that git was told not to look at is one all the same.
func TestMergeHiddenChange(t *testing.T) {
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		for _, name := range []string{"gone.txt", "a.txt", "old.txt"} {
			for _, strategy := range strategies {
				t.Run(strings.Join([]string{flag, name, strategy}, " "), func(t *testing.T) {
					p, w := diverging(t, rig.Options{})
					p.git("update-index", flag, name)
					p.Put(name, "mine\n")
					before := p.everything()
					out, e := p.merge(w, strategy)
					p.fails(e, fault.Conflict, "target_dirty")
					if out.Status != "failed" || !strings.Contains(e.Error.Hint, "--no-assume-unchanged") {
						t.Errorf("%+v %q", out, e.Error.Hint)
					}
					p.same(before)
				})
			}
		}
	}
}

// TestMergeConcurrentWrite: what another program writes while a merge is under way stays.
// The merge fails in the folder that cannot be written.
func TestMergeConcurrentWrite(t *testing.T) {
	for _, strategy := range []string{"fast_forward", "manual_merge"} {
		t.Run(strategy, func(t *testing.T) {
			for range 5 { // a busy machine may let the moment pass
				if concurrentWrite(t, strategy) {
					return
				}
			}
			t.Error("nothing was written while a merge was under way")
		})
	}
}

// concurrentWrite reports whether the write came in time.
func concurrentWrite(t *testing.T, strategy string) bool {
	p := newProject(t, rig.Options{})
	for _, name := range []string{"a.txt", "m/fixed/f.txt", "y-gone.txt", "z.txt"} {
		p.Put(name, "old\n")
	}
	p.commit(p.Root, "one")
	w := p.workspace("w")
	for _, name := range []string{"a.txt", "m/fixed/f.txt", "z.txt", "b/new.txt"} {
		p.Put(w.Path+"/"+name, "new\n")
	}
	p.gitIn(w.Path, "rm", "-q", "y-gone.txt")
	p.commit(w.Path, "work")
	if err := os.Chmod(p.Root+"/m/fixed", 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(p.Root+"/m/fixed", 0o755)
	written, merged := make(chan bool, 1), make(chan bool)
	go func() {
		for {
			select {
			case <-merged:
				written <- false
				return
			case <-time.After(50 * time.Microsecond):
			}
			if _, err := os.Lstat(filepath.Join(p.Root, ".git/index.lock")); err == nil {
				_ = os.WriteFile(filepath.Join(p.Root, "y-gone.txt"), []byte("mine\n"), 0o644)
				_ = os.WriteFile(filepath.Join(p.Root, "z.txt"), []byte("mine\n"), 0o644)
				written <- true
				return
			}
		}
	}()
	out, e := p.merge(w, strategy)
	close(merged)
	if !<-written {
		return false
	}
	p.fails(e, fault.Conflict, "not_merged")
	if out.Status != "failed" || strings.Contains(e.Error.Hint, "as they were") && !strings.Contains(e.Error.Hint, "z.txt") {
		t.Errorf("%+v %q", out, e.Error.Hint)
	}
	for name, content := range map[string]string{"a.txt": "old\n", "m/fixed/f.txt": "old\n", "y-gone.txt": "mine\n", "z.txt": "mine\n"} {
		if got := p.read(name); got != content {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := os.Lstat(p.Root + "/b/new.txt"); err == nil {
		t.Error("a new file stayed")
	}
	return true
}

// TestMergeKeepsItsDiffFirst: where the diff cannot be kept, nothing is merged.
func TestMergeKeepsItsDiffFirst(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			p, w := diverging(t, rig.Options{})
			dir := filepath.Join(p.Session.Dir, "artifacts")
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			before := p.everything()
			out, e := p.merge(w, strategy)
			if e.Error == nil || out.Status != "failed" {
				t.Errorf("%+v", out)
			}
			p.same(before)
		})
	}
}

// TestMergeUndone: a patch is undone as any change is; of what git committed an undo says how
// to go back, rather than undoing what was before.
func TestMergeUndone(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			p := newProject(t, rig.Options{})
			for _, name := range []string{"a.txt", "gone.txt", "run.sh"} {
				p.Put(name, "old\n")
			}
			p.Put("bin", "\x00old")
			p.commit(p.Root, "one")
			w := p.workspace("w")
			p.Must("fs.write", object{"path": w.Path + "/written.txt", "content": "new\n"}, nil) // what undo once took back instead
			p.Put(w.Path+"/a.txt", "new\n")
			p.Put(w.Path+"/bin", "\x00new")
			p.Put(w.Path+"/deep/er/new.txt", "new\n")
			p.gitIn(w.Path, "rm", "-q", "gone.txt")
			if err := os.Chmod(w.Path+"/run.sh", 0o755); err != nil {
				t.Fatal(err)
			}
			p.commit(w.Path, "work")
			before := p.everything()
			out, e := p.merge(w, strategy)
			if e.Error != nil || out.Status != "merged" {
				t.Fatalf("%+v", e.Error)
			}
			want(t, "changed", out.Changed, []string{"a.txt", "bin", "deep/er/new.txt", "gone.txt", "run.sh", "written.txt"})
			if info, err := os.Stat(p.Root + "/run.sh"); err != nil || info.Mode()&0o100 == 0 || p.read("bin") != "\x00new" {
				t.Errorf("%v %v %q", info, err, p.read("bin"))
			}
			undone := p.Call("air.undo", object{})
			if strategy != "patch_apply" {
				p.fails(undone, fault.Conflict, "not_undoable")
				command, _, _ := strings.Cut(undone.Error.Hint, " goes back")
				p.gitIn(p.Root, strings.Fields(command)[1:]...)
				for name := range before {
					if strings.HasPrefix(name, ".git/") {
						delete(before, name)
					}
				}
				p.contains(before)
				return
			}
			if undone.Error != nil {
				t.Fatal(undone.Error)
			}
			p.same(before)
			if _, err := os.Lstat(p.Root + "/deep"); err == nil {
				t.Error("a folder stayed")
			}
		})
	}
}

// TestMergeUndoneWithLinks: an undo leaves links, and says that there is more.
func TestMergeUndoneWithLinks(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("a.txt", "a\n")
	p.commit(p.Root, "one")
	w := p.workspace("w")
	p.Put(w.Path+"/a.txt", "b\n")
	if err := os.Symlink("a.txt", w.Path+"/link"); err != nil {
		t.Fatal(err)
	}
	if _, e := p.merge(w, "patch_apply"); e.Error != nil {
		t.Fatal(e.Error)
	}
	var out struct{ Partial bool }
	p.Must("air.undo", object{}, &out)
	if status := p.git("status", "--porcelain"); status != "?? link\n" || !out.Partial {
		t.Errorf("%q %v", status, out.Partial)
	}
}

// contains checks that files are as they were.
func (p project) contains(before map[string]string) {
	p.Helper()
	now := p.everything()
	for name, state := range before {
		if now[name] != state {
			p.Errorf("%s was %s and is %q", name, state, now[name])
		}
	}
}

// TestMergeOddTargets: a target without a branch, one without commits, and a workspace whose
// folder is gone.
func TestMergeOddTargets(t *testing.T) {
	p, w := diverging(t, rig.Options{})
	p.git("checkout", "-q", "--detach")
	out, e := p.merge(w, "patch_apply")
	if e.Error != nil || out.Status != "merged" {
		t.Fatalf("%+v", e.Error)
	}
	p.merged("one\n")

	p, w = diverging(t, rig.Options{})
	p.git("checkout", "-q", "--orphan", "fresh")
	before := p.everything()
	for _, strategy := range strategies {
		_, e := p.merge(w, strategy)
		p.fails(e, fault.NotFound, "unknown_ref")
	}
	p.same(before)

	p, w = diverging(t, rig.Options{})
	if err := os.RemoveAll(w.Path); err != nil {
		t.Fatal(err)
	}
	before = p.everything()
	for _, strategy := range strategies {
		if _, e := p.merge(w, strategy); e.Error == nil {
			t.Errorf("%s of a workspace that is gone", strategy)
		}
	}
	p.same(before)
	one, err := p.workspaces().Get(w.ID)
	if err == nil {
		err = p.workspaces().Remove(one)
	}
	if list := p.git("worktree", "list"); err != nil || strings.Contains(list, "workspaces/w") {
		t.Errorf("%v %s", err, list)
	}
}

// TestMergeSubmodule: the commit of a submodule moves as a file does, and nothing is fetched.
func TestMergeSubmodule(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			p := newProject(t, rig.Options{})
			p.Put("a.txt", "a\n")
			one := p.commit(p.Root, "one")
			if err := os.Mkdir(p.Root+"/lib", 0o755); err != nil {
				t.Fatal(err)
			}
			p.git("update-index", "--add", "--cacheinfo", "160000,"+one+",lib")
			p.Put(".gitmodules", "[submodule \"lib\"]\n\tpath = lib\n\turl = ext::touch "+p.Outside+"/ran\n")
			p.git("add", ".gitmodules")
			p.git("commit", "-q", "-m", "with a submodule")
			w := p.workspace("w")
			two := strings.TrimSpace(p.git("rev-parse", "HEAD"))
			p.gitIn(w.Path, "update-index", "--cacheinfo", "160000,"+two+",lib")
			p.Put(w.Path+"/a.txt", "b\n")
			p.gitIn(w.Path, "add", "a.txt")
			p.gitIn(w.Path, "commit", "-q", "-m", "work")
			out, e := p.merge(w, strategy)
			if e.Error != nil || out.Status != "merged" || p.read("a.txt") != "b\n" {
				t.Fatalf("%+v", e.Error)
			}
			if strategy != "patch_apply" && !strings.Contains(p.git("ls-tree", "HEAD", "lib"), two) {
				t.Error(p.git("ls-tree", "HEAD", "lib"))
			}
			if entries, err := os.ReadDir(p.Root + "/lib"); err != nil || len(entries) > 0 {
				t.Errorf("%v %v", entries, err)
			}
			if _, err := os.Lstat(p.Outside + "/ran"); err == nil {
				t.Error("the submodule's address was followed")
			}
		})
	}
}
