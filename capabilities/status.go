package capabilities

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// Status is one capability as air ls shows it. Texts of publishers are cleaned.
type Status struct {
	ID         string     `json:"capability_id"`
	Version    string     `json:"version,omitempty"`
	Digest     string     `json:"digest,omitempty"` // of a built-in capability there is none
	State      State      `json:"state"`
	Enabled    bool       `json:"enabled"`
	Reason     string     `json:"reason,omitempty"`
	TrustLevel TrustLevel `json:"trust_level"`
	Source     string     `json:"source"`
	Tools      []string   `json:"tools,omitempty"`
}

// Discover looks through all places that capabilities lie in: air itself, the
// project, the install store. What this project has not seen before it records.
func (l *Lifecycle) Discover(ctx context.Context) ([]Status, error) {
	all, err := builtinStatus()
	if err != nil {
		return nil, err
	}
	for _, find := range []func(context.Context) ([]Status, error){l.discoverLocal, l.discoverInstalled, l.lost} {
		found, err := find(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b Status) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// rank puts air's own capabilities behind those that a person brought.
func rank(s Status) int {
	if s.TrustLevel == BuiltIn {
		return 1
	}
	return 0
}

func (l *Lifecycle) discoverLocal(ctx context.Context) ([]Status, error) {
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
		s, err := l.discoverFolder(ctx, e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (l *Lifecycle) discoverFolder(ctx context.Context, id string) (Status, error) {
	c, invalid := l.local(id)
	r := row{ID: id, Trust: ProjectLocal}
	if invalid == nil {
		r = c.row(Discovered)
	}
	if err := l.discovered(ctx, r, invalid); err != nil {
		return Status{}, err
	}
	source := "folder " + filepath.Join(".air", "shared", "capabilities", id)
	if invalid != nil {
		return Status{ID: id, State: Failed, Reason: text.Line(invalid.Error(), 500), TrustLevel: Untrusted, Source: source}, nil
	}
	known, err := l.triedRow(ctx, r)
	return rowStatus(known, c.Manifest, source), err
}

// discoverInstalled lists the install store. Bundles were validated when they were
// placed and are verified when they are used, so only enabled ones are read here.
func (l *Lifecycle) discoverInstalled(ctx context.Context) ([]Status, error) {
	installed, err := l.config.Store.List()
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, i := range installed {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r := row{ID: i.CapabilityID, Digest: i.Digest, Trust: UserInstalled, Version: i.Version}
		if err := l.discovered(ctx, r, nil); err != nil {
			return nil, err
		}
		known, err := l.triedRow(ctx, r)
		if err != nil {
			return nil, err
		}
		all = append(all, rowStatus(known, i.glance(), i.Source.String()))
	}
	return all, nil
}

// glance reads the manifest of an installed bundle for show: nothing was verified.
func (i Installed) glance() *Manifest {
	f, err := openFolder(i.Dir)
	if err != nil {
		return &Manifest{}
	}
	defer f.close()
	text, err := f.read(manifestJSON, maxManifest)
	if err != nil {
		return &Manifest{}
	}
	m, err := decodeManifest(text)
	if err != nil {
		return &Manifest{}
	}
	return m
}

// triedRow returns the row as it is recorded, after it was tried when it is enabled.
func (l *Lifecycle) triedRow(ctx context.Context, r row) (row, error) {
	const one = `WHERE id = ? AND digest = ? AND trust = ?`
	rows, err := l.rows(ctx, one, r.ID, r.Digest, r.Trust)
	if err != nil || len(rows) == 0 || !rows[0].Enabled {
		return append(rows, r)[0], err
	}
	if _, err := l.load(ctx, rows[0]); err != nil && fault.From(err).Kind == fault.Internal {
		return r, err
	}
	rows, err = l.rows(ctx, one, r.ID, r.Digest, r.Trust)
	return append(rows, r)[0], err
}

// lost lists what is enabled and no longer there, or no longer the same.
func (l *Lifecycle) lost(ctx context.Context) ([]Status, error) {
	rows, err := l.rows(ctx, `WHERE enabled = 1`)
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, r := range rows {
		if l.listed(r) {
			continue
		}
		if _, err := l.load(ctx, r); err != nil {
			r.State, r.Reason, r.Changed = Failed, text.Line(err.Error(), 500), true
			all = append(all, rowStatus(r, &Manifest{}, "gone"))
		}
	}
	return all, nil
}

func (l *Lifecycle) listed(r row) bool {
	if r.Trust == UserInstalled {
		_, err := os.Lstat(l.config.Store.path(r.ID, r.Digest))
		return err == nil
	}
	c, err := l.local(r.ID)
	return err == nil && c.Digest == r.Digest
}

func rowStatus(r row, m *Manifest, source string) Status {
	s := Status{
		ID: r.ID, Version: text.Line(r.Version, 64), Digest: r.Digest, State: r.State, Enabled: r.Enabled, Reason: r.Reason,
		TrustLevel: r.Trust, Source: text.Line(source, 300), Tools: lines(m.ToolNames(), maxToolName),
	}
	if r.Changed {
		s.TrustLevel = Untrusted
	}
	return s
}

// triedStatus is that of a bundle that was just tried.
func (l *Lifecycle) triedStatus(c Found, state State, failure error) Status {
	r := c.row(state)
	r.Enabled = true
	if failure != nil {
		r.State, r.Reason, r.Changed = Failed, text.Line(failure.Error(), 500), fault.Is(failure, fault.Integrity)
	}
	return rowStatus(r, c.Manifest, c.Source.String())
}

// WriteStatuses writes a table for people.
func WriteStatuses(w io.Writer, all []Status) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CAPABILITY\tVERSION\tSTATE\tTRUST\tDIGEST\tSOURCE")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", s.ID, s.Version, s.State, s.TrustLevel, shortDigest(s.Digest), s.Source)
		if s.Reason != "" {
			fmt.Fprintf(t, "  %s\n", s.Reason)
		}
	}
	return t.Flush()
}

func shortDigest(digest string) string {
	if len(digest) < 19 {
		return digest
	}
	return digest[:19]
}
