package interpret

import "golang.org/x/sys/unix"

// flags of sockets and messages that other systems lack.
const (
	closeOnExec = unix.SOCK_CLOEXEC
	noSignal    = unix.MSG_NOSIGNAL
)

// hide keeps the programs that the interpreter starts, which are of the same user, from its
// memory and its descriptors.
func hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
