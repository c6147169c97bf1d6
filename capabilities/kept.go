package capabilities

import (
	"context"
	"path/filepath"
)

// consentedTo keeps the bytes of what is part of the project as a person agreed to them:
// a pull of the project replaces them in place, and only they show what has changed.
func (l *Lifecycle) consentedTo() *Store {
	return OpenStore(filepath.Join(l.config.Project.Dir, "state", "consented"))
}

// keep copies a bundle of the project beside what was agreed to before.
func (l *Lifecycle) keep(ctx context.Context, c Found) error {
	if c.Place != ProjectLocal {
		return nil
	}
	_, err := l.consentedTo().Place(ctx, c.Bundle, c.Source)
	return err
}

// keepOnly removes the copies of other digests. What is left after a crash goes the next
// time.
func (l *Lifecycle) keepOnly(ctx context.Context, c Found) error {
	if c.Place != ProjectLocal {
		return nil
	}
	all, err := l.consentedTo().of(c.Manifest.CapabilityID)
	if err != nil {
		return err
	}
	for _, i := range all {
		if i.Digest == c.Digest {
			continue
		}
		if err := l.consentedTo().Remove(ctx, i.CapabilityID, i.Digest); err != nil {
			return err
		}
	}
	return nil
}
