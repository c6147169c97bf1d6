//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"net"
)

// Process is a running command; on this system there is none.
type Process struct{}

// Start refuses: a command never runs without its sandbox.
func (c Command) Start(context.Context) (*Process, error) {
	return nil, &UnavailableError{Step: "starting", Err: errors.New("commands are held on Linux only")}
}

// Wait has nothing to wait for.
func (*Process) Wait() (Exit, error) { return Exit{}, errors.New("not started") }

// Kill does nothing.
func (*Process) Kill() {}

// Listener is nil.
func (*Process) Listener() net.Listener { return nil }

// Conn is nil.
func (*Process) Conn() net.Conn { return nil }

// PID is none.
func (*Process) PID() int { return 0 }

// Confinement is empty.
func (*Process) Confinement() Confinement { return Confinement{} }

// FileIDOf refuses.
func FileIDOf(string) (FileID, error) { return FileID{}, errors.New("commands are held on Linux only") }

// System is empty.
func System() []Mount { return nil }

func serveIfChild() {}
