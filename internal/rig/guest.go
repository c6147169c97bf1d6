package rig

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// Guest is a capability's tool written in Go: what an engine would run.
type Guest func(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error)

// Plan names no effects: a guest's come from its nested calls.
func (Guest) Plan(json.RawMessage) ([]permission.Effect, error) { return nil, nil }

// Run implements runtime.Implementation.
func (g Guest) Run(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error) {
	return g(ctx, access, input)
}

// Guests provides one tool "<capability>.run" for each guest. All are enabled, may read
// and write the project, store reports, and call each other.
type Guests map[string]Guest

// Tool implements runtime.Provider.
func (p Guests) Tool(_ context.Context, name string) (*runtime.Tool, error) {
	id, isRun := strings.CutSuffix(name, ".run")
	if g, ok := p[id]; ok && isRun {
		return p.tool(id, g), nil
	}
	return nil, runtime.UnknownTool(name)
}

// Tools implements runtime.Provider.
func (p Guests) Tools(context.Context) ([]*runtime.Tool, error) {
	var all []*runtime.Tool
	for id, g := range p {
		all = append(all, p.tool(id, g))
	}
	slices.SortFunc(all, func(a, b *runtime.Tool) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (p Guests) tool(id string, g Guest) *runtime.Tool {
	permissions := permission.Permissions{Read: true, Write: true, Artifacts: []string{"report"}}
	scopes := permission.Scopes{Tools: []string{"fs.read", "fs.write", "fs.edit", "fs.patch", "fs.list", "fs.stat", "artifact.create", "artifact.read", "event.emit"}}
	for other := range p {
		scopes.Tools = append(scopes.Tools, other+".run")
	}
	return &runtime.Tool{
		Name: id + ".run", Version: 3, Capability: id, Permissions: permissions,
		InputSchema: json.RawMessage(`{"type": "object"}`), OutputSchema: json.RawMessage(`{"type": "object"}`),
		Owner:          permission.Caller{Capability: id, Digest: "sha256:" + id, Permissions: permissions, Consented: true, Scopes: scopes},
		Implementation: g,
	}
}

// Call is a nested call with an input that encodes as JSON.
func Call(ctx context.Context, access *runtime.Access, tool string, input any) runtime.Envelope {
	text, err := json.Marshal(input)
	if err != nil {
		return runtime.Envelope{Error: fault.From(err)}
	}
	return access.Call(ctx, tool, text)
}
