package capabilities

import "context"

// Current is what a project uses of a capability, and where that came from.
type Current struct {
	ID, Version, Digest string
	Place               TrustLevel // project_local or user_installed
	Source              Source
	Reference           string // as it was pulled, empty for what was not
}

// Current lists the enabled capabilities by id. Nothing of them is verified.
func (l *Lifecycle) Current(ctx context.Context) ([]Current, error) {
	rows, err := l.rows(ctx, `WHERE enabled = 1 ORDER BY id`)
	var all []Current
	for _, r := range rows {
		c := Current{ID: r.ID, Version: r.Version, Digest: r.Digest, Place: r.Place}
		if r.Place == UserInstalled {
			i := l.config.Store.record(r.ID, r.Digest)
			c.Source, c.Reference = i.Source, i.Reference
		}
		all = append(all, c)
	}
	return all, err
}

// Usable says why an enabled capability could not be called now, nil where it could.
func (l *Lifecycle) Usable(ctx context.Context, id string) error {
	r, ok, err := l.enabled(ctx, id)
	if err != nil || !ok {
		return err
	}
	_, err = l.load(ctx, r)
	return err
}
