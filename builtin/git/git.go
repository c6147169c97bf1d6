// Package git brings the tools that work on git repositories. All of it is done by the
// program git, in the sandbox, without a network, and in such a way that nothing which the
// repository configures is executed.
package git

import (
	"path"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// Place is where workspaces are made.
type Place struct {
	Workspaces runtime.Workspaces // those of the project
}

// Tools returns the implementations by tool name.
func Tools(at Place) map[string]runtime.Implementation {
	return map[string]runtime.Implementation{
		"git.status":          runtime.Typed[statusInput]{Effects: statusEffects, Do: status},
		"git.diff":            runtime.Typed[diffInput]{Effects: diffEffects, Do: diff},
		"git.worktree.create": runtime.Typed[createInput]{Effects: at.createEffects, Do: at.create},
		"git.merge_workspace": runtime.Typed[mergeInput]{Effects: mergeEffects, Do: merge},
	}
}

// reads is the effect of looking at the files of a folder.
func reads(dir string) permission.Effect {
	return permission.Effect{Kind: permission.Read, Target: dir, Recursive: true, Folder: true}
}

// workspacePath is where a workspace lies that an input names: below the folder of
// workspaces, in a folder of its own.
func (at Place) workspacePath(named string) (string, error) {
	name := strings.TrimSuffix(named, "/")
	if path.IsAbs(name) {
		below, ok := strings.CutPrefix(path.Clean(name), at.Workspaces.Dir+"/")
		if !ok {
			return "", badWorkspace("%q does not lie in the folder of this project's workspaces, %s", named, at.Workspaces.Dir)
		}
		name = below
	}
	if name = strings.TrimPrefix(name, "./"); !isWorkspaceName(name) {
		return "", badWorkspace("%q is no name for a workspace: letters, digits, dot, - and _ are wanted, at most 64, with a letter or digit first", named)
	}
	return at.Workspaces.Dir + "/" + name, nil
}

func badWorkspace(format string, args ...any) error {
	return fault.New(fault.InvalidInput, "bad_workspace_path", format, args...).
		WithHint("give a plain name: workspaces lie in air's own folder, outside the project")
}

func isWorkspaceName(name string) bool {
	if name == "" || len(name) > 64 || strings.ContainsRune("._-", rune(name[0])) || strings.HasSuffix(strings.ToLower(name), ".lock") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	})
}
