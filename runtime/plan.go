package runtime

import (
	"errors"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

func (r *Registry) plan(c *run) ([]permission.Effect, error) {
	if r.config.Paths.Root() == "" && c.tool.needsProject() {
		return nil, fault.New(fault.InvalidInput, "no_project", "%s needs a project, and there is none here", c.tool.Name).WithHint("air init makes this folder a project")
	}
	named, err := c.tool.Implementation.Plan(c.call.Input)
	if err != nil {
		return nil, fault.From(err)
	}
	plan := []permission.Effect{{Kind: permission.ToolCall, Target: c.tool.Name}}
	for _, e := range named {
		resolved, err := r.resolve(e)
		if err != nil {
			return nil, err
		}
		plan = append(plan, resolved)
	}
	return plan, nil
}

// resolve makes the target of a path effect canonical.
func (r *Registry) resolve(e permission.Effect) (permission.Effect, error) {
	resolved, err := r.config.Paths.Resolve(e)
	var known *fault.Error
	if err != nil && !errors.As(err, &known) {
		return resolved, fault.New(fault.InvalidInput, "bad_path", "%w", err)
	}
	return resolved, err
}
