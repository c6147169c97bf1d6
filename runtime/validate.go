package runtime

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/schema"
)

func (r *Registry) validateInput(c *run) error {
	if len(c.call.Input) == 0 {
		c.call.Input = json.RawMessage(`{}`)
	}
	if err := canon.Check(c.call.Input, canon.Limits{Bytes: c.tool.limits().InputBytes}); err != nil {
		return fault.New(fault.InvalidInput, "bad_json", "input of %s: %w", c.tool.Name, err).
			WithHint("an input is one JSON object with quoted names, such as {\"path\":\"a.txt\"}")
	}
	s, err := r.schema(c.tool.InputSchema)
	if err != nil {
		return err
	}
	if err := s.Validate(c.call.Input); err != nil {
		return fault.New(fault.InvalidInput, "schema", "input of %s: %w", c.tool.Name, err).WithHint("air tool show %s prints the schema", c.tool.Name)
	}
	return nil
}

// checkOutput is what the caller gets of what a tool returned.
func (r *Registry) checkOutput(ctx context.Context, c *run, output json.RawMessage, failed error) (json.RawMessage, error) {
	if withheld := r.screen(ctx, c, output, failed); withheld != nil {
		return nil, withheld
	}
	if failed != nil {
		return output, c.clock.explain(ctx, failed)
	}
	if err := r.validateOutput(c, output); err != nil {
		return nil, err
	}
	return output, nil
}

// validateOutput takes the output for hostile bytes: Validate bounds them before it
// decodes them.
func (r *Registry) validateOutput(c *run, output json.RawMessage) error {
	s, err := r.schema(c.tool.OutputSchema)
	if err != nil {
		return err
	}
	if err := s.Validate(output); err != nil {
		return c.badOutput(err)
	}
	return nil
}

func (c *run) badOutput(err error) error {
	if c.tool.BuiltIn() {
		return fmt.Errorf("output of %s: %w", c.tool.Name, err)
	}
	return fault.New(fault.GuestError, "bad_output", "output of %s: %w", c.tool.Name, err).
		WithHint("the capability breaks its own output schema: tell its publisher")
}

func (r *Registry) schema(text json.RawMessage) (*schema.Schema, error) {
	if s, ok := r.schemas.Load(string(text)); ok {
		return s.(*schema.Schema), nil
	}
	s, err := schema.Compile(text)
	if err != nil {
		return nil, err
	}
	r.schemas.Store(string(text), s)
	return s, nil
}
