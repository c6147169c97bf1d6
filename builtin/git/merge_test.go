package git_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// everything is a digest of each file of the project, and of what git refers to: HEAD,
// index, branches and their logs. Objects that nothing refers to are no part of it.
func (p project) everything() map[string]string {
	p.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(p.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "objects" {
				return filepath.SkipDir
			}
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, _ := os.Readlink(path)
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(text))
		}
		rel, _ := filepath.Rel(p.Root, path)
		all[rel] = info.Mode().String() + " " + content
		return nil
	})
	if err != nil {
		p.Fatal(err)
	}
	return all
}

// same checks that nothing of the project has changed.
func (p project) same(before map[string]string) {
	p.Helper()
	now := p.everything()
	for name, state := range before {
		if now[name] != state {
			p.Errorf("%s was %s and is %q", name, state, now[name])
		}
	}
	for name := range now {
		if _, there := before[name]; !there {
			p.Errorf("%s is new", name)
		}
	}
}

// diverging is a project with a workspace whose commits do not conflict with the project's.
func diverging(t *testing.T, o rig.Options) (project, workspaceOutput) {
	t.Helper()
	p := newProject(t, o)
	p.Put("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	p.Put("gone.txt", "gone\n")
	p.Put("old.txt", strings.Repeat("the same\n", 20))
	p.Put("private.txt", "x\n")
	p.commit(p.Root, "one")
	w := p.workspace("w")
	p.Put(w.Path+"/a.txt", "one\n2\n3\n4\n5\n6\n7\n8\n9\n")
	p.Put(w.Path+"/new dir/ü\nname.txt", "new\n")
	p.gitIn(w.Path, "rm", "-q", "gone.txt")
	p.gitIn(w.Path, "mv", "old.txt", "moved.txt")
	if err := os.Symlink("a.txt", w.Path+"/link"); err != nil {
		t.Fatal(err)
	}
	p.commit(w.Path, "work")
	return p, w
}

var changedByWork = []string{"a.txt", "new dir/ü\nname.txt", "gone.txt", "old.txt", "moved.txt", "link"}

// merged checks that the files of the project are those that the workspace made of them.
func (p project) merged(first string) {
	p.Helper()
	if !strings.HasPrefix(p.read("a.txt"), first) || p.read("new dir/ü\nname.txt") != "new\n" || p.read("link") != p.read("a.txt") {
		p.Errorf("a.txt is %q", p.read("a.txt"))
	}
	for _, name := range []string{"gone.txt", "old.txt"} {
		if _, err := os.Lstat(filepath.Join(p.Root, name)); err == nil {
			p.Errorf("%s is still there", name)
		}
	}
}

func TestMergeFastForward(t *testing.T) {
	p, w := diverging(t, rig.Options{})
	p.Put("untracked.txt", "stays\n")
	p.Put("private.txt", "uncommitted, and not in the way\n")
	out, e := p.merge(w, "fast_forward")
	if e.Error != nil || out.Status != "merged" {
		t.Fatalf("%+v %+v", out, e.Error)
	}
	want(t, "changed", out.Changed, changedByWork)
	p.merged("one\n2\n")
	head := strings.TrimSpace(p.git("rev-parse", "HEAD"))
	if head != strings.TrimSpace(p.gitIn(w.Path, "rev-parse", "HEAD")) || strings.TrimSpace(p.git("symbolic-ref", "HEAD")) != "refs/heads/main" {
		t.Errorf("HEAD is %s", head)
	}
	s := p.status(".")
	want(t, "modified", s.Modified, []string{"private.txt"})
	want(t, "untracked", s.Untracked, []string{"untracked.txt"})
	want(t, "staged", s.Staged, nil)
	if d := p.artifact(out.DiffID); !strings.Contains(d, "rename from old.txt") {
		t.Errorf("%s", d)
	}
	var payload struct{ Workspace_ID, Source, Target, Result, Into, Strategy string }
	for _, ev := range p.Events(e.RunID) {
		if ev.Type == event.WorkspaceMerged {
			if err := json.Unmarshal(ev.Payload, &payload); err != nil {
				t.Fatal(err)
			}
		}
	}
	if payload.Workspace_ID != w.ID || payload.Result != head || payload.Source != head || payload.Into != "refs/heads/main" || payload.Strategy != "fast_forward" {
		t.Errorf("%+v", payload)
	}
	out, e = p.merge(w, "fast_forward") // again: nothing to do
	if e.Error != nil || out.Status != "merged" || len(out.Changed) != 0 {
		t.Errorf("%+v %+v", out, e.Error)
	}
	p.Put("more.txt", "x\n")
	p.commit(p.Root, "diverges")
	p.Put(w.Path+"/other.txt", "x\n")
	p.commit(w.Path, "diverges too")
	before := p.everything()
	out, e = p.merge(w, "fast_forward")
	p.fails(e, fault.Conflict, "not_fast_forward")
	if out.Status != "failed" {
		t.Errorf("%+v", out)
	}
	p.same(before)
}

func TestMergeManual(t *testing.T) {
	p, w := diverging(t, rig.Options{})
	p.git("config", "--unset", "user.name") // the person's own, by what air tells commands
	p.git("config", "--unset", "user.email")
	p.Put("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	p.gitIn(p.Root, "add", "-A")
	p.git("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "ours")
	ours := strings.TrimSpace(p.git("rev-parse", "HEAD"))
	out, e := p.merge(w, "manual_merge")
	if e.Error != nil || out.Status != "merged" {
		t.Fatalf("%+v %+v", out, e.Error)
	}
	want(t, "changed", out.Changed, changedByWork)
	p.merged("one\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	parents := strings.Fields(p.git("log", "-1", "--format=%P %an %ae"))
	if parents[0] != ours || parents[1] != strings.TrimSpace(p.gitIn(w.Path, "rev-parse", "HEAD")) || parents[len(parents)-1] != "person@example.com" {
		t.Errorf("%q", parents)
	}
	if s := p.status("."); !s.Clean {
		t.Errorf("%+v", s)
	}
	p.git("fsck", "--strict")
}

func TestMergeManualConflict(t *testing.T) {
	p, w := diverging(t, rig.Options{})
	p.Put("a.txt", "uno\n2\n3\n4\n5\n6\n7\n8\n9\n")
	p.Put("gone.txt", "changed here\n")
	p.commit(p.Root, "ours")
	before := p.everything()
	out, e := p.merge(w, "manual_merge")
	if e.Error != nil || out.Status != "conflicted" || len(out.Changed) != 0 {
		t.Fatalf("%+v %+v", out, e.Error)
	}
	p.same(before)
	var report struct {
		Messages []string
		Files    []struct{ Path, Content string }
	}
	if err := json.Unmarshal([]byte(p.artifact(out.ConflictID)), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Files) != 2 || report.Files[0].Path != "a.txt" || !strings.Contains(report.Files[0].Content, "<<<<<<<") ||
		!strings.Contains(report.Files[0].Content, "uno\n=======\none\n") || !strings.Contains(strings.Join(report.Messages, "\n"), "CONFLICT (modify/delete)") {
		t.Errorf("%+v", report)
	}
}

func TestMergePatch(t *testing.T) {
	p, w := diverging(t, rig.Options{})
	p.Put("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	ours := p.commit(p.Root, "ours")
	p.Put(w.Path+"/uncommitted.txt", "untracked in the workspace\n")
	p.Put(w.Path+"/bin", "\x00\x01binary")
	p.Put(w.Path+"/.env", "SECRET=1\n")
	index := p.read(".git/index")
	out, e := p.merge(w, "patch_apply")
	if e.Error != nil || out.Status != "merged" {
		t.Fatalf("%+v %+v", out, e.Error)
	}
	want(t, "changed", out.Changed, append([]string{"uncommitted.txt", "bin"}, changedByWork...))
	p.merged("one\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	if p.read("uncommitted.txt") != "untracked in the workspace\n" || p.read("bin") != "\x00\x01binary" {
		t.Error("what was not committed is missing")
	}
	if _, err := os.Stat(p.Root + "/.env"); err == nil {
		t.Error("a secret came along")
	}
	if strings.TrimSpace(p.git("rev-parse", "HEAD")) != ours || p.read(".git/index") != index {
		t.Error("something was committed or staged")
	}
	if got := p.gitIn(w.Path, "status", "--porcelain"); got != "?? .env\n?? bin\n?? uncommitted.txt\n" {
		t.Errorf("the workspace itself has changed: %q", got)
	}
	before := p.everything()
	_, e = p.merge(w, "patch_apply")
	p.fails(e, fault.Conflict, "target_dirty")
	p.same(before)
}

func TestMergePatchConflict(t *testing.T) {
	p, w := diverging(t, rig.Options{})
	p.Put("a.txt", "uno\n2\n3\n4\n5\n6\n7\n8\n9\n")
	p.commit(p.Root, "ours")
	before := p.everything()
	out, e := p.merge(w, "patch_apply")
	if e.Error != nil || out.Status != "conflicted" || !strings.Contains(p.artifact(out.ConflictID), `"a.txt"`) {
		t.Fatalf("%+v %+v", out, e.Error)
	}
	p.same(before)
}

func TestMergeIntoAnotherBranch(t *testing.T) {
	p, w := diverging(t, rig.Options{})
	p.git("branch", "release")
	before := p.everything()
	e := p.Call("git.merge_workspace", object{"workspace_id": w.ID, "strategy": "fast_forward", "target_ref": "release"})
	if e.Error != nil {
		t.Fatal(e.Error)
	}
	if p.git("rev-parse", "release") != p.gitIn(w.Path, "rev-parse", "HEAD") {
		t.Error("the branch did not move")
	}
	for _, name := range []string{".git/refs/heads/release", ".git/logs/refs/heads/release"} {
		delete(before, name)
		_ = os.Remove(filepath.Join(p.Root, name))
	}
	p.same(before)
	p.git("branch", "other")
	p.git("worktree", "add", "-q", p.Outside+"/tree", "other")
	for ref, code := range map[string]string{"other": "target_checked_out", "-x": "bad_branch_name", "HEAD": "bad_branch_name", "none": "unknown_ref", "refs/heads/../x": "bad_branch_name"} {
		e := p.Call("git.merge_workspace", object{"workspace_id": w.ID, "strategy": "fast_forward", "target_ref": ref})
		if e.Error == nil || e.Error.Code != code {
			t.Errorf("%s: %+v", ref, e.Error)
		}
	}
	p.git("worktree", "list")
	if list := p.git("worktree", "list"); !strings.Contains(list, "tree") {
		t.Errorf("a worktree that air does not see was forgotten: %s", list)
	}
}

// TestMergeUntouched: whatever keeps a merge from happening, the target is as it was.
func TestMergeUntouched(t *testing.T) {
	for name, c := range map[string]struct {
		spoil    func(p project, w workspaceOutput)
		strategy []string
		code     string
	}{
		"a changed file":    {func(p project, _ workspaceOutput) { p.Put("a.txt", "dirty\n") }, nil, "target_dirty"},
		"a staged file":     {func(p project, _ workspaceOutput) { p.Put("a.txt", "dirty\n"); p.git("add", "a.txt") }, nil, "target_dirty"},
		"a deleted file":    {func(p project, _ workspaceOutput) { _ = os.Remove(p.Root + "/gone.txt") }, nil, "target_dirty"},
		"an untracked file": {func(p project, _ workspaceOutput) { p.Put("moved.txt", "mine\n") }, nil, "untracked_in_the_way"},
		"an ignored file": {func(p project, _ workspaceOutput) {
			p.Put(".git/info/exclude", "moved.txt\n")
			p.Put("moved.txt", "mine\n")
		}, nil, "untracked_in_the_way"},
		"a file as a folder":     {func(p project, _ workspaceOutput) { p.Put("new dir", "mine\n") }, nil, ""},
		"a folder in the way":    {func(p project, _ workspaceOutput) { p.Put("moved.txt/x", "mine\n") }, nil, "untracked_in_the_way"},
		"an uncommitted change":  {func(p project, w workspaceOutput) { p.Put(w.Path+"/a.txt", "dirty\n") }, []string{"fast_forward", "manual_merge"}, "workspace_dirty"},
		"a detached head":        {func(p project, _ workspaceOutput) { p.git("checkout", "-q", "--detach") }, []string{"fast_forward", "manual_merge"}, "detached_head"},
		"a lock of git":          {func(p project, _ workspaceOutput) { p.Put(".git/index.lock", "") }, []string{"fast_forward", "manual_merge"}, ""},
		"a workspace moved away": {func(p project, w workspaceOutput) { _ = os.Rename(w.Path, w.Path+"2") }, nil, ""},
	} {
		strategies := c.strategy
		if strategies == nil {
			strategies = []string{"fast_forward", "manual_merge", "patch_apply"}
		}
		for _, strategy := range strategies {
			t.Run(name+" "+strategy, func(t *testing.T) {
				p, w := diverging(t, rig.Options{})
				c.spoil(p, w)
				before := p.everything()
				out, e := p.merge(w, strategy)
				if e.Error == nil && out.Status != "conflicted" || e.Error != nil && c.code != "" && e.Error.Code != c.code {
					t.Errorf("%+v %+v", out, e.Error)
				}
				p.same(before)
			})
		}
	}
}

// TestMergeBrokenOff: a file that cannot be written half-way.
func TestMergeBrokenOff(t *testing.T) {
	for _, strategy := range []string{"fast_forward", "manual_merge", "patch_apply"} {
		t.Run(strategy, func(t *testing.T) {
			p := newProject(t, rig.Options{})
			for _, name := range []string{"a.txt", "m/fixed/f.txt", "z.txt"} {
				p.Put(name, "old\n")
			}
			p.commit(p.Root, "one")
			w := p.workspace("w")
			for _, name := range []string{"a.txt", "b-new.txt", "m/fixed/f.txt", "z.txt"} {
				p.Put(w.Path+"/"+name, "new\n")
			}
			p.commit(w.Path, "work")
			if err := os.Chmod(p.Root+"/m/fixed", 0o555); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(p.Root+"/m/fixed", 0o755)
			before := p.everything()
			out, e := p.merge(w, strategy)
			if e.Error == nil {
				t.Fatalf("%+v", out)
			}
			p.same(before)
		})
	}
}

// TestMergeDecides: each path is decided by itself before anything is changed.
func TestMergeDecides(t *testing.T) {
	for name, c := range map[string]struct {
		path  string
		rules string
		kind  fault.Kind
	}{
		"obeyed":     {".github/workflows/ci.yml", "", fault.ApprovalRequired},
		"attributes": {".gitattributes", "", fault.ApprovalRequired},
		"a secret":   {"deep/.env", "", fault.PermissionDenied},
		"air's own":  {".air/shared/permissions.yaml", "", fault.PermissionDenied},
		"by a rule":  {"docs/x.md", "schema_version: 1\nrules:\n  - deny: write(docs/**)\n", fault.PermissionDenied},
	} {
		for _, strategy := range []string{"fast_forward", "manual_merge", "patch_apply"} {
			t.Run(name+" "+strategy, func(t *testing.T) {
				p := newProject(t, rig.Options{Rules: c.rules})
				p.commit(p.Root, "one")
				w := p.workspace("w")
				p.Put(w.Path+"/a.txt", "x\n")
				p.Put(w.Path+"/"+c.path, "x\n")
				p.gitIn(w.Path, "add", "-f", "-A", ".")
				p.gitIn(w.Path, "add", "-f", c.path)
				p.gitIn(w.Path, "commit", "-q", "-m", "work")
				before := p.everything()
				_, e := p.merge(w, strategy)
				if e.Error == nil || e.Error.Kind != c.kind {
					t.Errorf("%+v", e.Error)
				}
				p.same(before)
			})
		}
	}
}

// TestMergeApproved: a person is asked once about what others obey, and then it is merged.
func TestMergeApproved(t *testing.T) {
	for _, strategy := range []string{"fast_forward", "manual_merge", "patch_apply"} {
		t.Run(strategy, func(t *testing.T) {
			var asked []string
			person := rig.Person(func(_ context.Context, q permission.Question) (permission.Answer, error) {
				for _, d := range q.Asks {
					asked = append(asked, d.Effect.Target)
				}
				return permission.Answer{Choice: permission.Once}, nil
			})
			p := newProject(t, rig.Options{Approver: person})
			p.Put(".github/workflows/old.yml", "old\n")
			p.commit(p.Root, "one")
			w := p.workspace("w")
			for _, name := range []string{".github/workflows/ci.yml", ".github/workflows/old.yml", "a.txt"} {
				p.Put(w.Path+"/"+name, "new\n")
			}
			p.commit(w.Path, "work")
			out, e := p.merge(w, strategy)
			if e.Error != nil || out.Status != "merged" {
				t.Fatalf("%+v %+v", out, e.Error)
			}
			slices.Sort(asked)
			want(t, "asked", asked, []string{p.Root + "/.github/workflows/ci.yml", p.Root + "/.github/workflows/old.yml"})
			for _, name := range []string{".github/workflows/ci.yml", ".github/workflows/old.yml", "a.txt"} {
				if p.read(name) != "new\n" {
					t.Errorf("%s: %q", name, p.read(name))
				}
			}
		})
	}
}
