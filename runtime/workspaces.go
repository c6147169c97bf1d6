package runtime

import (
	"context"
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
	"github.com/aircoding/air/internal/home"
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
	Common     string    `json:"common"`     // the git folder that it shares with the repository, canonical
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
	ids, err := w.ids()
	if err != nil {
		return nil, err
	}
	var all []Workspace
	for _, id := range ids {
		one, err := w.Get(id)
		if fault.Is(err, fault.NotFound) { // it has gone meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// ids are sorted, which is by age.
func (w Workspaces) ids() (all []string, err error) {
	entries, err := os.ReadDir(w.Records)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && workspaceID.MatchString(id) {
			all = append(all, id)
		}
	}
	return all, err
}

// Find returns the workspace whose id begins with prefix, if it is the only one.
func (w Workspaces) Find(prefix string) (Workspace, error) {
	all, err := w.ids()
	if err != nil {
		return Workspace{}, err
	}
	found := slices.DeleteFunc(all, func(id string) bool { return prefix == "" || !strings.HasPrefix(id, prefix) })
	switch len(found) {
	case 0:
		return Workspace{}, unknownWorkspace(prefix)
	case 1:
		return w.Get(found[0])
	}
	return Workspace{}, fault.New(fault.InvalidInput, "ambiguous_id", "%d workspaces begin with %q, among them %s and %s", len(found), prefix, found[0], found[1]).
		WithHint("give more of the id")
}

func unknownWorkspace(id string) error {
	return fault.New(fault.NotFound, "unknown_workspace", "no workspace of this project has the id %.64q", id).WithHint("air workspace ls lists them")
}

// Get returns the workspace with the id.
func (w Workspaces) Get(id string) (Workspace, error) {
	if !workspaceID.MatchString(id) {
		return Workspace{}, unknownWorkspace(id)
	}
	text, err := regular.Read(w.record(id), maxWorkspaceRecord, false)
	if errors.Is(err, fs.ErrNotExist) {
		return Workspace{}, unknownWorkspace(id)
	}
	var one Workspace
	if err == nil {
		err = json.Unmarshal(text, &one)
	}
	if err != nil {
		return one, fault.New(fault.Integrity, "bad_workspace", "the record of workspace %s cannot be read: %w", id, err).WithHint("remove its record, %s, and then its folder below %s", w.record(id), w.Dir)
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

// forget removes what the repository knows of the worktree, though it is locked there.
func (w Workspaces) forget(one Workspace) error {
	dir := filepath.Join(one.Common, "worktrees")
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && real != dir {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			err = errors.Join(err, forgetIn(filepath.Join(dir, e.Name()), one.Path))
		}
	}
	return err
}

// forgetIn removes the git folder of a worktree, if it is that of this one.
func forgetIn(dir, worktree string) error {
	text, err := regular.Read(filepath.Join(dir, "gitdir"), 8<<10, false)
	if err != nil || strings.TrimRight(string(text), "\n") != filepath.Join(worktree, ".git") {
		return nil
	}
	return os.RemoveAll(dir)
}

// Lock has nobody else make workspaces until unlock, and sweeps.
func (w Workspaces) Lock(ctx context.Context) (unlock func(), err error) {
	if unlock, err = home.Lock(ctx, w.lock()); err != nil {
		return nil, err
	}
	if err := w.sweep(); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// Sweep removes what is left of workspaces whose making was broken off, unless one is being
// made right now. A branch comes last: where that was there already, it stays.
func (w Workspaces) Sweep() error {
	unlock, free, err := home.TryLock(w.lock())
	if err != nil || !free {
		return err
	}
	defer unlock()
	return w.sweep()
}

func (w Workspaces) sweep() error {
	all, err := w.ids()
	if err != nil {
		return err
	}
	for _, id := range all {
		if one, err := w.Get(id); err != nil || !one.Pending { // a record that cannot be read is left to who asks for it
			continue
		} else if err := w.Remove(one); err != nil {
			return err
		}
	}
	return nil
}

// Free fails with an error of kind conflict where the folder of a workspace is there.
func (w Workspaces) Free(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	if err := w.Sweep(); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	return workspaceExists(path)
}

func (w Workspaces) lock() string { return filepath.Join(w.Records, "lock") }

func (w Workspaces) record(id string) string { return filepath.Join(w.Records, id+".json") }
