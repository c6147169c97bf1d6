package git_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

// TestWorktreesAtOnce: of several with one branch one is made, and its branch stays; with a
// branch each, all are.
func TestWorktreesAtOnce(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("a.txt", "a\n")
	first := p.commit(p.Root, "one")
	create := func(count int, branch func(i int) string) (made int) {
		results := make([]runtime.Envelope, count)
		var all sync.WaitGroup
		for i := range count {
			all.Go(func() {
				results[i] = p.Call("git.worktree.create", object{"cwd": ".", "path": strings.ReplaceAll(branch(i), "/", "-") + fmt.Sprint(i), "branch_name": branch(i)})
			})
		}
		all.Wait()
		for _, e := range results {
			if e.Error == nil {
				made++
			} else if e.Error.Code != "branch_exists" {
				t.Errorf("%+v", e.Error)
			}
		}
		return made
	}
	if made := create(4, func(int) string { return "work/same" }); made != 1 {
		t.Errorf("%d were made of one branch", made)
	}
	if at := strings.TrimSpace(p.git("rev-parse", "refs/heads/work/same")); at != first {
		t.Errorf("the branch is at %s", at)
	}
	if made := create(20, func(i int) string { return fmt.Sprint("work/b", i) }); made != 20 {
		t.Errorf("%d were made", made)
	}
	all, err := p.workspaces().List()
	if err != nil || len(all) != 21 {
		t.Fatalf("%d %v", len(all), err)
	}
	for _, w := range all {
		if s := p.gitIn(w.Path, "status", "--porcelain", "--branch"); strings.TrimSpace(s) != "## "+w.Branch {
			t.Errorf("%s: %q", w.Path, s)
		}
	}
	p.git("fsck")
}

// TestWorktreeIsLocked: git does not forget a worktree that it does not see.
func TestWorktreeIsLocked(t *testing.T) {
	p := newProject(t, rig.Options{Approver: rig.Yes})
	p.Put("a.txt", "a\n")
	p.commit(p.Root, "one")
	w := p.workspace("w")
	p.Put(w.Path+"/b.txt", "b\n")
	for _, command := range []string{"git worktree prune -v --expire now", "git -c gc.worktreePruneExpire=now gc -q", "git worktree repair"} {
		p.Call("shell.run", object{"cwd": ".", "command": command})
		if s := p.status(w.Path); s.Branch != "work/w" || len(s.Untracked) != 1 {
			t.Fatalf("after %s: %+v", command, s)
		}
	}
	if out, e := p.merge(w, "patch_apply"); out.Status != "merged" {
		t.Errorf("%+v", e.Error)
	}
}

// TestWorktreeTaken: nobody is asked about a name that is in use.
func TestWorktreeTaken(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.commit(p.Root, "one")
	p.workspace("w")
	e := p.Call("git.worktree.create", object{"cwd": ".", "path": "w", "branch_name": "other"})
	p.fails(e, fault.Conflict, "workspace_exists")
	if !strings.Contains(e.Error.Hint, "air workspace ls") {
		t.Errorf("%q", e.Error.Hint)
	}
	e = p.Call("git.merge_workspace", object{"workspace_id": "nope", "strategy": "patch_apply"})
	p.fails(e, fault.NotFound, "unknown_workspace")
	if !strings.Contains(e.Error.Hint, "air workspace ls") {
		t.Errorf("%q", e.Error.Hint)
	}
}

// TestKilledCreator is what TestWorktreeBrokenOff kills.
func TestKilledCreator(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("for TestWorktreeBrokenOff")
	}
	r := rig.New(t, rig.Options{Dir: dir})
	r.Call("git.worktree.create", object{"cwd": ".", "path": "w", "branch_name": os.Getenv(killID)})
}

// TestWorktreeBrokenOff: what is left of a making that was killed is gone at the next, and no
// name stays taken.
func TestWorktreeBrokenOff(t *testing.T) {
	p := newProject(t, rig.Options{})
	for i := range 200 {
		p.Put(fmt.Sprintf("d%d/f.txt", i), "x\n")
	}
	p.commit(p.Root, "one")
	rounds, took := 8, time.Duration(0)
	if testing.Short() {
		rounds = 3
	}
	leftovers := 0
	for i := -1; i < rounds; i++ {
		c := exec.Command(os.Args[0], "-test.run=^TestKilledCreator$")
		c.Env = append(os.Environ(), killDir+"="+filepath.Dir(p.Root), killID+"="+fmt.Sprint("killed", i))
		start := time.Now()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if i >= 0 {
			time.Sleep(took * time.Duration(i+2) / time.Duration(rounds+2))
			_ = c.Process.Kill()
		}
		_ = c.Wait()
		if i < 0 {
			took = time.Since(start)
		}
		time.Sleep(300 * time.Millisecond) // the sandbox ends with its parent
		all, err := p.workspaces().List()
		if err != nil || len(all) > 1 {
			t.Fatalf("%+v %v", all, err)
		}
		if len(all) == 0 || all[0].Pending {
			leftovers += len(all)
			p.Must("git.worktree.create", object{"cwd": ".", "path": "w", "branch_name": fmt.Sprint("after", i)}, nil)
			if all, err = p.workspaces().List(); err != nil || len(all) != 1 || all[0].Pending {
				t.Fatalf("%+v %v", all, err)
			}
		}
		if s := p.gitIn(all[0].Path, "status", "--porcelain"); s != "" {
			t.Errorf("%q", s)
		}
		if err := p.workspaces().Remove(all[0]); err != nil {
			t.Fatal(err)
		}
		if list := p.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
			t.Errorf("%s", list)
		}
	}
	t.Logf("%d of %d left something", leftovers, rounds)
	if err := p.workspaces().Put(runtime.Workspace{ID: "01890000-0000-7000-8000-000000000001", Path: p.workspaces().Dir + "/x", Common: p.Root + "/.git", Pending: true}); err != nil {
		t.Fatal(err)
	}
	p.Put(p.workspaces().Dir+"/x/half", "")
	if err := p.workspaces().Sweep(); err != nil {
		t.Fatal(err)
	}
	if all, err := p.workspaces().List(); err != nil || len(all) != 0 {
		t.Errorf("%+v %v", all, err)
	}
	if _, err := os.Lstat(p.workspaces().Dir + "/x"); err == nil {
		t.Error("the folder stayed")
	}
}
