// Package artifact brings the tools that keep and read results of a session.
package artifact

import "github.com/aircoding/air/runtime"

// Tools returns the implementations by tool name.
func Tools() map[string]runtime.Implementation {
	return map[string]runtime.Implementation{
		"artifact.create": runtime.Typed[createInput]{Effects: createEffects, Do: create},
		"artifact.read":   runtime.Typed[readInput]{Do: read},
	}
}
