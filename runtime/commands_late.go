package runtime

import (
	"context"

	"github.com/aircoding/air/runtime/permission"
)

// Decide answers for effects that turned up while a built-in tool worked, before it has
// them: what was decided before holds, what was not is decided now, and a person may be
// asked. It returns the Commands that may have them besides.
func (c Commands) Decide(ctx context.Context, effects []permission.Effect) (Commands, error) {
	late, err := c.late(ctx, effects)
	if err != nil {
		return Commands{}, err
	}
	c.decisions = append(c.decisions[:len(c.decisions):len(c.decisions)], late...)
	return c, nil
}

// ReadOnly are the Commands that may have only what was decided to be read.
func (c Commands) ReadOnly() Commands {
	var reads []permission.Decision
	for _, d := range c.decisions {
		if d.Effect.Kind == permission.Read {
			reads = append(reads, d)
		}
	}
	c.decisions = reads
	return c
}
