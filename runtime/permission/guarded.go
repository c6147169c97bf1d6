package permission

import "slices"

// GuardedNames are the names of files and folders in a project that are decided by
// themselves, not with the folder in which they lie: for an effect of this kind. endings
// are of such names, too. What stands for several names has to name these if it may mean
// them.
func GuardedNames(kind Kind) (names, endings []string) {
	names = slices.Concat(secretNames, []string{".env.local", ".git", ".air"})
	if kind != Read {
		names = append(names, obeyedNames...)
		names = append(names, ".github")
	}
	return names, slices.Clone(secretEndings)
}
