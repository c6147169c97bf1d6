package capabilities

import (
	"context"
	"database/sql"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
)

// Enable lets the project use a capability, after confirm was shown what that means.
// digest may be empty: then it is the one that the accepted lock or capabilities.yaml
// names, else the only or the last placed one. The consent is to that digest and no other.
// Enabling what is enabled already asks nothing, unless the signature that the consent
// was shown no longer counts. What the project's lock does not pin is enabled and cannot
// be used until it is pinned: then the state is failed and its reason says that.
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
	if has && previous.Digest == c.Digest && previous.Place == c.Place {
		_, err := l.load(ctx, previous)
		if err == nil || fault.From(err).Code != codeSignerChanged {
			return l.triedStatus(c, Active, err), err
		}
	}
	if err := l.downgraded(ctx, id, c.Manifest.Version); err != nil {
		return Status{}, err
	}
	return l.adopt(ctx, c, confirm)
}

// Find returns the one bundle that a person means.
func (l *Lifecycle) Find(id, digest string) (Found, error) {
	if !capabilityName.MatchString(id) {
		return Found{}, fault.New(fault.InvalidInput, "bad_name", "%.80q is no capability name", id)
	}
	if digest == "" {
		var err error
		if digest, err = l.chosen(id); err != nil {
			return Found{}, err
		}
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
	c, err := l.installed(id, digest, "")
	if err != nil {
		return c, err
	}
	if _, err := ParseManifest(c.Manifest.Canonical()); err != nil {
		return c, err
	}
	return c, c.prove()
}

// check records that a bundle was found, whether it can be used here, and what the
// machine has of what it wants.
func (l *Lifecycle) check(ctx context.Context, c Found) ([]Verdict, error) {
	r, err := l.discovered(ctx, c.row(Discovered), nil)
	if err != nil {
		return nil, err
	}
	if _, err := l.ready(c, false); err != nil {
		return nil, l.recordFailure(ctx, r, err)
	}
	return l.doctorChecked(ctx, c, r)
}

// discovered records what was not seen in this project before, and whether it is valid.
// It returns the row as it is then recorded.
func (l *Lifecycle) discovered(ctx context.Context, r row, invalid error) (row, error) {
	known, err := l.rows(ctx, `WHERE id = ? AND digest = ? AND trust = ?`, r.ID, r.Digest, r.Place)
	if err != nil {
		return r, err
	}
	if len(known) > 0 {
		r = known[0]
	}
	isNew := len(known) == 0 || r.State == removed
	if isNew {
		r.State = Discovered
		if err := l.record(ctx, event.CapabilityDiscovered, r, nil); err != nil {
			return r, err
		}
	}
	if invalid != nil {
		return r, l.markFailed(ctx, r, invalid)
	}
	if isNew {
		r.State = Validated
		return r, l.record(ctx, event.CapabilityValidated, r, nil)
	}
	return r, nil
}

// doctorChecked records the verdicts about what a bundle wants. It refuses one that
// cannot work and of which AIR would never install what is missing.
func (l *Lifecycle) doctorChecked(ctx context.Context, c Found, r row) ([]Verdict, error) {
	if l.config.Dependencies == nil {
		return nil, nil
	}
	verdicts := l.config.Dependencies(ctx, c.Manifest.Dependencies)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if r.State == Discovered || r.State == Validated || r.State == Failed {
		r.State, r.Reason, r.Changed = DoctorChecked, "", false
	}
	if err := l.record(ctx, event.CapabilityDoctorChecked, r, map[string]any{"verdicts": verdicts}); err != nil {
		return nil, err
	}
	for _, v := range verdicts {
		if v.Required && v.State != Present && v.State != Unknown && v.Disallowed != "" {
			err := fault.New(fault.PermissionDenied, "disallowed_install", "%s cannot work without %s, which is %s here, and air never installs it as the manifest says: %s", r.ID, v.DependencyID, v.State, v.Disallowed).
				WithHint("install it yourself, then air enable %s", r.ID)
			return nil, l.recordFailure(ctx, r, err)
		}
	}
	return verdicts, nil
}

// activate takes a bundle that was consented to through the states to active. The step
// that counts, one digest in place of another with the consent to it, is one transaction.
func (l *Lifecycle) activate(ctx context.Context, c Found, verdicts []Verdict) (Status, error) {
	r := c.row(Enabled)
	previous, replaces, err := l.enabled(ctx, r.ID)
	if err != nil {
		return Status{}, err
	}
	r.Enabled, r.ConsentedAt = true, now()
	if c.Signer != nil {
		r.Signer = c.Signer.KeyID
	}
	facts := enabledFacts(c, verdicts)
	from := map[string]any{"digest": previous.Digest, "version": previous.Version}
	if replaces {
		facts["from"] = from
	}
	if err := l.record(ctx, event.CapabilityEnabled, r, facts, stepBack(r.ID), r.save); err != nil {
		return Status{}, err
	}
	if replaces {
		if err := l.record(ctx, event.CapabilityUpdated, r, map[string]any{"from": from}); err != nil {
			return Status{}, err
		}
	}
	r.State = Registered
	if err := l.record(ctx, event.CapabilityRegistered, r, map[string]any{"tools": c.Manifest.ToolNames()}); err != nil {
		return Status{}, err
	}
	if err := l.locked(c); err != nil { // enabled all the same: pinning it is the next step
		return l.triedStatus(c, Failed, err), l.markFailed(ctx, r, err)
	}
	r.State = Active
	return l.triedStatus(c, Active, nil), l.record(ctx, event.CapabilityActivated, r, nil)
}

// enabledFacts are what the event of a consent says besides the digest.
func enabledFacts(c Found, verdicts []Verdict) map[string]any {
	facts := map[string]any{"manifest_hash": c.ManifestHash, "source": c.Source, "signer": "none", "trust_level": c.TrustLevel}
	if c.Signer != nil {
		facts["signer"] = c.Signer
	}
	if c.Reference != "" {
		facts["reference"] = c.Reference
	}
	if verdicts != nil {
		facts["verdicts"] = verdicts
	}
	return facts
}

// stepBack makes room for the digest that is enabled next.
func stepBack(id string) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE capability_state SET enabled = 0, state = ? WHERE id = ? AND enabled = 1`, Updated, id)
		return err
	}
}
