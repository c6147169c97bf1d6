package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// workspaces are what is recorded.
func (p project) workspaces() runtime.Workspaces {
	return runtime.WorkspacesIn(p.Project.Dir, permission.NewPaths(permission.PathsConfig{ProjectRoot: p.Root, Worktrees: filepath.Join(p.Project.Dir, "workspaces")}))
}

func TestWorktree(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("a.txt", "one\n")
	p.Put("sub/run.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(p.Root, "sub/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	first := p.commit(p.Root, "one")
	p.Put("a.txt", "two\n")
	p.commit(p.Root, "two")
	var out workspaceOutput
	e := p.Must("git.worktree.create", object{"cwd": "sub", "path": "fix", "branch_name": "work/fix", "base_ref": "HEAD~1"}, &out)
	if out.Path != filepath.Join(p.Project.Dir, "workspaces", "fix") || out.Branch != "work/fix" || p.read(out.Path+"/a.txt") != "one\n" {
		t.Fatalf("%+v", out)
	}
	if info, err := os.Stat(out.Path + "/sub/run.sh"); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("%v %v", info, err)
	}
	if got := strings.TrimSpace(p.gitIn(out.Path, "status", "--porcelain")); got != "" {
		t.Errorf("the new worktree is not clean: %s", got)
	}
	w, err := p.workspaces().Get(out.ID)
	if err != nil || w.Base != first || w.Pending || w.Branch != "work/fix" || w.BaseRef != "HEAD~1" {
		t.Errorf("%+v %v", w, err)
	}
	created := 0
	for _, ev := range p.Events(e.RunID) {
		if ev.Type == event.WorkspaceCreated {
			created++
			if !strings.Contains(string(ev.Payload), out.ID) || !strings.Contains(string(ev.Payload), first) {
				t.Errorf("%s", ev.Payload)
			}
		}
	}
	if created != 1 {
		t.Errorf("%d events", created)
	}
	p.Put(out.Path+"/a.txt", "three\n")
	p.Put(out.Path+"/n.txt", "new\n")
	s := p.status(out.Path)
	if s.Branch != "work/fix" {
		t.Errorf("%+v", s)
	}
	want(t, "modified", s.Modified, []string{out.Path + "/a.txt"})
	want(t, "untracked", s.Untracked, []string{out.Path + "/n.txt"})
	if d := p.diff(object{"cwd": out.Path}); !strings.Contains(d.Diff, "+three") {
		t.Errorf("%+v", d)
	}
	p.Must("fs.write", object{"path": out.Path + "/by-tool.txt", "content": "x"}, nil)
	if err := p.workspaces().Remove(w); err != nil {
		t.Fatal(err)
	}
	if list := p.git("worktree", "list"); strings.Contains(list, "fix") {
		t.Errorf("git still knows it: %s", list)
	}
	if all, err := p.workspaces().List(); err != nil || len(all) != 0 {
		t.Errorf("%+v %v", all, err)
	}
}

func TestWorktreeRefused(t *testing.T) {
	p := newProject(t, rig.Options{Approver: rig.Yes})
	p.commit(p.Root, "one")
	p.git("branch", "there")
	w := p.workspace("taken")
	before := p.everything()
	for name, c := range map[string]struct {
		path, branch, base string
		kind               fault.Kind
		code               string
	}{
		"outside":          {p.Outside + "/w", "b", "", fault.InvalidInput, "bad_workspace_path"},
		"in the project":   {p.Root + "/w", "b", "", fault.InvalidInput, "bad_workspace_path"},
		"upwards":          {"../w", "b", "", fault.InvalidInput, "bad_workspace_path"},
		"the folder":       {p.Project.Dir + "/workspaces", "b", "", fault.InvalidInput, "bad_workspace_path"},
		"through":          {p.Project.Dir + "/workspaces/../keys", "b", "", fault.InvalidInput, "bad_workspace_path"},
		"two levels":       {"a/b", "b", "", fault.InvalidInput, "bad_workspace_path"},
		"an option":        {"-f", "b", "", fault.InvalidInput, "bad_workspace_path"},
		"a dot":            {".git", "b", "", fault.InvalidInput, "bad_workspace_path"},
		"taken":            {"taken", "b", "", fault.Conflict, "workspace_exists"},
		"a branch option":  {"w", "--force", "", fault.InvalidInput, "bad_branch_name"},
		"a branch path":    {"w", "../../x", "", fault.InvalidInput, "bad_branch_name"},
		"a branch lock":    {"w", "x.lock", "", fault.InvalidInput, "bad_branch_name"},
		"a branch blank":   {"w", "a b", "", fault.InvalidInput, "bad_branch_name"},
		"a branch there":   {"w", "there", "", fault.Conflict, "branch_exists"},
		"a branch below":   {"w", "there/x", "", fault.Unavailable, "git_failed"},
		"an unknown base":  {"w", "b", "nothing", fault.NotFound, "unknown_ref"},
		"a base as option": {"w", "b", "--all", fault.NotFound, "unknown_ref"},
	} {
		input := object{"cwd": ".", "path": c.path, "branch_name": c.branch}
		if c.base != "" {
			input["base_ref"] = c.base
		}
		t.Run(name, func(t *testing.T) {
			project{p.Rig}.fails(p.Call("git.worktree.create", input), c.kind, c.code)
			p.same(before)
		})
	}
	all, err := p.workspaces().List()
	if err != nil || len(all) != 1 || all[0].ID != w.ID {
		t.Errorf("%+v %v", all, err)
	}
	if entries, _ := os.ReadDir(filepath.Join(p.Project.Dir, "workspaces")); len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}

// TestWorktreeFails: what cannot be checked out leaves nothing.
func TestWorktreeFails(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("a.txt", "a\n")
	p.commit(p.Root, "one")
	id := strings.TrimSpace(p.git("rev-parse", "HEAD:a.txt"))
	if err := os.Remove(filepath.Join(p.Root, ".git/objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	before := p.everything()
	e := p.Call("git.worktree.create", object{"cwd": ".", "path": "w", "branch_name": "b"})
	if e.Error == nil {
		t.Fatalf("%s", e.Output)
	}
	p.same(before)
	if list := p.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		t.Errorf("%s", list)
	}
	if entries, _ := os.ReadDir(filepath.Join(p.Project.Dir, "workspaces")); len(entries) != 0 {
		t.Errorf("%v", entries)
	}
}

// TestWorkspaceForgery: records do not lead the removal to other folders.
func TestWorkspaceForgery(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("precious/x", "x")
	all := p.workspaces()
	for _, w := range []runtime.Workspace{
		{ID: "01890000-0000-7000-8000-000000000001", Path: p.Root + "/precious"},
		{ID: "01890000-0000-7000-8000-000000000001", Path: all.Dir},
		{ID: "01890000-0000-7000-8000-000000000001", Path: all.Dir + "/x", Common: p.Root + "/precious"},
	} {
		_ = all.Remove(w)
	}
	if p.read("precious/x") != "x" {
		t.Error("gone")
	}
	for _, id := range []string{"", "../x", "x", strings.Repeat("a", 64)} {
		if _, err := all.Get(id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
