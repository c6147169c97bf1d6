//go:build !linux

package runner

import (
	"context"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
)

// ServeIfKeeper does nothing.
func ServeIfKeeper() {}

func (r *Runner) launchBare(context.Context, runtime.Launch) (runtime.Ended, error) {
	return runtime.Ended{Tier: "none"}, fault.New(fault.Unavailable, "no_sandbox", "commands run on Linux only")
}
