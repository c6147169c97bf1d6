package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

// TestForeignObjects: a folder of objects outside the project is not read.
func TestForeignObjects(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("a.txt", "a\n")
	p.commit(p.Root, "one")
	p.gitIn(p.Outside, "init", "-q", "repo")
	p.Put(p.Outside+"/repo/secret.txt", "the secret of another\n")
	secret := strings.TrimSpace(p.gitIn(p.Outside+"/repo", "hash-object", "-w", "secret.txt"))
	p.Put(".git/objects/info/alternates", p.Outside+"/repo/.git/objects\n")
	p.git("update-index", "--add", "--cacheinfo", "100644,"+secret+",leak.txt")
	if d := p.git("diff", "--cached"); !strings.Contains(d, "the secret") { // git itself finds it
		t.Fatal(d)
	}
	for _, e := range []runtime.Envelope{p.Call("git.diff", object{"cwd": ".", "staged": true}), p.Call("git.status", object{"cwd": "."})} {
		if strings.Contains(string(p.JSON(e)), "the secret") {
			t.Errorf("%s", p.JSON(e))
		}
	}
	e := p.Call("git.diff", object{"cwd": ".", "staged": true})
	p.fails(e, fault.Unavailable, "git_failed")
}

// TestReplacedCommit: a commit that git is told to take for another brings no path past its
// decision.
func TestReplacedCommit(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			p := newProject(t, rig.Options{Rules: "schema_version: 1\nrules:\n  - deny: write(docs/**)\n"})
			p.Put("a.txt", "a\n")
			p.commit(p.Root, "one")
			w := p.workspace("w")
			p.Put(w.Path+"/a.txt", "b\n")
			work := p.commit(w.Path, "work")
			p.Put(w.Path+"/docs/x.md", "x\n")
			other := p.commit(w.Path, "other")
			p.gitIn(w.Path, "reset", "-q", "--hard", work)
			p.git("replace", work, strings.TrimSpace(p.git("commit-tree", "-p", work+"^", "-m", "x", other+"^{tree}")))
			_, _ = p.merge(w, strategy)
			if _, err := os.Lstat(p.Root + "/docs"); err == nil {
				t.Error("a path that is denied was written")
			}
		})
	}
}

// TestTreeBomb: ten million files in a few small objects end with the call's time.
func TestTreeBomb(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("a.txt", "a\n")
	p.commit(p.Root, "one")
	at, kind := strings.TrimSpace(p.git("rev-parse", "HEAD:a.txt")), "100644 blob "
	for range 7 {
		var entries strings.Builder
		for _, name := range strings.Split("0123456789", "") {
			entries.WriteString(kind + at + "\t" + name + "\n")
		}
		c := exec.Command("git", "mktree")
		c.Dir, c.Stdin = p.Root, strings.NewReader(entries.String())
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		at, kind = strings.TrimSpace(string(out)), "040000 tree "
	}
	p.git("branch", "bomb", strings.TrimSpace(p.git("commit-tree", "-p", "HEAD", "-m", "bomb", at)))
	before := p.everything()
	for tool, input := range map[string]object{
		"git.worktree.create": {"cwd": ".", "path": "w", "branch_name": "b", "base_ref": "bomb"},
		"git.diff":            {"cwd": ".", "base_ref": "bomb"},
	} {
		start := time.Now()
		e := p.Registry.Call(t.Context(), runtime.Call{Tool: tool, Input: p.JSON(input), Timeout: 1500 * time.Millisecond})
		if e.Error == nil || time.Since(start) > 20*time.Second {
			t.Errorf("%s: %+v after %v", tool, e.Error, time.Since(start))
		}
	}
	p.same(before)
	if entries, _ := os.ReadDir(filepath.Join(p.Project.Dir, "workspaces")); len(entries) != 0 {
		t.Errorf("%v", entries)
	}
}
