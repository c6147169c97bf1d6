//go:build !linux

package runner

import "github.com/aircoding/air/internal/fault"

func readProcess(int) (process, error) { return process{}, errNoProcesses() }

func machine() string { return "" }

func ancestorsOfAir() ([]ancestor, error) { return nil, errNoProcesses() }

func sendSignal(int, string, func() (bool, error)) (bool, error) { return false, errNoProcesses() }

func errNoProcesses() error {
	return fault.New(fault.Unavailable, "no_processes", "processes are signalled on Linux only")
}
