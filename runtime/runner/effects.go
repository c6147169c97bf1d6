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
	whole      bool // see runtime.Launch
}

func decidedFor(l runtime.Launch) *decided {
	d := &decided{repository: l.Repository, whole: l.Whole && l.Text == ""}
	for _, e := range l.Effects {
		switch {
		case e.Kind == permission.Run:
			d.runs = append(d.runs, e)
			d.repository = d.repository || e.Repository
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

// makesFolder reports whether a path that is to be created will be a folder, as far as the
// words of the commands tell.
func (d *decided) makesFolder(e permission.Effect) bool {
	if e.Recursive || strings.HasSuffix(e.Named, "/") {
		return true
	}
	return slices.ContainsFunc(d.runs, func(run permission.Effect) bool {
		words := strings.Fields(run.Target)
		makes := len(words) > 1 && (filepath.Base(words[0]) == "mkdir" || slices.Contains(words[:2], "clone"))
		return makes && slices.ContainsFunc(words[1:], func(w string) bool { return filepath.Base(w) == filepath.Base(e.Target) })
	})
}

// makesRepository reports whether a git command may make or change a repository.
func (d *decided) makesRepository() bool {
	return d.repository || slices.ContainsFunc(d.runs, func(run permission.Effect) bool {
		words := strings.Fields(run.Target)
		return len(words) > 0 && filepath.Base(words[0]) == "git" && (slices.Contains(words, "init") || slices.Contains(words, "clone"))
	})
}
