package runtime

import (
	"context"
	"encoding/json"

	"github.com/aircoding/air/runtime/permission"
)

// Tool is a registered operation: what its manifest declares, and what carries it out.
type Tool struct {
	Name         string
	Version      int
	Category     string
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Permissions  permission.Permissions
	Limits       Limits
	// Owner is the capability that brings the tool; its zero value marks a built-in.
	Owner permission.Caller
	// Capability is the id of the owning capability, built-in ones included.
	Capability string
	// DurableEvents are the types of the capability's own events that are stored, each with
	// the JSON Schema of what it says, as a person accepted them.
	DurableEvents map[string]json.RawMessage
	// Unrecorded tools leave no tool.* events; what they do is recorded by its type.
	Unrecorded bool
	// DirectOnly tools are for a person and their agent: no capability can call them.
	DirectOnly bool

	Implementation Implementation
}

// BuiltIn reports whether the tool is part of air itself.
func (t *Tool) BuiltIn() bool { return t.Owner.Capability == "" }

// needsProject reports whether the tool makes no sense outside a project.
func (t *Tool) needsProject() bool { return t.BuiltIn() && (t.Permissions.Read || t.Permissions.Write) }

// limits are the tool's own, every one of them set. A built-in tool has none of its own.
func (t *Tool) limits() Limits {
	if t.BuiltIn() {
		return ceilings()
	}
	return t.Limits.WithDefaults()
}

// Implementation carries a tool out.
type Implementation interface {
	// Plan names the effects that the input asks for. It touches nothing: paths are
	// named as the input has them, and the runtime makes them canonical.
	Plan(input json.RawMessage) ([]permission.Effect, error)
	// Run does the work with nothing but access. A returned output is validated
	// against the output schema; together with an error it is the partial result.
	Run(ctx context.Context, access *Access, input json.RawMessage) (output any, err error)
}

// Provider finds the tools that are not built in.
type Provider interface {
	// Tool returns the named tool, or an error of kind not_found. It verifies what it
	// returns: a bundle whose bytes changed is an error of kind integrity. A tool
	// without an Owner would count as built in and is refused.
	Tool(ctx context.Context, name string) (*Tool, error)
	// Tools lists what Tool would find, sorted by name.
	Tools(ctx context.Context) ([]*Tool, error)
}
