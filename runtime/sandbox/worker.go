// Package sandbox owns what a process that runs foreign code may touch: the profile of
// a guest's worker, and that of a command. It says what is taken away and takes it; it
// runs nothing itself.
package sandbox

import (
	"fmt"
	"os/exec"
)

const (
	// SocketFD is the worker's one descriptor besides the standard three.
	SocketFD = 3
	// CompileBytes bounds the worker while it compiles.
	CompileBytes = 1 << 30
	// overheadBytes is what a worker may need besides the guest's linear memory: the
	// call stack (84 MB at most), tables, the buffers of a call.
	overheadBytes = 256 << 20
	// cacheFileBytes bounds a file of the compile cache: machine code is some five
	// times as large as a module, and a module at most 32 MiB.
	cacheFileBytes = 512 << 20
)

// Worker is the profile of a process that compiles or runs one guest module. The process
// calls Load, then, unless it only compiles, Serve, both on the same value.
type Worker struct {
	// MemoryBytes is the limit of the guest's linear memory.
	MemoryBytes int64
	// CacheDir is the one folder that the worker may reach while it loads; "" is none.
	CacheDir string
	// Compile says that the worker may write there, and never runs a guest.
	Compile bool

	loaded *loaded
}

// Prepare sets the host's side of the profile on a command that is about to start: a
// small environment, the root as working directory, a session of its own, and an end
// when the starting thread ends.
func (w *Worker) Prepare(cmd *exec.Cmd) {
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
	cmd.SysProcAttr = processAttributes()
}

// Walls says which of its means a kernel offers for a profile.
type Walls struct {
	Seccomp  bool
	Landlock int // the version of its interface; 0 is none
}

// Tier names the walls in one word. Guests run behind every tier but "none".
func (w Walls) Tier() string {
	switch {
	case !w.Seccomp:
		return "none"
	case w.Landlock == 0:
		return "seccomp"
	}
	return "seccomp+landlock"
}

// String adds the version of Landlock, which decides how much it covers.
func (w Walls) String() string {
	if w.Seccomp && w.Landlock > 0 {
		return fmt.Sprintf("%s %d", w.Tier(), w.Landlock)
	}
	return w.Tier()
}
