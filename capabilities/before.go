package capabilities

import "context"

// compareWith puts into d what is different from the bundle of a row.
func (l *Lifecycle) compareWith(ctx context.Context, r row, after Side, d *Disclosure) {
	before, err := l.was(r, after.Signer)
	if err != nil {
		d.Changes = incomparable(r, after, err)
		return
	}
	changes := compare(ctx, Side{Found: before}, after)
	d.Changes = &changes
}

// was returns the bundle of a row as it was consented to: with the signer and the origin
// that the consent was shown, whatever would be named today.
func (l *Lifecycle) was(r row, now *Signer) (Found, error) {
	c, err := l.bytesOf(r)
	if err != nil {
		return Found{}, err
	}
	if r.Signer == "" {
		c.Signer = nil
		return c, nil
	}
	for _, known := range []*Signer{c.Signer, now, {KeyID: r.Signer}} {
		if keyOf(known) == r.Signer {
			c.Signer = known
			break
		}
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
			return Found{Bundle: b, Source: r.Origin.Source, Place: ProjectLocal, TrustLevel: ProjectLocal}, nil
		}
	}
	c, err := l.installed(r)
	if c.Bundle != nil {
		return c, nil // whose signature it carries counts for nothing here
	}
	return c, err
}
