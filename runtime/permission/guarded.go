package permission

import "slices"

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
