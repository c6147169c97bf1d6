package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// withTrees is a ground whose project may have worktrees.
func withTrees(t *testing.T) (g *ground, tree string) {
	g = newRepository(t)
	c := g.config
	trees := filepath.Join(g.state, "workspaces")
	must(t, os.MkdirAll(trees, 0o700))
	c.Paths = permission.NewPaths(permission.PathsConfig{
		ProjectRoot: g.root, Home: g.home, AirHome: filepath.Join(g.home, ".air"), Worktrees: trees,
	})
	g.Runner = New(c)
	return g, filepath.Join(trees, "one")
}

// TestDecidedWorktree: git makes a worktree where that was decided, a command in it works
// with it and with the repository, and has no other worktree and the project read-only.
func TestDecidedWorktree(t *testing.T) {
	needsSandbox(t)
	g, tree := withTrees(t)
	e, err := g.config.Paths.Resolve(permission.Effect{Kind: permission.Create, Target: tree})
	must(t, err)
	g.succeeds(runtime.Launch{
		ID: ids.New(), Argv: []string{"git", "worktree", "add", "-q", "-b", "topic", tree}, Dir: g.root, Repository: true, Effects: []permission.Effect{e},
	})
	other := filepath.Join(filepath.Dir(tree), "other")
	g.host(g.root, "git", "worktree", "add", "-q", "-b", "other", other)
	must(t, os.WriteFile(filepath.Join(tree, ".env"), []byte(secretText), 0o600))
	l := g.planned(tree, "cat .env; echo new > a.txt; git commit -qam here && git log --format=%s -1 && ls "+other+"; ls "+g.root+"/plain; echo x > "+g.root+"/plain || true")
	l.Effects = l.Effects[:0]
	l.Repository = true
	out := g.succeeds(l)
	if got := g.host(g.root, "git", "log", "--format=%s", "-1", "topic"); got != "here" {
		t.Errorf("the commit is %q\n%s", got, out)
	}
	if got, _ := os.ReadFile(filepath.Join(g.root, "plain")); string(got) != "good\n" {
		t.Errorf("the project's file holds %q", got)
	}
	for _, shown := range []string{secretText, "\na.txt\n"} {
		if strings.Contains(out, shown) {
			t.Errorf("it shows %q", out)
		}
	}
}
