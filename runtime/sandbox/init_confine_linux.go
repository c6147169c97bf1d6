package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confine gives up, for the init and all that it will start, whatever could undo the
// sandbox.
func (i *initProcess) confine() error {
	return steps(
		step{"giving up new privileges", noNewPrivileges},
		// Of this thread only, which starts the program: to stop all threads for each of forty
		// capabilities would take longer than all the rest of the sandbox.
		step{"emptying the bounding set", boundThread},
		step{"giving up capabilities", dropCapabilities},
		step{"restricting files", i.restrictFiles},
		step{"refusing system calls", func() error { return commandCalls().install() }},
		step{"dropping signal handlers", dropHandlers},
		// The program runs under the same user as the init. Of a process that is not
		// dumpable it can read neither memory nor descriptors, and trace nothing.
		step{"hiding the init", func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }},
	)
}

// dropHandlers undoes the handlers of the runtime, which would end the init at the program's
// word: a signal without a handler that comes from inside does nothing to a process 1. What
// stays is what the runtime uses itself, its preemption and the one for system calls in all
// threads. It comes after the last of those. Ignoring signals would be handed down.
func dropHandlers() error {
	const last, ofRuntime, maskBytes = 64, 33, 8
	var none [8]uint64 // at least a kernel's struct sigaction: SIG_DFL, no flags
	for number := uintptr(1); number <= last; number++ {
		switch number {
		case uintptr(unix.SIGKILL), uintptr(unix.SIGSTOP), uintptr(unix.SIGURG), ofRuntime:
			continue
		}
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, number, uintptr(unsafe.Pointer(&none)), 0, maskBytes, 0, 0)
		if errno != 0 {
			return fmt.Errorf("signal %d: %w", number, errno)
		}
	}
	return nil
}

// restrictFiles is a second fence: Landlock allows reading of what is there, and writing
// where mounts allow it. It says nothing about the network, which is a namespace of its own.
func (i *initProcess) restrictFiles() error {
	config, version := landlockConfig()
	i.held.Landlock = version
	if version == 0 {
		return nil // the report says so
	}
	config.HandledAccessNet = 0
	rules, err := i.fileRules()
	if err != nil {
		return err
	}
	return restrictFiles(config, rules...)
}

func (i *initProcess) fileRules() ([]landlock.Rule, error) {
	rules := []landlock.Rule{
		landlock.RODirs("/"),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
		// A process writes files of its own there: comm, oom_score_adj. All that is not a
		// process's own is mounted read-only or covered.
		landlock.PathAccess(ll.AccessFSWriteFile, "/proc"),
	}
	if i.self >= 0 {
		rules = append(rules, landlock.ROFiles("/proc/self/exe"))
	}
	for _, target := range i.root.rw {
		info, err := os.Lstat(target)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
			continue // covered by a later mount
		}
		if err != nil {
			return nil, err
		}
		switch {
		case !info.IsDir():
			rules = append(rules, landlock.RWFiles(target))
		case i.held.Landlock > 1:
			rules = append(rules, landlock.RWDirs(target).WithRefer())
		default:
			rules = append(rules, landlock.RWDirs(target))
		}
	}
	return rules, nil
}
