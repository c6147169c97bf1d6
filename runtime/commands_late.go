package runtime

import (
	"context"
	"slices"

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

// permitsGuarded is Launch.Permits of a command line: what the rules allow without a question.
// A credential that programs find open counts as used, for nobody sees which of them reads it,
// and it stays covered from those that may use the network.
func (c Commands) permitsGuarded(e permission.Effect) bool {
	r := c.registry
	d := r.config.Permission.Decide(c.run.request(r.config.Session.ID, []permission.Effect{e}))[0]
	if d.Verdict != permission.Allow {
		return false
	}
	if len(credentials([]permission.Effect{e})) == 0 {
		return true
	}
	network := slices.ContainsFunc(c.decisions, func(d permission.Decision) bool { return d.Effect.UsesNetwork() })
	return !network && r.noteCredentials(context.Background(), c.run, []permission.Decision{d}) == nil
}
