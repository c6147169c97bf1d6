package permission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/yamldoc"
)

// grantBook is the file of one project's grants.
type grantBook struct {
	file  string // "": nothing is stored
	paths *Paths
	clock func() time.Time
	now   atomic.Pointer[grantSet]
}

type grantSet struct {
	grants []Grant
	rules  []*grantRule
}

type grantRule struct {
	rule
	session string
	script  string
}

type grantFile struct {
	SchemaVersion int     `json:"schema_version"`
	Project       string  `json:"project"` // root: the file's name is only its hash
	Grants        []Grant `json:"grants"`
}

func openGrants(file string, p *Paths, clock func() time.Time) (*grantBook, error) {
	b := &grantBook{file: file, paths: p, clock: clock}
	grants, err := b.load()
	if err != nil {
		return nil, err
	}
	return b, b.use(grants)
}

func (b *grantBook) load() ([]Grant, error) {
	if b.file == "" {
		if set := b.now.Load(); set != nil {
			return set.grants, nil
		}
		return nil, nil
	}
	text, err := regular.Read(b.file, maxFile, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Integrity, "bad_grants", "reading grants: %w", err)
	}
	var doc grantFile
	if err := yamldoc.DecodeJSON(text, &doc); err != nil {
		return nil, fault.New(fault.Integrity, "bad_grants", "%s: %w", b.file, err)
	}
	if doc.SchemaVersion != 1 || doc.Project != b.paths.Root() {
		return nil, fault.New(fault.Integrity, "bad_grants", "%s: schema_version %d for project %.200q: 1 and %.200q are wanted", b.file, doc.SchemaVersion, doc.Project, b.paths.Root())
	}
	return doc.Grants, nil
}

// use makes grants the ones that count.
func (b *grantBook) use(grants []Grant) error {
	set := &grantSet{grants: grants}
	for _, g := range grants {
		r, err := b.compile(g)
		if err != nil {
			return fault.New(fault.Integrity, "bad_grants", "%s: grant %.60s: %w", b.file, g.ID, err)
		}
		set.rules = append(set.rules, r)
	}
	b.now.Store(set)
	return nil
}

func (b *grantBook) compile(g Grant) (*grantRule, error) {
	r := &grantRule{session: g.Session, script: g.ScriptSHA256}
	verdict, kind, pattern, err := parseRule(g.Rule)
	if err != nil {
		return nil, err
	}
	if verdict != Allow {
		return nil, fmt.Errorf("%.120q: a grant allows; deny and ask are rules for permissions.yaml", g.Rule)
	}
	if err := r.setFor(g.For); err != nil {
		return nil, err
	}
	if r.capability != "" && r.digest == "" {
		return nil, fmt.Errorf("for %.80q: a grant is for one digest of a capability: ID@sha256:… is wanted", g.For)
	}
	if g.ScriptSHA256 != "" && (kind != Run || !sha256Hex.MatchString(g.ScriptSHA256)) {
		return nil, fmt.Errorf("script_sha256 %.80q: 64 hex digits are wanted, for run effects only", g.ScriptSHA256)
	}
	r.verdict, r.kind, r.pattern, r.tier, r.expires = verdict, kind, pattern, TierGrant, g.Expires
	r.source = fmt.Sprintf("grant %s: %s", g.ID, g.Rule)
	return r, r.rule.compile(b.paths)
}

// find returns the grant that turns a question into an allow.
func (b *grantBook) find(r *Request, c *Caller, f *Effect, noAlways bool) *grantRule {
	t := targetOf(f.Kind, f.Target)
	for _, g := range b.now.Load().rules {
		if g.answers(r, c, f, t, noAlways, b.clock) {
			return g
		}
	}
	return nil
}

// answers reports whether the grant turns a question into an allow. What must not be
// answered for always is not opened by a grant for always, and a command that executes a
// script of the project only by one for what the script holds now.
func (g *grantRule) answers(r *Request, c *Caller, f *Effect, t target, noAlways bool, now func() time.Time) bool {
	switch {
	case g.session != "" && g.session != r.SessionID, g.session == "" && noAlways:
		return false
	case f.ScriptSHA256 != g.script || f.Script != "" && f.ScriptSHA256 == "":
		return false
	}
	return g.isAbout(f.Kind) && g.decides(c, f, t, now)
}

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

func grantDecision(g *grantRule, f *Effect) Decision {
	return Decision{Effect: *f, Verdict: Allow, Layer: LayerGrant, Rule: g.source, Reason: "a person granted it"}
}

// change replaces the stored grants by what edit makes of them, under a lock that
// other processes honour.
func (b *grantBook) change(ctx context.Context, edit func([]Grant) ([]Grant, error)) error {
	if b.file != "" {
		unlock, err := home.Lock(ctx, b.file+".lock")
		if err != nil {
			return err
		}
		defer unlock()
	}
	grants, err := b.load()
	if err != nil {
		return err
	}
	grants, err = edit(slices.Clone(grants))
	if err != nil {
		return err
	}
	grants = b.current(grants)
	if err := b.store(grants); err != nil {
		return err
	}
	return b.use(grants)
}

// current leaves out the grants that have expired.
func (b *grantBook) current(grants []Grant) []Grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return expired(g.Expires, b.clock) })
}

// store writes the grants, unless they would be more than load reads.
func (b *grantBook) store(grants []Grant) error {
	text, err := json.MarshalIndent(grantFile{SchemaVersion: 1, Project: b.paths.Root(), Grants: grants}, "", "  ")
	if err != nil {
		return err
	}
	if len(text) >= maxFile {
		return fault.New(fault.ResourceExhausted, "too_many_grants", "%d grants for this project would have more than %d bytes", len(grants), maxFile).
			WithHint("air permission ls shows them, air permission revoke ID takes one back; a rule in permissions.yaml can stand for many")
	}
	if b.file == "" {
		return nil
	}
	return atomicfile.Write(b.file, append(text, '\n'), 0o600)
}
