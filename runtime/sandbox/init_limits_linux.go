package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// limit notes what holds each limit, and sets those that processes inherit from the init. It
// returns those that are to be the program's alone, see startProgram.
func (i *initProcess) limit(held joined) (ofProgram []limit, err error) {
	l := i.Limits
	inherited := []limit{
		// One byte, not none: a handler that dumps are piped to would run outside, on what
		// the program chose, and only this value keeps the kernel from starting it, core(5).
		{"core", unix.RLIMIT_CORE, 1},
		{"file", unix.RLIMIT_FSIZE, uint64(l.FileBytes)},
		{"descriptors", unix.RLIMIT_NOFILE, uint64(l.OpenFiles)},
	}
	ofProgram = []limit{{"cpu", unix.RLIMIT_CPU, uint64(l.CPUSeconds)}}
	if held.Memory == "" {
		held.Memory = "rlimit, private memory of each process"
		ofProgram = append(ofProgram, limit{"memory", unix.RLIMIT_DATA, uint64(l.MemoryBytes)})
	}
	if held.Processes == "" && !i.Root && kernelAtLeast(5, 14) {
		// Since then the count is that of the user in this namespace, not of all its
		// processes on the machine. It never binds the real root.
		held.Processes = "rlimit"
		inherited = append(inherited, limit{"processes", unix.RLIMIT_NPROC, uint64(l.Processes + initTasks)})
	}
	i.held.Layers = i.root.layers
	i.held.Limits = []Held{
		{"memory", l.MemoryBytes, held.Memory},
		{"cpu", l.CPUSeconds, "rlimit, each process"},
		{"file", l.FileBytes, "rlimit"},
		{"descriptors", l.OpenFiles, "rlimit, each process"},
		{"processes", l.Processes, held.Processes},
		{"tmp", l.TmpBytes, "size of the file system"},
	}
	return ofProgram, setLimits(0, inherited)
}

// kernelAtLeast compares the kernel's version.
func kernelAtLeast(major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(kernelRelease(), "%d.%d", &a, &b); err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}

func kernelRelease() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}
