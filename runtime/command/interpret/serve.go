package interpret

import (
	"os"
	"syscall"
)

// Name is the argv[0] that makes this program the interpreter.
const Name = "air-shell"

// The interpreter is served before the packages that the program is made of besides are
// initialised, which takes longer than a short command line.
//
//nolint:gochecknoinits // RATIONALE.md, "Why do two packages act in init?"
func init() {
	if len(os.Args) > 0 && os.Args[0] == Name {
		syscall.Exit(runShell()) // at once: the race detector waits a second otherwise
	}
}
