//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"os"
	"syscall"
)

var errUnsupported = errors.New("guests run on Linux only: this system cannot confine a worker")

// Executable is the path by which this program starts itself again.
func Executable() (string, error) { return os.Executable() }

func processAttributes() *syscall.SysProcAttr { return nil }

// WorkerWalls is none here.
func WorkerWalls() Walls { return Walls{} }

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

func serveIfWorkerProbe() {}

func checkWorker(context.Context) []Row { return nil }
