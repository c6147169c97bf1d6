package sandbox

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// overheadBytes is what a worker may need besides the guest's linear memory: the
	// call stack (84 MB at most), tables, the buffers of a call.
	overheadBytes = 256 << 20
	// reservedBytes is what it may reserve besides, without using it: the runtime takes
	// addresses by 64 MB.
	reservedBytes = 512 << 20
	// cacheFileBytes bounds a file of the compile cache: machine code is some five
	// times as large as a module, and a module at most 32 MiB.
	cacheFileBytes = 512 << 20
	// stackBytes bounds the stack of the first thread, which RLIMIT_DATA does not count. It
	// is what Linux gives by itself.
	stackBytes = 8 << 20
)

// thisProgram is the path by which this program starts itself again, also after its file was
// replaced.
func thisProgram() string { return "/proc/self/exe" }

func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// loaded is what Load found out, and Serve needs after /proc is out of reach.
type loaded struct {
	statm  int      // a descriptor of /proc/self/statm
	wakers []int    // the descriptors by which the runtime wakes its poller
	pages  []extent // of the program, never written to
}

// Load gives up, for good, what loading a module does not need. It comes before the worker
// looks at a byte of it. A call that is not needed ends the process from here on.
func (w *Worker) Load() error {
	wakers, err := closeInherited()
	if err != nil {
		return err
	}
	w.loaded = &loaded{wakers: wakers, pages: programPages()}
	if w.loaded.statm, err = unix.Open("/proc/self/statm", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("opening statm: %w", err)
	}
	limits, err := w.loadingLimits()
	if err != nil {
		return err
	}
	if err := setLimits(0, limits); err != nil {
		return err
	}
	if err := noNewPrivileges(); err != nil {
		return err
	}
	// What the same user runs may not trace the worker, nor read its memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hiding the worker's memory: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	// Without Landlock the list of system calls still stands.
	if config, version := landlockConfig(); version > 0 {
		if err := restrictFiles(config, w.files(version)...); err != nil {
			return err
		}
	}
	return w.loadingCalls().install()
}

// Serve gives up what only loading needed. It comes before the guest's first instruction.
// Memory is limited by what is mapped already, for the compiler leaves memory mapped that the
// runtime gave back.
func (w *Worker) Serve() error {
	if w.loaded == nil || w.Compile {
		return errors.New("this worker may not serve: it only compiles, or has not loaded")
	}
	now, err := measure(w.loaded.statm)
	if err != nil {
		return err
	}
	unix.Close(w.loaded.statm)
	more := w.MemoryBytes + overheadBytes
	err = setLimits(0, []limit{
		{"address space", unix.RLIMIT_AS, uint64(now.mapped + more + reservedBytes)},
		{"data", unix.RLIMIT_DATA, uint64(now.data + more)},
		{"fsize", unix.RLIMIT_FSIZE, 0},
		{"nofile", unix.RLIMIT_NOFILE, 0},
	})
	if err != nil {
		return err
	}
	if err := refuseNewCode(); err != nil {
		return err
	}
	return w.servingCalls().install()
}

// refuseNewCode has the kernel itself refuse to make memory executable, where it can: since
// Linux 6.3. The list of system calls says the same.
func refuseNewCode() error {
	err := unix.Prctl(unix.PR_SET_MDWE, unix.PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)
	if err != nil && err != unix.EINVAL && err != unix.EPERM {
		return fmt.Errorf("refusing new code: %w", err)
	}
	return nil
}

type limit struct {
	name     string
	resource int
	value    uint64
}

// loadingLimits has one on addresses too: memory that became code counts for nothing else.
func (w *Worker) loadingLimits() ([]limit, error) {
	now, err := measure(w.loaded.statm)
	files := uint64(0)
	if w.Compile {
		files = cacheFileBytes
	}
	return []limit{
		{"address space", unix.RLIMIT_AS, uint64(now.mapped + w.MemoryBytes + CompileBytes + reservedBytes)},
		{"core", unix.RLIMIT_CORE, 0},
		{"data", unix.RLIMIT_DATA, CompileBytes},
		{"stack", unix.RLIMIT_STACK, stackBytes},
		{"fsize", unix.RLIMIT_FSIZE, files},
		{"nofile", unix.RLIMIT_NOFILE, 32},
	}, err
}

// setLimits lowers limits of a process, 0 for this one, and leaves those alone that are lower
// already.
func setLimits(pid int, limits []limit) error {
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(pid, l.resource, nil, &now); err != nil {
			return fmt.Errorf("reading rlimit %s: %w", l.name, err)
		}
		v := min(l.value, now.Max)
		if err := unix.Prlimit(pid, l.resource, &unix.Rlimit{Cur: v, Max: v}, nil); err != nil {
			return fmt.Errorf("setting rlimit %s to %d: %w", l.name, v, err)
		}
	}
	return nil
}
