package capabilities

import "context"

// Current is what a project uses of a capability, and where that came from as the consent
// to it was shown: the same bytes from elsewhere change nothing of that.
type Current struct {
	ID, Version, Digest string
	Place               TrustLevel // project_local or user_installed
	Source              Source
	Reference           string // as it was pulled, empty for what was not
	Asked               string // see Installed.Asked
}

// Current lists the enabled capabilities by id. Nothing of them is verified.
func (l *Lifecycle) Current(ctx context.Context) ([]Current, error) {
	rows, err := l.rows(ctx, `WHERE enabled = 1 ORDER BY id`)
	var all []Current
	for _, r := range rows {
		all = append(all, Current{r.ID, r.Version, r.Digest, r.Place, r.Origin.Source, r.Origin.Reference, r.Origin.Asked})
	}
	return all, err
}

// Usable says why an enabled capability could not be called now, which then is its state.
// It is nil where it could, and where it is not enabled.
func (l *Lifecycle) Usable(ctx context.Context, id string) error {
	r, ok, err := l.enabled(ctx, id)
	if err != nil || !ok {
		return err
	}
	_, err = l.load(ctx, r)
	return err
}
