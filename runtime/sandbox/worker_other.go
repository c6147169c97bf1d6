//go:build !linux

package sandbox

import (
	"errors"
	"os"
	"syscall"
)

// ErrUnsupported says that this system cannot confine a worker.
var ErrUnsupported = errors.New("guests run on Linux only: this system cannot confine a worker")

// Executable is the path by which this program starts itself again.
func Executable() (string, error) { return os.Executable() }

func processAttributes() *syscall.SysProcAttr { return nil }

// Apply refuses: a guest never runs unconfined.
func (w Worker) Apply(Stage) error { return ErrUnsupported }

// ResidentBytes is unknown here.
func ResidentBytes(int) int64 { return 0 }
