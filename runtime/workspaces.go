package runtime

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime/permission"
)

// Workspaces are the worktrees that air made for a project.
type Workspaces struct {
	Dir     string // where they lie, each in a folder of its own; canonical
	Records string // the folder of what is known of each
}

// WorkspacesIn are those of a project, by air's folder for it.
func WorkspacesIn(projectDir string, paths *permission.Paths) Workspaces {
	return Workspaces{Dir: paths.Worktrees(), Records: filepath.Join(projectDir, "state", "workspaces")}
}

// Workspace is one worktree.
type Workspace struct {
	ID         string    `json:"id"`
	Path       string    `json:"path"`       // canonical
	Repository string    `json:"repository"` // top folder of the files that it was made from, canonical
	GitDir     string    `json:"git_dir"`    // its own git folder; "" while it is being made
	Branch     string    `json:"branch"`
	BaseRef    string    `json:"base_ref"`
	Base       string    `json:"base"` // the object id that BaseRef was
	CreatedAt  time.Time `json:"created_at"`
	// Pending marks one that is being made, or whose making was broken off.
	Pending bool `json:"pending,omitempty"`
	// Merged is the object id that was merged last, and into which branch.
	Merged     string `json:"merged,omitempty"`
	MergedInto string `json:"merged_into,omitempty"`
}

const maxWorkspaceRecord = 64 << 10

var workspaceID = lazyregexp.New(`^` + ids.Pattern + `$`)

// List returns all workspaces, the oldest first. A record that cannot be read is an error.
func (w Workspaces) List() ([]Workspace, error) {
	entries, err := os.ReadDir(w.Records)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Workspace
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !workspaceID.MatchString(id) {
			continue
		}
		one, err := w.Get(id)
		if fault.Is(err, fault.NotFound) { // it has gone meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Workspace) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// Get returns the workspace with the id.
func (w Workspaces) Get(id string) (Workspace, error) {
	unknown := fault.New(fault.NotFound, "unknown_workspace", "no workspace of this project has the id %.64q", id)
	if !workspaceID.MatchString(id) {
		return Workspace{}, unknown
	}
	text, err := regular.Read(w.record(id), maxWorkspaceRecord, false)
	if errors.Is(err, fs.ErrNotExist) {
		return Workspace{}, unknown
	}
	var one Workspace
	if err == nil {
		err = json.Unmarshal(text, &one)
	}
	if err != nil {
		return one, fault.New(fault.Integrity, "bad_workspace", "the record of workspace %s cannot be read: %w", id, err)
	}
	return one, nil
}

// Put writes the record of a workspace.
func (w Workspaces) Put(one Workspace) error {
	text, err := json.MarshalIndent(one, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(w.record(one.ID), append(text, '\n'), 0o600)
}

// Remove deletes a workspace with all that was not committed in it, what its repository
// knows of the worktree, and the record. The branch stays.
func (w Workspaces) Remove(one Workspace) error {
	if filepath.Dir(one.Path) != w.Dir {
		return fault.New(fault.Integrity, "bad_workspace", "workspace %s lies in no folder of workspaces", one.ID)
	}
	if err := w.forget(one); err != nil {
		return err
	}
	if err := os.RemoveAll(one.Path); err != nil {
		return err
	}
	if err := os.Remove(w.record(one.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// forget removes what the repository knows of the worktree. Where its git folder was not
// recorded yet, all of that repository are looked at.
func (w Workspaces) forget(one Workspace) error {
	all := []string{one.GitDir}
	if one.GitDir == "" {
		var err error
		if all, err = filepath.Glob(filepath.Join(escapeGlob(one.Repository), ".git", "worktrees", "*")); err != nil {
			return err
		}
	}
	for _, dir := range all {
		if err := forgetIn(dir, one.Path); err != nil {
			return err
		}
	}
	return nil
}

// forgetIn removes the git folder of a worktree, if that is what it is.
func forgetIn(dir, worktree string) error {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (real != dir || filepath.Base(filepath.Dir(dir)) != "worktrees") {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := regular.Read(filepath.Join(dir, "gitdir"), gitFile, false)
	if err != nil || strings.TrimRight(string(text), "\n") != filepath.Join(worktree, ".git") {
		return nil
	}
	return os.RemoveAll(dir)
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func (w Workspaces) record(id string) string { return filepath.Join(w.Records, id+".json") }

// Workspace returns the workspace with the id.
func (a *Access) Workspace(id string) (Workspace, error) {
	one, err := a.registry.config.Workspaces.Get(id)
	if err == nil && one.Pending {
		err = fault.New(fault.Conflict, "workspace_pending", "workspace %s is being made, or its making was broken off", id)
	}
	return one, err
}
