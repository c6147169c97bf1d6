// Package sandbox owns what a process that runs foreign code may touch: the profile of
// a guest's worker. It says what is taken away and takes it; it runs nothing itself.
package sandbox

import "os/exec"

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

// Worker is the profile of a process that compiles and runs one guest module.
type Worker struct {
	// MemoryBytes is the limit of the guest's linear memory.
	MemoryBytes int64
	// Cache says that the worker may write files while it loads.
	Cache bool
}

// Prepare sets the host's side of the profile on a command that is about to start: a
// small environment, the root as working directory, a session of its own, and an end
// when the starting thread ends.
func (w Worker) Prepare(cmd *exec.Cmd) {
	cmd.Dir = "/"
	// The runtime's watch over the CPU quota would make system calls at any time.
	cmd.Env = []string{"GOMAXPROCS=2", "GODEBUG=containermaxprocs=0,updatemaxprocs=0", "GOTRACEBACK=none"}
	cmd.SysProcAttr = processAttributes()
}
