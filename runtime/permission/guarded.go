package permission

import (
	"slices"
	"strings"
)

// Guarded are the names in a project that are decided by themselves, not with the folder
// in which they lie. What stands for several names has to name these if it may mean them.
type Guarded struct{ Names, Beginnings, Endings []string }

// GuardedFrom returns the names that are guarded from an effect of this kind.
func GuardedFrom(kind Kind) Guarded {
	names := slices.Concat(secretNames, []string{".git", ".air"})
	if kind != Read {
		names = append(slices.Concat(names, obeyedNames), ".github", ".cargo")
	}
	return Guarded{names, []string{secretBeginning}, slices.Clone(secretEndings)}
}

// MayBeGuarded reports whether a path in a project may have another class than the folder
// that it lies in, because this is its last name. ByName knows whether it has.
func MayBeGuarded(name string) bool {
	at := fold(name)
	return lastNames[at] || isSecretName(at)
}

// IsRepository reports whether a name is that of the folder of a git repository, however
// it is written.
func IsRepository(name string) bool { return fold(name) == ".git" }

var lastNames = func() map[string]bool {
	all := map[string]bool{".git": true, ".air": true}
	for _, name := range obeyedNames {
		all[name] = true
	}
	for _, path := range obeyedPaths {
		all[path[strings.LastIndexByte(path, '/')+1:]] = true
	}
	return all
}()

// GuardedPlaces are the places in a folder that are guarded whatever their names are: air's
// own, and credentials. They need not exist.
func (p *Paths) GuardedPlaces(dir string) []string {
	return slices.DeleteFunc(p.secretPlaces(), func(place string) bool { return place == dir || !within(place, dir) })
}

// Worktree is the worktree of the project that a canonical path lies in, "" for none.
func (p *Paths) Worktree(canonical string) string {
	rel, ok := below(canonical, p.worktrees)
	if !ok || rel == "" {
		return ""
	}
	name, _, _ := strings.Cut(rel, "/")
	return p.worktrees + "/" + name
}
