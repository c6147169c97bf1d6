package capabilities

import (
	"context"
	"database/sql"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/event"
)

// Enable lets the project use a capability, after confirm was shown what that means.
// digest may be empty: then it is the one that the accepted capabilities.yaml names,
// else the only or the last placed one. The consent is to that digest and no other.
// Enabling what is enabled already asks nothing.
func (l *Lifecycle) Enable(ctx context.Context, id, digest string, confirm func(Disclosure) (bool, error)) (Status, error) {
	if !l.config.Project.Exists() {
		return Status{}, fault.New(fault.InvalidInput, "no_project", "a capability is enabled in a project, and there is none here").WithHint("air init makes this folder a project")
	}
	c, err := l.Find(id, digest)
	if err != nil {
		return Status{}, err
	}
	previous, has, err := l.enabled(ctx, id)
	if err != nil {
		return Status{}, err
	}
	if has && previous.Digest == c.Digest && previous.Trust == c.TrustLevel {
		_, err := l.load(ctx, previous)
		return l.triedStatus(c, Active, err), err
	}
	if err := l.check(ctx, c); err != nil {
		return Status{}, err
	}
	d := l.disclose(c)
	if has {
		d.Replaces = &Replaced{Version: text.Line(previous.Version, 64), Digest: previous.Digest}
	}
	switch yes, err := confirm(d); {
	case err != nil:
		return Status{}, err
	case !yes:
		return Status{}, fault.New(fault.Cancelled, "declined", "%s was not enabled: the answer was no", id)
	}
	if err := l.activate(ctx, c, previous, has); err != nil {
		return Status{}, err
	}
	return l.triedStatus(c, Active, nil), nil
}

// Find returns the one bundle that a person means.
func (l *Lifecycle) Find(id, digest string) (Found, error) {
	if !capabilityName.MatchString(id) {
		return Found{}, fault.New(fault.InvalidInput, "bad_name", "%.80q is no capability name", id)
	}
	if digest == "" {
		s, err := l.settings()
		if err != nil {
			return Found{}, err
		}
		digest = s.of(id).Digest
	}
	local, localErr := l.local(id)
	here := !fault.Is(localErr, fault.NotFound)
	if here && localErr == nil && matches(local.Digest, digest) {
		return local, nil
	}
	i, err := l.config.Store.Get(id, digest)
	switch {
	case err == nil && here && digest == "":
		return Found{}, fault.New(fault.InvalidInput, "ambiguous", "capability %s lies in the project and is installed besides", id).
			WithHint("write %s@sha256:… of the one you mean; air ls shows both", id)
	case err == nil:
		return l.proven(id, i.Digest)
	case here && digest == "":
		return local, localErr
	}
	return Found{}, err
}

// proven checks an installed bundle as if it came from outside just now: a later
// version of air may refuse what an earlier one placed.
func (l *Lifecycle) proven(id, digest string) (Found, error) {
	c, err := l.installed(id, digest)
	if err != nil {
		return c, err
	}
	if _, err := ParseManifest(c.Manifest.Canonical()); err != nil {
		return c, err
	}
	return c, c.prove()
}

// check records that a bundle was found and whether it can be used here.
func (l *Lifecycle) check(ctx context.Context, c Found) error {
	if err := l.discovered(ctx, c.row(Discovered), nil); err != nil {
		return err
	}
	if _, err := l.ready(c, false); err != nil {
		return l.recordFailure(ctx, c.row(Failed), err)
	}
	return nil
}

// discovered records what was not seen in this project before, and whether it is valid.
func (l *Lifecycle) discovered(ctx context.Context, r row, invalid error) error {
	known, err := l.rows(ctx, `WHERE id = ? AND digest = ? AND trust = ?`, r.ID, r.Digest, r.Trust)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		r.State = Discovered
		if err := l.record(ctx, event.CapabilityDiscovered, r, nil); err != nil {
			return err
		}
	}
	if invalid != nil {
		return l.markFailed(ctx, r, invalid)
	}
	if len(known) == 0 {
		r.State = Validated
		return l.record(ctx, event.CapabilityValidated, r, nil)
	}
	return nil
}

// activate takes a bundle through the states to active. The step that counts, one
// digest in place of another, is one transaction.
func (l *Lifecycle) activate(ctx context.Context, c Found, previous row, replaces bool) error {
	m := c.Manifest
	facts := map[string]any{
		"manifest_hash": c.ManifestHash, "source": c.Source, "signer": "none", "dependencies_checked": len(m.Dependencies) == 0,
	}
	r := c.row(Enabled)
	r.Enabled = true
	if replaces {
		more := map[string]any{"from": map[string]any{"digest": previous.Digest, "version": previous.Version}}
		if err := l.record(ctx, event.CapabilityUpdated, r, more, stepBack(r.ID), r.save); err != nil {
			return err
		}
	}
	if err := l.record(ctx, event.CapabilityEnabled, r, facts, stepBack(r.ID), r.save); err != nil {
		return err
	}
	r.State = Registered
	if err := l.record(ctx, event.CapabilityRegistered, r, map[string]any{"tools": m.ToolNames()}); err != nil {
		return err
	}
	r.State = Active
	return l.record(ctx, event.CapabilityActivated, r, nil)
}

// stepBack makes room for the digest that is enabled next.
func stepBack(id string) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE capability_state SET enabled = 0, state = ? WHERE id = ? AND enabled = 1`, Updated, id)
		return err
	}
}
