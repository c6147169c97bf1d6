package capabilities

import (
	"context"
	"errors"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
)

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
	known, err := l.rows(ctx, oneRow, r.ID, r.Digest, r.Place)
	if err != nil {
		return r, err
	}
	if len(known) > 0 {
		r = known[0]
	}
	isNew := len(known) == 0 || r.State == removed
	if isNew {
		r.State = Discovered
		err := l.record(ctx, event.CapabilityDiscovered, r, nil, r.sight)
		if errors.Is(err, errSame) {
			return l.discovered(ctx, r, invalid) // somebody else saw it meanwhile
		}
		if err != nil {
			return r, err
		}
	}
	if invalid != nil {
		return r, l.markFailed(ctx, r, invalid)
	}
	if isNew {
		r.State = Validated
		return r, l.found(ctx, event.CapabilityValidated, r, nil)
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
	tell := func() error {
		return l.record(ctx, event.CapabilityDoctorChecked, r, map[string]any{"verdicts": verdicts})
	}
	if r.State == Discovered || r.State == Validated || r.State == Failed {
		r.State, r.Reason, r.Changed = DoctorChecked, "", false
		tell = func() error {
			return l.found(ctx, event.CapabilityDoctorChecked, r, map[string]any{"verdicts": verdicts})
		}
	}
	if err := tell(); err != nil {
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
