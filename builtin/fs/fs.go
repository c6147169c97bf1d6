// Package fs brings the tools that list, read, describe, write and edit files. It reaches
// them through runtime.Access and nothing else.
package fs

import (
	"time"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// Tools returns the implementations by tool name.
func Tools() map[string]runtime.Implementation {
	return map[string]runtime.Implementation{
		"fs.list":  runtime.Typed[listInput]{Effects: listEffects, Do: list},
		"fs.read":  runtime.Typed[readInput]{Effects: readEffects, Do: read},
		"fs.stat":  runtime.Typed[statInput]{Effects: statEffects, Do: stat},
		"fs.edit":  runtime.Typed[editInput]{Effects: editEffects, Do: edit},
		"fs.patch": runtime.Typed[patchInput]{Effects: patchEffects, Do: applyPatch},
		"fs.write": runtime.Typed[writeInput]{Effects: writeEffects, Do: write},
	}
}

func readOf(path string) []permission.Effect {
	return []permission.Effect{{Kind: permission.Read, Target: path}}
}

// timestamp is a time as results show it.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
