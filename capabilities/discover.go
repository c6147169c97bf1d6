package capabilities

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// maxSightings bounds how many bundles one Discover records as seen for the first time.
// Each is two events in the chain, synchronously: ten thousand at once would take long,
// and which ones are recorded when changes nothing of what anybody may do.
const maxSightings = 256

// maxJudged bounds of how many bundles that are not in use one Discover verifies signatures.
// Each is a part of a millisecond.
const maxJudged = 100

// Discover looks through all places that capabilities lie in: air itself, the
// project, the install store. What this project has not seen before it records, a
// bounded number of them each time. Its cost grows with what is installed, of which it reads
// the records: for ten thousand under a second. Of what is enabled it reads every byte.
func (l *Lifecycle) Discover(ctx context.Context) ([]Status, error) {
	var all []Status
	s, err := l.seen(ctx)
	if err != nil {
		return nil, err
	}
	for _, find := range []func(context.Context, *sightings) ([]Status, error){l.discoverLocal, l.discoverInstalled, l.lost} {
		found, err := find(ctx, s)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b Status) int { return cmp.Compare(a.ID, b.ID) })
	builtin, err := builtinStatus()
	return append(all, builtin...), err // those that a person brought come first
}

// sightings are the rows of a project when Discover began.
type sightings struct {
	rows   map[[3]string]row // by id, digest and place
	left   int               // how many may be recorded for the first time
	judged int               // of how many that are not in use the signatures were looked at
}

func (r row) key() [3]string { return [3]string{r.ID, r.Digest, string(r.Place)} }

func (l *Lifecycle) seen(ctx context.Context) (*sightings, error) {
	rows, err := l.rows(ctx, ``)
	if err != nil {
		return nil, err
	}
	s := &sightings{rows: make(map[[3]string]row, len(rows)), left: maxSightings}
	for _, r := range rows {
		s.rows[r.key()] = r
	}
	return s, nil
}

// see records a bundle that is valid and was not seen before.
func (l *Lifecycle) see(ctx context.Context, s *sightings, r row) (row, error) {
	if known, ok := s.rows[r.key()]; ok && known.State != removed {
		return known, nil
	}
	if s.left == 0 {
		r.State = Discovered
		return r, nil
	}
	s.left--
	return l.discovered(ctx, r, nil)
}

func (l *Lifecycle) discoverLocal(ctx context.Context, s *sightings) ([]Status, error) {
	if !l.config.Project.Exists() {
		return nil, nil
	}
	dir := l.config.Project.Shared("capabilities")
	entries, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !capabilityName.MatchString(e.Name()) || !e.IsDir() && e.Type()&os.ModeSymlink == 0 {
			continue // a README or the like
		}
		found, err := l.discoverFolder(ctx, s, e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}

func (l *Lifecycle) discoverFolder(ctx context.Context, s *sightings, id string) (Status, error) {
	source := "folder " + filepath.Join(".air", "shared", "capabilities", id)
	c, invalid := l.local(id)
	if invalid != nil {
		_, err := l.discovered(ctx, row{ID: id, Place: ProjectLocal}, invalid)
		return Status{ID: id, State: Failed, Reason: text.Line(invalid.Error(), 500), TrustLevel: Untrusted, Source: source}, err
	}
	r, err := l.see(ctx, s, c.row(Discovered))
	if err != nil {
		return Status{}, err
	}
	return l.tried(ctx, r, c.Manifest.ToolNames(), source)
}

// discoverInstalled lists the install store. Bundles were validated when they were
// placed and are verified when they are used, so only enabled ones are read here.
func (l *Lifecycle) discoverInstalled(ctx context.Context, s *sightings) ([]Status, error) {
	installed, err := l.config.Store.List()
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, i := range installed {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r, err := l.see(ctx, s, row{ID: i.CapabilityID, Digest: i.Digest, Place: UserInstalled, Version: i.Version})
		if err != nil {
			return nil, err
		}
		if r.Enabled {
			i.Source, i.Reference = r.Origin.Source, r.Origin.Reference
		}
		found, err := l.tried(ctx, r, i.Tools, i.Source.String())
		if err != nil {
			return nil, err
		}
		all = append(all, found.vouched(l.recordedSigner(s, i, found, r.Signer)))
	}
	return all, nil
}

// recordedSigner is who signed what is listed and was not verified just now, by its record: that
// is what counts as soon as it is used. Of what was enabled it is the consented signer.
func (l *Lifecycle) recordedSigner(s *sightings, i Installed, now Status, consentedKey string) (TrustLevel, *Signer) {
	if l.config.Signer == nil || now.Signer != nil || len(i.Signatures) == 0 || s.judged == maxJudged {
		return "", nil
	}
	s.judged++
	by, _, err := l.config.Signer(i, consentedKey)
	if err != nil || by == nil || now.Enabled && by.KeyID != consentedKey {
		return "", nil
	}
	return VerifiedPublisher, by
}

// tried is the status of a row, after it was tried when it is enabled.
func (l *Lifecycle) tried(ctx context.Context, r row, tools []string, source string) (Status, error) {
	if !r.Enabled {
		return rowStatus(r, tools, source), nil
	}
	loaded, err := l.load(ctx, r)
	if err != nil && fault.From(err).Kind == fault.Internal {
		return Status{}, err
	}
	rows, err := l.rows(ctx, `WHERE id = ? AND digest = ? AND trust = ?`, r.ID, r.Digest, r.Place)
	if err != nil {
		return Status{}, err
	}
	return rowStatus(append(rows, r)[0], tools, source).vouched(loaded.trust, loaded.signer), nil
}

// lost lists what is enabled and no longer there, or no longer the same.
func (l *Lifecycle) lost(ctx context.Context, s *sightings) ([]Status, error) {
	var all []Status
	for _, r := range s.rows {
		if !r.Enabled || l.listed(r) {
			continue
		}
		if _, err := l.load(ctx, r); err != nil {
			r = r.failed(err)
			r.Changed = true
			all = append(all, rowStatus(r, nil, "gone"))
		}
	}
	return all, nil
}

func (l *Lifecycle) listed(r row) bool {
	if r.Place == UserInstalled {
		_, err := os.Lstat(l.config.Store.path(r.ID, r.Digest))
		return err == nil
	}
	c, err := l.local(r.ID)
	return err == nil && c.Digest == r.Digest
}
