package sandbox

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// Executable is the path by which this program starts itself again, also after its file
// was replaced.
func Executable() (string, error) { return "/proc/self/exe", nil }

func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// WorkerWalls asks the kernel what would confine a worker.
func WorkerWalls() Walls {
	action := uint32(seccomp.ActionKillProcess)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return Walls{Seccomp: errno == 0, Landlock: landlockVersion()}
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
	if err := setLimits(w.loadingLimits()); err != nil {
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
	if err := restrictFiles(w.files()...); err != nil && !errors.Is(err, errNoLandlock) {
		return err
	}
	return w.loadingCalls().install()
}

// Serve gives up what only loading needed. It comes before the guest's first instruction.
// The data limit is sized by what is mapped already, for the compiler leaves memory mapped
// that the runtime gave back.
func (w *Worker) Serve() error {
	if w.loaded == nil || w.Compile {
		return errors.New("this worker may not serve: it only compiles, or has not loaded")
	}
	mapped, err := statmBytes(w.loaded.statm, statmData)
	if err != nil {
		return err
	}
	unix.Close(w.loaded.statm)
	err = setLimits([]limit{
		{"data", unix.RLIMIT_DATA, uint64(mapped + w.MemoryBytes + overheadBytes)},
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

func (w *Worker) loadingLimits() []limit {
	files := uint64(0)
	if w.Compile {
		files = cacheFileBytes
	}
	return []limit{
		{"core", unix.RLIMIT_CORE, 0},
		{"data", unix.RLIMIT_DATA, CompileBytes},
		{"fsize", unix.RLIMIT_FSIZE, files},
		{"nofile", unix.RLIMIT_NOFILE, 32},
	}
}

// setLimits lowers limits, and leaves those alone that are lower already.
func setLimits(limits []limit) error {
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(0, l.resource, nil, &now); err != nil {
			return fmt.Errorf("reading rlimit %s: %w", l.name, err)
		}
		v := min(l.value, now.Max)
		if err := unix.Prlimit(0, l.resource, &unix.Rlimit{Cur: v, Max: v}, nil); err != nil {
			return fmt.Errorf("setting rlimit %s to %d: %w", l.name, v, err)
		}
	}
	return nil
}
