package runner

import (
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// A project with more folders, or more guarded places, is refused: what cannot be looked
// through cannot be protected.
const (
	maxFolders = 200_000
	maxGuards  = 4_000
)

// guard is a place in a folder that commands see, over which a mount of its own lies.
type guard struct {
	path string
	id   sandbox.FileID // what lay there; the zero value where that is not known
	mode sandbox.Mode
}

func (g guard) mount() sandbox.Mount {
	return sandbox.Mount{Target: g.path, Mode: g.mode, Over: g.id}
}

// isDownloaded reports whether a folder holds what a package manager unpacked there, and will
// replace. Nothing in it is the person's, and nobody obeys what lies there: names mean
// nothing in it. Mounts in it would keep it from being replaced, and packages bring
// certificates, workflows and the settings of editors along.
func isDownloaded(name string) bool { return name == "node_modules" || name == "site-packages" }

// judge says how a path in a folder that commands see is guarded.
type judge struct {
	paths   *permission.Paths
	decided *decided
	// read and write are the classes of what was decided about as a whole.
	read, write permission.Class
	// resolve has a class depend on what is there, too.
	resolve bool
}

// projectJudge judges what lies in the project.
func projectJudge(paths *permission.Paths, d *decided) judge {
	return judge{paths: paths, decided: d, read: permission.ClassProject, write: permission.ClassProject}
}

// judgeOf judges what lies in another folder.
func judgeOf(paths *permission.Paths, d *decided, dir string) judge {
	j := judge{paths: paths, decided: d, resolve: true}
	j.read, j.write = j.class(dir, permission.Read), j.class(dir, permission.Overwrite)
	return j
}

// guarded returns the mode of the mount that has to lie over a path, ok is false where none
// has to. What was decided about by itself is open.
func (j judge) guarded(path string) (mode sandbox.Mode, ok bool) {
	if mode, denied := j.decided.denied(path); denied {
		return mode, true
	}
	read, write := j.effect(path, permission.Read), j.effect(path, permission.Overwrite)
	if j.decided.whole && read.Class == permission.ClassProtected {
		read.Class = j.read
	}
	if j.decided.whole && write.Class == permission.ClassObeyed {
		write.Class = j.write
	}
	mayRead := read.Class == j.read || j.decided.opens(path, read.Class, false) || j.decided.mayOpen(read)
	switch {
	case j.decided.opens(path, write.Class, true), mayRead && (write.Class == j.write || j.decided.mayOpen(write)):
		return 0, false
	case !mayRead:
		return sandbox.Covered, true
	}
	return sandbox.ReadOnly, true
}

// class is that of a path.
func (j judge) class(path string, kind permission.Kind) permission.Class {
	return j.effect(path, kind).Class
}

// effect is that on a path, with its class. One that cannot be told is forbidden.
func (j judge) effect(path string, kind permission.Kind) permission.Effect {
	find := j.paths.ByName
	if j.resolve {
		find = j.paths.Resolve
	}
	e, err := find(permission.Effect{Kind: kind, Target: path})
	if err != nil {
		return permission.Effect{Kind: kind, Target: path, Class: permission.ClassForbidden}
	}
	return e
}

func tooManyFolders(root string) error {
	return fault.New(fault.ResourceExhausted, "too_many_folders",
		"%s has more than %d folders: they cannot all be looked through for what has to be protected from commands", root, maxFolders).
		WithHint("delete what is not needed, or make a project of a folder in it")
}

func tooManyGuards(root string) error {
	return fault.New(fault.ResourceExhausted, "too_many_guarded",
		"%s has more than %d files and folders that have to be protected from commands", root, maxGuards).
		WithHint("delete what is not needed, or make a project of a folder in it")
}

func cannotLook(path string, err error) error {
	return fault.New(fault.Unavailable, "cannot_look", "looking in %s for what has to be protected from commands: %w", path, err)
}
