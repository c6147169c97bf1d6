package runtime

import (
	"context"
	"encoding/json"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// Typed is an Implementation written as two functions over a decoded input.
type Typed[In any] struct {
	// Effects names what the input asks for; nil for a tool without effects.
	Effects func(in In) ([]permission.Effect, error)
	Do      func(ctx context.Context, access *Access, in In) (output any, err error)
}

// Plan decodes the input and names its effects.
func (t Typed[In]) Plan(input json.RawMessage) ([]permission.Effect, error) {
	in, err := decodeInput[In](input)
	if err != nil || t.Effects == nil {
		return nil, err
	}
	return t.Effects(in)
}

// Run decodes the input and does the work.
func (t Typed[In]) Run(ctx context.Context, access *Access, input json.RawMessage) (any, error) {
	in, err := decodeInput[In](input)
	if err != nil {
		return nil, err
	}
	return t.Do(ctx, access, in)
}

// decodeInput decodes what the schema has validated. An error means that the schema
// lets through what the Go type does not hold.
func decodeInput[In any](input json.RawMessage) (in In, err error) {
	if err := json.Unmarshal(input, &in); err != nil {
		return in, fault.New(fault.InvalidInput, "schema", "decoding the input: %w", err)
	}
	return in, nil
}
