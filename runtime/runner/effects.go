package runner

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// decided is what was decided about paths for one run.
type decided struct {
	paths []permission.Effect
	// special are those of them whose class is another than the project's: only what a rule
	// or a person opened is among them.
	special    []permission.Effect
	runs       []permission.Effect
	repository bool // a repository of the project may be changed
	git        bool // and nothing runs but git
	mayMake    bool // a repository may be made, by another run at the same time
	// accepted is what other runs of git made, absolute.
	accepted []string
	whole    bool // see runtime.Launch
	// permits is runtime.Launch's; permitted are its answers.
	permits   func(permission.Effect) bool
	permitted map[permission.Effect]bool
	bounds    *permission.Bounds                 // as runtime.Launch has them
	denies    func(permission.Kind, string) bool // as runtime.Launch has it, nil where whole is true
}

func decidedFor(l runtime.Launch) *decided {
	d := &decided{repository: l.Repository, whole: l.Whole && l.Text == "", permits: l.Permits, permitted: map[permission.Effect]bool{}, bounds: l.Bounds}
	if !d.whole {
		d.denies = l.Denied
	}
	for _, e := range l.Effects {
		switch {
		case e.Kind == permission.Run:
			d.runs = append(d.runs, e)
		case e.Kind.IsPath() && filepath.IsAbs(e.Target):
			d.paths = append(d.paths, e)
			if e.Class != permission.ClassProject {
				d.special = append(d.special, e)
			}
		}
	}
	return d
}

// opens reports whether a guarded path of a class was decided about as such: by its own
// name, or with all that lies in a folder of that class.
func (d *decided) opens(path string, class permission.Class, write bool) bool {
	return slices.ContainsFunc(d.special, func(e permission.Effect) bool {
		return write == (e.Kind != permission.Read) && e.Class == class && covers(e, path)
	})
}

// mayOpen reports whether a guarded path is open to programs though nothing was decided
// about it.
func (d *decided) mayOpen(e permission.Effect) bool {
	if d.permits == nil || e.Class == permission.ClassForbidden {
		return false
	}
	yes, ok := d.permitted[e]
	if !ok {
		yes = d.permits(e)
		d.permitted[e] = yes
	}
	return yes
}

// writesIn reports whether something that is guarded may be written in a folder.
func (d *decided) writesIn(dir string) bool {
	return slices.ContainsFunc(d.special, func(e permission.Effect) bool {
		return e.Kind != permission.Read && isBelow(e.Target, dir)
	})
}

// covers reports whether an effect is about a path.
func covers(e permission.Effect, path string) bool {
	if path == e.Target {
		return !e.Below
	}
	return e.Recursive && isBelow(path, e.Target)
}

// worksIn reports whether something in a folder was decided about that is more than a look
// at its files: it is written to, or a command starts there.
func (d *decided) worksIn(dir string) bool {
	return slices.ContainsFunc(d.paths, func(e permission.Effect) bool {
		return (e.Folder || e.Kind != permission.Read) && isBelow(e.Target, dir)
	})
}

// makesFolder reports whether a path that is to be created will be a folder.
func (d *decided) makesFolder(e permission.Effect) bool {
	return e.Recursive || e.MakesFolder || strings.HasSuffix(e.Named, "/")
}

// makesRepository reports whether a git command may make or change a repository.
func (d *decided) makesRepository() bool {
	return d.repository || d.mayMake || d.runsGit("init") || d.runsGit("clone") || slices.ContainsFunc(d.runs, func(e permission.Effect) bool { return e.Repository })
}

// mayStop reports whether a git command was decided about that may leave unfinished work.
func (d *decided) mayStop() bool {
	return slices.ContainsFunc([]string{"rebase", "am", "cherry-pick", "revert", "merge", "pull", "bisect", "stash"}, d.runsGit)
}

// runsGit reports whether a command of git was decided about.
func (d *decided) runsGit(name string) bool {
	return slices.ContainsFunc(d.runs, func(run permission.Effect) bool {
		argv, err := permission.SplitArgv(run.Target)
		return err == nil && len(argv) > 1 && filepath.Base(argv[0]) == "git" && slices.Contains(argv, name)
	})
}

// changes are the effects that change something, with what makes them count for others: what
// git clones comes with all that is in it.
func (d *decided) changes() (all []permission.Effect) {
	clones := d.runsGit("clone")
	for _, e := range d.paths {
		if e.Kind == permission.Read {
			continue
		}
		e.Recursive = e.Recursive || clones && e.MakesFolder
		all = append(all, e)
	}
	return all
}

// unpacks reports whether all in a folder that a path lies in may be written.
func (d *decided) unpacks(path string) bool {
	return slices.ContainsFunc(d.changes(), func(e permission.Effect) bool { return e.Kind != permission.Delete && e.Recursive && covers(e, path) })
}
