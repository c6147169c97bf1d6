package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
)

// kernelThread is a flag of a process's in its stat, include/linux/sched.h.
const kernelThread = 0x00200000

// readProcess reads /proc/PID/stat, proc_pid_stat(5). The error is fs.ErrNotExist for a
// process that is not there.
func readProcess(pid int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, unix.ESRCH) {
		return process{}, fs.ErrNotExist // it ended after the file was opened
	}
	if err != nil {
		return process{}, err
	}
	return parseStat(string(text))
}

// parseStat reads a line in which the name, in parentheses, may hold anything.
func parseStat(line string) (p process, err error) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return p, fmt.Errorf("reading the state of a process: %.100q", line)
	}
	p.name = line[open+1 : end]
	fields := strings.Fields(line[end+1:]) // from the third on
	if len(fields) < 20 {
		return p, fmt.Errorf("reading the state of a process: %.100q", line)
	}
	p.zombie = fields[0] == "Z" || fields[0] == "X"
	flags, flagsErr := strconv.ParseUint(fields[6], 10, 64)
	p.kernel = flags&kernelThread != 0
	parent, parentErr := strconv.Atoi(fields[1])
	p.parent = parent
	p.started, err = strconv.ParseUint(fields[19], 10, 64)
	return p, errors.Join(err, flagsErr, parentErr)
}

// machine names this run of the kernel, and the process ids that are counted here.
var machine = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	ids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + ids
})

// ancestorsOfAir are air and those above it. A process outside the container that air runs
// in has the id 0.
func ancestorsOfAir() ([]ancestor, error) {
	pid := os.Getpid()
	p, err := readProcess(pid)
	if err != nil {
		return nil, err
	}
	return ancestors(pid, p)
}

var signals = map[string]unix.Signal{"SIGTERM": unix.SIGTERM, "SIGKILL": unix.SIGKILL, "SIGINT": unix.SIGINT}

// sendSignal signals the process that has a number when check says that it is the right one.
// What is checked is what is signalled: the process is held by a descriptor before it is
// looked at, its number is no other's while it lives, and one that has ended gets no signal.
func sendSignal(pid int, name string, check func() (bool, error)) (delivered bool, err error) {
	signal, ok := signals[name]
	if !ok {
		return false, fault.New(fault.InvalidInput, "bad_signal", "there is no signal %.20q here", name)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("opening process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	if same, err := check(); err != nil || !same {
		return false, err
	}
	switch err := unix.PidfdSendSignal(fd, signal, nil, 0); err {
	case nil:
		return true, nil
	case unix.ESRCH:
		return false, nil
	case unix.EPERM:
		return false, fault.New(fault.PermissionDenied, "not_permitted", "the system does not let this user signal process %d", pid)
	default:
		return false, fmt.Errorf("signalling process %d: %w", pid, err)
	}
}
