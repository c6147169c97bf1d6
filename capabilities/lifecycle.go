package capabilities

import (
	"context"
	"errors"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
)

// LifecycleConfig is what a Lifecycle is built from.
type LifecycleConfig struct {
	Store   *Store
	Project home.Project
	Events  *event.Store // the project's events.db, which also keeps the states
	// Accepted tells whether a person accepted the project's capabilities.yaml with this
	// content. Otherwise, and where it is nil, only what it forbids counts.
	Accepted func(content []byte) bool
	// AcceptedLock is the same for the project's capability-lock.json: until then it only
	// forbids, and nothing is proposed or pulled because of it.
	AcceptedLock func(content []byte) bool
	// Signer returns the trusted publisher who signed an installed bundle, of several the one
	// with the wanted key, and nil when none did: then reasons say in words why none of the
	// record's Signatures counts. It answers offline. nil trusts nobody.
	Signer func(i Installed, wantedKey string) (by *Signer, reasons []string, err error)
	// Policy is the person's own; it forbids besides the project's.
	Policy Policy
	// Dependencies says what this machine has of what a capability wants. nil checks nothing.
	Dependencies func(context.Context, []Dependency) []Verdict
	// NewImplementation makes what carries a tool out.
	NewImplementation func(Module) runtime.Implementation
}

// Lifecycle knows what is installed and what a person enabled in one project, and
// provides the tools of that.
type Lifecycle struct{ config LifecycleConfig }

var _ runtime.Provider = (*Lifecycle)(nil)

// New returns the lifecycle of a project's capabilities.
func New(config LifecycleConfig) (*Lifecycle, error) {
	if config.Store == nil || config.Events == nil || config.NewImplementation == nil {
		return nil, errors.New("capabilities.New: Store, Events and NewImplementation are wanted")
	}
	if _, err := config.Events.DB().Exec(stateSchema); err != nil {
		return nil, event.Storage(err, "opening the state of capabilities")
	}
	return &Lifecycle{config}, nil
}

// Tool implements runtime.Provider: it finds the enabled capability by the name in
// front of the dot, reads no other, and verifies all of its bytes.
func (l *Lifecycle) Tool(ctx context.Context, name string) (*runtime.Tool, error) {
	id := ownerOf(name)
	if id == "" || isReserved(id) {
		return nil, runtime.UnknownTool(name)
	}
	r, ok, err := l.enabled(ctx, id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, l.notEnabled(ctx, id, name)
	}
	loaded, err := l.load(ctx, r)
	if err != nil {
		return nil, err
	}
	return loaded.tool(name)
}

// notEnabled says what a person can do to have the tool.
func (l *Lifecycle) notEnabled(ctx context.Context, id, name string) error {
	rows, err := l.rows(ctx, `WHERE id = ? AND state = ? ORDER BY updated_at DESC LIMIT 1`, id, Disabled)
	if err != nil {
		return err
	}
	unknown := runtime.UnknownTool(name)
	switch {
	case len(rows) > 0 && rows[0].Reason != "":
		return unknown.WithHint("capability %s is disabled (%s); air enable %s brings it back", id, rows[0].Reason, id)
	case len(rows) > 0:
		return unknown.WithHint("capability %s is disabled; air enable %s brings it back", id, id)
	case l.has(id, ""):
		return fault.New(fault.ApprovalRequired, "approval_required", "capability %s is there, and nobody enabled it in this project", id).
			WithHint("air enable %s shows what it asks for, and asks", id)
	}
	return unknown
}

// Tools implements runtime.Provider. A capability that fails is left out; its state
// says why.
func (l *Lifecycle) Tools(ctx context.Context) ([]*runtime.Tool, error) {
	rows, err := l.rows(ctx, `WHERE enabled = 1 ORDER BY id`)
	if err != nil {
		return nil, err
	}
	var all []*runtime.Tool
	for _, r := range rows {
		loaded, err := l.load(ctx, r)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			all = append(all, loaded.tools()...)
		}
	}
	return all, nil
}

// load verifies the bytes of an enabled capability, who signed them, and what the project
// says about it. What goes wrong becomes its state.
func (l *Lifecycle) load(ctx context.Context, r row) (loaded, error) {
	c, err := l.verified(r)
	if err != nil {
		return loaded{}, l.recordFailure(ctx, r, err)
	}
	ready, err := l.ready(c, true)
	if err != nil {
		return loaded{}, l.recordFailure(ctx, r, err)
	}
	if r.State == Active {
		return ready, nil
	}
	r.State, r.Reason, r.Changed = Active, "", false // it had failed, or enabling it was interrupted
	return ready, l.found(ctx, event.CapabilityActivated, r, nil)
}

// verified returns the bytes that a row's digest names, signed as they were when they were
// consented to, or an integrity error.
func (l *Lifecycle) verified(r row) (Found, error) {
	if r.Place == UserInstalled {
		c, err := l.installed(r)
		if err != nil {
			return c, err
		}
		return c, sameSigner(r, c)
	}
	c, err := l.local(r.ID)
	if err != nil {
		return c, changed("capability %s of the project: %w", r.ID, err).WithHint("air enable %s checks it and asks again once it is right", r.ID)
	}
	if c.Digest != r.Digest {
		return c, changed("capability %s of the project is not what was enabled: got %s, enabled is %s", r.ID, c.Digest, r.Digest).
			WithHint("air enable %s shows what it is now and asks again", r.ID)
	}
	return c, nil
}

// ready holds a bundle against what the person and the project forbid, and one that was
// consented to against the project's lock: before, nothing needs to be pinned.
func (l *Lifecycle) ready(c Found, consented bool) (loaded, error) {
	m := c.Manifest
	s, err := l.settings()
	if err != nil {
		return loaded{}, err
	}
	if err := l.forbids(s, c); err != nil {
		return loaded{}, err
	}
	own := s.of(m.CapabilityID)
	config, err := effectiveConfig(m, own.Config)
	if err != nil {
		return loaded{}, err
	}
	if consented {
		if err := l.locked(c); err != nil {
			return loaded{}, err
		}
	}
	return loaded{
		bundle: c.Bundle, limits: lowered(m.limits(), own.Limits), config: config, durable: own.DurableEvents,
		trust: c.TrustLevel, signer: c.Signer, consented: consented, make: l.config.NewImplementation,
	}, nil
}

func (l *Lifecycle) settings() (*settings, error) {
	if !l.config.Project.Exists() {
		return &settings{}, nil
	}
	return readSettings(l.config.Project.Shared(settingsFile), l.config.Accepted)
}
