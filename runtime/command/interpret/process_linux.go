package interpret

import "golang.org/x/sys/unix"

// hide keeps the programs that the interpreter starts, which are of the same user, from its
// memory and its descriptors.
func hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
