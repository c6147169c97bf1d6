package capabilities

import (
	"context"
	"errors"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/event"
)

// Disable ends the use of a capability in this project. reason is empty when a person
// asked for it, and else says what the capability did.
func (l *Lifecycle) Disable(ctx context.Context, id, reason string) error {
	r, ok, err := l.enabled(ctx, id)
	if err != nil {
		return err
	}
	if !ok {
		return fault.New(fault.NotFound, "not_enabled", "capability %.64s is not enabled in this project", id).WithHint("air ls shows what is")
	}
	r.State, r.Reason = Disabled, text.Line(reason, 500)
	err = l.record(ctx, event.CapabilityDisabled, r, nil, r.disable)
	if errors.Is(err, errSame) {
		return l.Disable(ctx, id, reason) // it was updated meanwhile, or is disabled
	}
	return err
}

// Remove deletes installed bundles of a capability: one digest, or all when digest is
// empty. In this project it ends their use; other projects that use one are told when
// they next try.
func (l *Lifecycle) Remove(ctx context.Context, id, digest string) ([]Installed, error) {
	found, err := l.removable(id, digest)
	if err != nil {
		return nil, err
	}
	for n, i := range found {
		r := row{ID: id, Digest: i.Digest, Place: UserInstalled, Version: i.Version, State: removed}
		if err := l.record(ctx, event.CapabilityRemoved, r, nil, r.forget); err != nil {
			return found[:n], err
		}
		if err := l.config.Store.Remove(ctx, id, i.Digest); err != nil {
			return found[:n], err
		}
	}
	return found, nil
}

func (l *Lifecycle) removable(id, digest string) ([]Installed, error) {
	i, err := l.config.Store.Get(id, digest)
	if dir, ok := l.localDir(id); fault.Is(err, fault.NotFound) && ok && realFolders(l.config.Project.Root, dir) == nil {
		return nil, fault.New(fault.InvalidInput, "project_local", "capability %s is part of the project", id).
			WithHint("air disable %s ends its use; to remove it delete %s", id, dir)
	}
	if err != nil {
		return nil, err
	}
	if digest != "" {
		return []Installed{i}, nil
	}
	return l.config.Store.of(id)
}
