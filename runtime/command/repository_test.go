package command

import (
	"slices"
	"testing"

	"github.com/aircoding/air/runtime/permission"
)

// TestRepositoryIsMarked: the mark is on what changes a repository, and on nothing else.
func TestRepositoryIsMarked(t *testing.T) {
	for text, want := range map[string]bool{
		"git add .": true, "git commit -m x": true, "git switch -c x": true, "git branch x": true, "git stash": true, "git merge x": true,
		"git rebase main": true, "git fetch": true, "git -C sub commit -m x": true, "env A=1 git commit -m x": true, "true && git tag v1": true,
		"git worktree add x": true, "git checkout x": true, "git update-ref refs/heads/x y": true,
		"git status": false, "git diff": false, "git log": false, "git branch": false, "git stash list": false, "git tag": false,
		"git worktree list": false, "make": false, "git clone https://h.example/x": false, "git init": false, "echo git commit": false,
	} {
		effects, err := Analyse(text, Place{Dir: "/p", Root: "/p"})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(effects, func(e permission.Effect) bool { return e.Repository }); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
