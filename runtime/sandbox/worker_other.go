//go:build !linux

package sandbox

import (
	"errors"
	"os"
	"syscall"
)

var errUnsupported = errors.New("guests run on Linux only: this system cannot confine a worker")

// Executable is the path by which this program starts itself again.
func Executable() (string, error) { return os.Executable() }

func processAttributes() *syscall.SysProcAttr { return nil }

// Load refuses: a guest never runs unconfined.
func (w Worker) Load() error { return errUnsupported }

// Serve refuses likewise.
func (w Worker) Serve() error { return errUnsupported }

// ResidentBytes is unknown here.
func ResidentBytes(int) int64 { return 0 }
