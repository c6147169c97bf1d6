package capabilities

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aircoding/air/resources"
	"github.com/aircoding/air/runtime"
)

// builtins returns the capabilities that are part of air, sorted by id.
func builtins() ([]*Manifest, error) {
	files, err := resources.Capabilities()
	if err != nil {
		return nil, err
	}
	var all []*Manifest
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, canonical := decodeTree(files[name], &problems{})
		m, err := decodeManifest(canonical)
		if err != nil {
			return nil, fmt.Errorf("built-in %s: %w", name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// eventEmit leaves no tool.* events: what it publishes is recorded by its own type.
const eventEmit = "event.emit"

// directOnly are the tools that no capability can call.
var directOnly = []string{"air.undo", "permission.request"}

// BuiltinTools joins the built-in declarations with what carries them out. A tool
// without the other half, on either side, is an error.
func BuiltinTools(implementations map[string]runtime.Implementation) ([]*runtime.Tool, error) {
	all, err := builtins()
	if err != nil {
		return nil, err
	}
	var tools []*runtime.Tool
	left := maps.Clone(implementations)
	for _, m := range all {
		for _, t := range m.Tools {
			implementation, ok := left[t.Name]
			if !ok {
				return nil, fmt.Errorf("built-in tool %s has no implementation", t.Name)
			}
			delete(left, t.Name)
			tools = append(tools, &runtime.Tool{
				Name: t.Name, Version: t.Version, Category: t.Category, Description: t.Description,
				InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
				Permissions: toolPermissions(t.Permissions, m),
				Capability:  m.CapabilityID, Unrecorded: t.Name == eventEmit, DirectOnly: slices.Contains(directOnly, t.Name),
				Implementation: implementation,
			})
		}
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("tools without a declaration in resources/capabilities: %v", slices.Sorted(maps.Keys(left)))
	}
	return tools, nil
}

// builtinStatus lists air's own capabilities. One without tools is a name that is kept for
// a later version: it is known, and there is nothing of it to use.
func builtinStatus() ([]Status, error) {
	manifests, err := builtins()
	var all []Status
	for _, m := range manifests {
		s := Status{ID: m.CapabilityID, Version: m.Version, State: Active, Enabled: true, TrustLevel: BuiltIn, Source: "part of air", Tools: m.ToolNames()}
		if len(m.Tools) == 0 {
			s.State, s.Enabled = Discovered, false
		}
		all = append(all, s)
	}
	return all, err
}
