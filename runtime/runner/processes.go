package runner

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
)

var _ runtime.Processes = (*Runner)(nil)

// maxAncestors bounds the way up from a process, which may change meanwhile.
const maxAncestors = 1 << 16

// process is what the kernel says of one.
type process struct {
	name    string
	parent  int
	started uint64
	zombie  bool // it has ended and nobody has asked how
	kernel  bool // it is a thread of the kernel
}

// Find implements runtime.Processes.
func (r *Runner) Find(pid int) (runtime.Process, error) {
	p, err := readProcess(pid)
	if errors.Is(err, fs.ErrNotExist) {
		return runtime.Process{}, fault.New(fault.NotFound, "no_process", "there is no process %d", pid)
	}
	if err != nil {
		return runtime.Process{}, err
	}
	found := runtime.Process{PID: pid, Started: p.started, Name: p.name}
	if found.Own, found.Forbidden, err = r.belongs(pid, p); err != nil {
		return runtime.Process{}, err
	}
	return found, nil
}

// belongs says whose a process is.
func (r *Runner) belongs(pid int, p process) (own bool, forbidden string, err error) {
	switch {
	case pid == 1:
		return false, "is the first process of the machine", nil
	case p.kernel:
		return false, "is a thread of the kernel", nil
	}
	commands, err := r.commands()
	if err != nil {
		return false, "", err
	}
	above, err := ancestors(pid, p)
	if err != nil {
		return false, "", err
	}
	for _, a := range above {
		if started, ok := commands[a.pid]; ok && started == a.started {
			return true, "", nil
		}
	}
	mine, err := ancestorsOfAir()
	if err != nil {
		return false, "", err
	}
	switch {
	case contains(mine, above[0]):
		return false, "is air itself, or runs it", nil
	case contains(above, mine[0]):
		return false, "is a part of air", nil
	}
	return false, "", nil
}

// ancestor is a process, told from all that have had its id.
type ancestor struct {
	pid     int
	started uint64
}

func contains(all []ancestor, one ancestor) bool {
	for _, a := range all {
		if a == one {
			return true
		}
	}
	return false
}

// ancestors are a process and those above it.
func ancestors(pid int, p process) (above []ancestor, err error) {
	for range maxAncestors {
		above = append(above, ancestor{pid, p.started})
		if p.parent <= 0 {
			return above, nil
		}
		pid = p.parent
		if p, err = readProcess(pid); err != nil {
			return nil, fmt.Errorf("looking for what started process %d: %w", above[0].pid, err)
		}
	}
	return nil, fmt.Errorf("process %d has too many above it", pid)
}

// Signal implements runtime.Processes.
func (r *Runner) Signal(p runtime.Process, name string) (delivered bool, err error) {
	return sendSignal(p.PID, name, func() (same bool, err error) {
		now, err := readProcess(p.PID)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (now.started != p.Started || now.zombie) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		own, forbidden, err := r.belongs(p.PID, now)
		switch {
		case err != nil:
			return false, err
		case forbidden != "":
			return false, fault.New(fault.PermissionDenied, "floor_process", "process %d %s: nothing signals it", p.PID, forbidden)
		case p.Own && !own:
			return false, fault.New(fault.Conflict, "process_left", "process %d belonged to a command of this session, and does no more", p.PID).
				WithHint("call again: it is decided anew")
		}
		return true, nil
	})
}
