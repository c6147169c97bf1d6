//go:build cgo

package sandbox

import (
	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// libraryCalls is what the C library adds, in builds that have it, to start a thread, and to
// wait where there is no memory for its stack. The race detector adds nothing.
func libraryCalls() []string { return []string{"rseq", "set_robust_list", "clock_nanosleep"} }

func libraryCallsWhen() []seccomp.NameWithConditions {
	const thread = runtimeThread | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID
	return []seccomp.NameWithConditions{when("clone", is(0, thread))}
}
