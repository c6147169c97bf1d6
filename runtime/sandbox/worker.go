// Package sandbox owns what a process that runs foreign code may touch: the profile of
// a guest's worker, and that of a command. It says what is taken away and takes it.
//
// A program that imports this package is the init of a command's sandbox, or a probe in one,
// and never gets to main, when the package started it as such: as "air-sandbox" and the like.
package sandbox

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
)

const (
	// SocketFD is the worker's one descriptor besides the standard three.
	SocketFD = 3
	// CompileBytes bounds the worker while it compiles.
	CompileBytes = 1 << 30
)

// Worker is the profile of a process that compiles or runs one guest module. The process
// calls Load, then, unless it only compiles, Serve, both on the same value.
//
// What bounds the worker's time is the host: it kills a worker at the deadline of loading or
// of a call, and one that waits for a call after a minute, whatever it does meanwhile.
// RLIMIT_CPU would count what all calls took together. Nothing here bounds the number of a
// subverted worker's threads until then but the machine: RLIMIT_NPROC counts all that the
// user runs, so that one low enough would end honest workers of a busy user, and it never
// binds root. A container or service manager may limit both for air as a whole.
type Worker struct {
	// MemoryBytes is the limit of the guest's linear memory.
	MemoryBytes int64
	// CacheDir is the one folder that the worker may reach while it loads; "" is none.
	CacheDir string
	// Compile says that the worker may write there, and never runs a guest.
	Compile bool

	loaded *loaded
}

// WorkerCommand returns this program as a worker that is about to be started, under other
// arguments: with one end of a socketpair and nothing else of the host's, a small
// environment, the root as working directory, a session of its own, and an end when the
// starting thread ends. What it writes goes to stderr.
func WorkerCommand(ctx context.Context, argv []string, socket *os.File, stderr io.Writer) *exec.Cmd {
	cmd := exec.CommandContext(ctx, thisProgram())
	cmd.Args = argv
	cmd.Dir = "/"
	cmd.Env = []string{
		"GOMAXPROCS=2",
		// The runtime's watch over the CPU quota would make system calls at any time, and so
		// would the names that it gives to its memory.
		"GODEBUG=containermaxprocs=0,updatemaxprocs=0,decoratemappings=0",
		"GOTRACEBACK=none",
		// In builds with a C library, its malloc would open a file to count processors.
		"MALLOC_ARENA_MAX=1",
	}
	cmd.Stdin = strings.NewReader("") // a pipe, for nil would be a device of the host's
	cmd.Stdout, cmd.Stderr = stderr, stderr
	cmd.ExtraFiles = []*os.File{socket}
	cmd.SysProcAttr = processAttributes()
	return cmd
}
