package capabilities

import (
	"context"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// adopt makes c what the project uses, if it can be used here and confirm, which was
// shown what that means, says yes. Enabling, updating and rolling back end here.
func (l *Lifecycle) adopt(ctx context.Context, c Found, confirm func(Disclosure) (bool, error)) (Status, error) {
	verdicts, err := l.check(ctx, c)
	if err != nil {
		return Status{}, err
	}
	agreed, err := l.consents(ctx, c.Manifest.CapabilityID)
	if err != nil {
		return Status{}, err
	}
	if err := l.consent(ctx, agreed, c, verdicts, confirm); err != nil {
		return Status{}, err
	}
	if err := l.unchanged(ctx, c.Manifest.CapabilityID, agreed); err != nil {
		return Status{}, err
	}
	if err := l.keep(ctx, c); err != nil {
		return Status{}, err
	}
	s, err := l.activate(ctx, c, verdicts)
	if err != nil {
		return s, err
	}
	return s, l.keepOnly(ctx, c)
}

// unchanged refuses an answer when, while the question stood, the person agreed to
// something else: what was shown was the difference to another bundle.
func (l *Lifecycle) unchanged(ctx context.Context, id string, agreed []row) error {
	now, err := l.consents(ctx, id)
	if err != nil {
		return err
	}
	same := len(now) == 0 && len(agreed) == 0 || len(now) > 0 && len(agreed) > 0 &&
		now[0].Digest == agreed[0].Digest && now[0].Place == agreed[0].Place && now[0].ConsentedAt == agreed[0].ConsentedAt
	if same {
		return nil
	}
	return fault.New(fault.Conflict, "changed_meanwhile", "what this project uses of %s changed while you were asked", id).
		WithHint("ask again: the difference is another one now")
}

// consent asks about c. Where the person agreed to other bytes before, in use or not,
// every difference to these is shown first.
func (l *Lifecycle) consent(ctx context.Context, agreed []row, c Found, verdicts []Verdict, confirm func(Disclosure) (bool, error)) error {
	id := c.Manifest.CapabilityID
	d := Disclose(c, verdicts)
	d.ProposedBy = l.proposedBy(id, c.Digest)
	if len(agreed) > 0 && (agreed[0].Digest != c.Digest || agreed[0].Signer != keyOf(c.Signer)) {
		l.compareWith(ctx, agreed[0], Side{c, verdicts}, &d)
	}
	switch yes, err := confirm(d); {
	case err != nil:
		return err
	case !yes:
		return fault.New(fault.Cancelled, "declined", "nothing was changed for %s: the answer was no", id)
	}
	return nil
}

// proposedBy names the accepted file of the project that wants this digest enabled.
func (l *Lifecycle) proposedBy(id, digest string) string {
	wanted, err := l.wanted()
	if p, ok := wanted[id]; err == nil && ok && (p.Digest == "" || p.Digest == digest) {
		return ".air/shared/" + p.From
	}
	return ""
}

// compareWith puts into d what is different from the bundle of a row.
func (l *Lifecycle) compareWith(ctx context.Context, r row, after Side, d *Disclosure) {
	if r.Enabled && r.Digest != after.Digest {
		d.Replaces = &Replaced{Version: text.Line(r.Version, 64), Digest: r.Digest}
	}
	before, err := l.was(r, after.Signer)
	if err != nil {
		d.Changes = incomparable(r, after, err)
		return
	}
	changes := compare(ctx, Side{Found: before}, after)
	d.Changes = &changes
}

// was returns the bundle of a row as it was consented to: with the signer that the
// consent was shown, whoever would be named today.
func (l *Lifecycle) was(r row, now *Signer) (Found, error) {
	c, err := l.bytesOf(r)
	if err != nil {
		return Found{}, err
	}
	for _, known := range []*Signer{c.Signer, now, {KeyID: r.Signer}} {
		if known != nil && known.KeyID == r.Signer {
			c.Signer = known
			break
		}
	}
	if r.Signer == "" {
		c.Signer = nil
	}
	return c, nil
}

// bytesOf finds the bundle of a row, of one that was part of the project also where the
// same bytes are installed.
func (l *Lifecycle) bytesOf(r row) (Found, error) {
	if r.Place == ProjectLocal {
		if c, err := l.local(r.ID); err == nil && c.Digest == r.Digest {
			return c, nil
		}
		if b, err := l.consentedTo().Verify(r.ID, r.Digest); err == nil {
			return Found{Bundle: b, Source: l.consentedTo().record(r.ID, r.Digest).Source, Place: ProjectLocal, TrustLevel: ProjectLocal}, nil
		}
	}
	c, err := l.installed(r.ID, r.Digest, r.Signer)
	if c.Bundle != nil {
		return c, nil // whose signature it carries counts for nothing here
	}
	return c, err
}
