//go:build !linux

package sandbox

import (
	"errors"
	"os"
	"syscall"
)

var errUnsupported = errors.New("guests run on Linux only: this system cannot confine a worker")

// thisProgram is "" where its path cannot be found, which nothing starts.
func thisProgram() string {
	path, _ := os.Executable()
	return path
}

func processAttributes() *syscall.SysProcAttr { return nil }

// boundThread has nothing to do.
func boundThread() error { return nil }

type loaded struct{}

// Load refuses: a guest never runs unconfined.
func (w *Worker) Load() error { return errUnsupported }

// Serve refuses likewise.
func (w *Worker) Serve() error { return errUnsupported }

// Trim has nothing to do.
func (w *Worker) Trim() {}

// ResidentBytes is unknown here.
func ResidentBytes(int) int64 { return 0 }
