package runtime

import (
	"context"
	"strconv"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// Processes finds and signals processes of the machine.
type Processes interface {
	// Find describes a process. One that is not there is an error of kind not_found.
	Find(pid int) (Process, error)
	// Signal sends a signal to exactly this process, never to another that has its number
	// meanwhile. delivered is false when it has ended.
	Signal(p Process, name string) (delivered bool, err error)
}

// Process is one process of the machine. Two that have the same number are told apart by
// when they started.
type Process struct {
	PID     int
	Started uint64 // in the kernel's ticks since it booted
	Name    string // as it calls itself
	Own     bool   // it belongs to a command of this session that runs
	// Forbidden is why nobody may signal it, "" for all but air itself and what it needs.
	Forbidden string
}

// resolveSignal finds the process of a signal effect, which says whose it is.
func (r *Registry) resolveSignal(c *run, e permission.Effect) (permission.Effect, error) {
	pid, err := strconv.Atoi(e.Target)
	if err != nil || pid <= 0 {
		return e, fault.New(fault.InvalidInput, "bad_pid", "%.20q is no process id", e.Target)
	}
	if r.config.Processes == nil {
		return e, fault.New(fault.Unavailable, "no_processes", "no process can be signalled here")
	}
	p, err := r.config.Processes.Find(pid)
	if err != nil {
		return e, err
	}
	if p.Forbidden != "" {
		return e, fault.New(fault.PermissionDenied, "floor_process", "process %d %s: nothing signals it", pid, p.Forbidden)
	}
	e.Class, e.Why = permission.ClassSystem, "it is "+permission.Printable(p.Name)+", which no command of this session started"
	if p.Own {
		e.Class, e.Why = permission.ClassProject, ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found == nil {
		c.found = map[int]Process{}
	}
	c.found[pid] = p
	return e, nil
}

// Signal sends a signal to a process that was decided about. delivered is false when that
// has ended meanwhile.
func (a *Access) Signal(_ context.Context, pid int, name string) (delivered bool, err error) {
	e := permission.Effect{Kind: permission.Signal, Target: strconv.Itoa(pid)}
	if err := a.registry.permits(a.run, a.Commands.decisions, e); err != nil {
		return false, err
	}
	a.run.mu.Lock()
	p, found := a.run.found[pid]
	a.run.mu.Unlock()
	if !found {
		return false, fault.New(fault.Internal, "bug", "process %d was decided about and never looked at", pid)
	}
	return a.registry.config.Processes.Signal(p, name)
}
