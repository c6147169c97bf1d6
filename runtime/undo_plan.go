package runtime

import (
	"encoding/json"
	"fmt"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/permission"
)

// HistoryPlanner is an Implementation that takes back what earlier calls did: its
// effects follow from their records. Only a built-in tool is one, and no capability can
// call it.
type HistoryPlanner interface {
	PlanFrom(history History, input json.RawMessage) ([]permission.Effect, error)
}

// History tells what was recorded of earlier calls.
type History interface {
	// Undo names the effects that undoing a run has: of the run with this id, or with the
	// only one that begins so; with "" of the last one of the session that stands.
	Undo(run string) ([]permission.Effect, error)
}

// effects are those that the tool of a call names for its input.
func (r *Registry) effects(c *run) ([]permission.Effect, error) {
	planner, ok := c.tool.Implementation.(HistoryPlanner)
	if !ok || !c.tool.BuiltIn() {
		return c.tool.Implementation.Plan(c.call.Input)
	}
	if err := c.direct(); err != nil {
		return nil, err
	}
	return planner.PlanFrom(history{r}, c.call.Input)
}

// direct fails for a call that a capability makes.
func (c *run) direct() error {
	if len(c.chain) == 0 {
		return nil
	}
	return fault.New(fault.PermissionDenied, "direct_only", "%s is for people and their agents: no capability can call it", c.tool.Name)
}

type history struct{ registry *Registry }

func (h history) Undo(id string) ([]permission.Effect, error) {
	past, err := h.registry.past(id)
	if err != nil {
		return nil, err
	}
	var effects []permission.Effect
	for _, step := range past.Steps() {
		effects = append(effects, effectOf(step))
	}
	return effects, past.Close()
}

// effectOf is a change of what the run has left, and so of a content that is known.
func effectOf(s backup.Step) permission.Effect {
	e := permission.Effect{Kind: permission.Write, Target: s.Path, Known: true}
	if s.To == nil {
		e.Kind = permission.Delete
	}
	return e
}

// past is a run that can be undone.
func (r *Registry) past(id string) (*backup.Past, error) {
	if r.config.Backups == nil {
		return nil, fmt.Errorf("there is no store of backups")
	}
	past, err := r.find(id)
	if err != nil {
		return nil, err
	}
	if err := standing(past); err != nil {
		_ = past.Close() // nothing was read of it
		return nil, err
	}
	return past, nil
}

func (r *Registry) find(id string) (*backup.Past, error) {
	if id == "" {
		return r.config.Backups.Last(r.config.Session.ID)
	}
	return r.config.Backups.Find(id)
}

func standing(past *backup.Past) error {
	switch {
	case past.UnderWay:
		return fault.New(fault.Conflict, "run_under_way", "run %s (%s) is still under way", past.ID, past.Tool).WithHint("wait for it to end, or name another run")
	case past.UndoneBy != "":
		return fault.New(fault.Conflict, "already_undone", "run %s (%s) was undone by run %s", past.ID, past.Tool, past.UndoneBy).
			WithHint("air undo %s brings its changes back", past.UndoneBy)
	case len(past.Changes) == 0:
		return fault.New(fault.NotFound, "nothing_to_undo", "run %s changed no file", past.ID)
	}
	return nil
}
