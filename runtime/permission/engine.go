package permission

import (
	"errors"
	"fmt"
	"time"

	"github.com/aircoding/air/internal/fault"
)

// The modes of an engine. Modes change defaults only.
const (
	ModeReadOnly       = "read-only"
	ModeWorkspaceWrite = "workspace-write" // what "" means
	ModeTrusted        = "trusted"
)

// Options are what an Engine is loaded from. Files that do not exist hold no rules.
type Options struct {
	AdminFile   string
	UserFile    string
	ProjectFile string
	// Accepted tells whether a person accepted ProjectFile with this content. Otherwise,
	// and where it is nil, only its deny and ask rules count.
	Accepted func(content []byte) bool
	// GrantsFile keeps the grants of the project; "" keeps them in memory.
	GrantsFile string
	Mode       string
	// Unconfined tells whether commands run outside a sandbox: those that the defaults, or
	// the enabling of a capability, would allow are asked about then. It is asked only where
	// that matters. Nil is never.
	Unconfined func() bool
	Paths      *Paths
	Clock      func() time.Time
	// Judge names the effects of a command, for what is said of grants; nil where nobody
	// can tell.
	Judge func(command string) []Effect
	// Profile is the ceiling of the project's active profile, nil without one. It
	// only denies.
	Profile func(Request, Effect) (reason string, denied bool)
}

// Engine decides. It is safe for concurrent use.
type Engine struct {
	options Options
	paths   *Paths
	clock   func() time.Time
	rules   []*rule // all tiers, in order
	table   table
	// exceptions are the rules with after.
	exceptions []*rule
	grants     *grantBook
}

// Load reads rules and grants.
func Load(o Options) (*Engine, error) {
	if o.Paths == nil {
		return nil, errors.New("loading permissions without Paths: floors and classes would be unknown")
	}
	e := &Engine{options: o, paths: o.Paths, clock: o.Clock, table: table{}}
	if e.clock == nil {
		e.clock = time.Now
	}
	switch o.Mode {
	case "", ModeReadOnly, ModeWorkspaceWrite, ModeTrusted:
	default:
		return nil, fault.New(fault.InvalidInput, "bad_mode", "unknown mode %.60q: %s, %s or %s is wanted", o.Mode, ModeReadOnly, ModeWorkspaceWrite, ModeTrusted)
	}
	if err := e.loadTiers(); err != nil {
		return nil, err
	}
	var err error
	e.grants, err = openGrants(o.GrantsFile, e.paths, e.clock)
	return e, err
}

func (e *Engine) loadTiers() error {
	for _, source := range []struct {
		file string
		tier Tier
	}{{e.options.AdminFile, TierAdmin}, {e.options.UserFile, TierUser}, {e.options.ProjectFile, TierProject}} {
		rules, text, err := loadRules(source.file, source.tier, e.paths)
		if err != nil {
			return err
		}
		if source.tier == TierProject && !e.accepted(text) {
			disallow(rules)
		}
		e.rules = append(e.rules, rules...)
	}
	expire(e.rules, e.clock)
	e.table.add(e.rules)
	for _, r := range e.rules {
		if r.after != nil && r.inactive == "" {
			e.exceptions = append(e.exceptions, r)
		}
	}
	return nil
}

func (e *Engine) accepted(text []byte) bool {
	return e.options.Accepted != nil && e.options.Accepted(text)
}

// expire marks the rules that have ended.
func expire(rules []*rule, now func() time.Time) {
	for _, r := range rules {
		if expired(r.expires, now) {
			r.inactive = fmt.Sprintf("it expired at %s", r.expires.Format(time.RFC3339))
		}
	}
}

// disallow keeps of a project's rules only those that forbid or ask.
func disallow(rules []*rule) {
	for _, r := range rules {
		if r.verdict == Allow {
			r.inactive = "nobody has accepted the project's file as it is now: air accept"
		}
	}
}

// Decide answers for each effect of a request, in the same order.
func (e *Engine) Decide(r Request) []Decision {
	decisions := make([]Decision, len(r.Effects))
	for i := range r.Effects {
		decisions[i] = e.decide(&r, &r.Effects[i])
	}
	return decisions
}

func (e *Engine) decide(r *Request, f *Effect) Decision {
	if d, denied := e.bound(r, f); denied {
		return d
	}
	if d, denied := e.profile(r, f); denied {
		return d
	}
	if d, denied := e.flow(r, f); denied {
		return d
	}
	return e.permit(r, f)
}

// Bound answers as far as an answer needs no look at the file system: of a path, whether
// a ceiling or a floor denies it, and of another effect, whether anything does.
func (e *Engine) Bound(r Request, f Effect) (Decision, bool) {
	if !f.Kind.IsPath() {
		d := e.decide(&r, &f)
		return d, d.Verdict == Deny
	}
	judged := f
	if f.Kind == Write { // to ceilings and floors all writes are one
		judged.Kind = Overwrite
	}
	d, denied := e.bound(&r, &judged)
	d.Effect = f
	return d, denied
}

// bound asks the ceilings first: what lies beyond one is denied as that alone, as the
// name of a floor would tell a capability what is there.
func (e *Engine) bound(r *Request, f *Effect) (Decision, bool) {
	if d, denied := e.ceiling(r, f); denied {
		return d, true
	}
	return e.floor(r, f)
}

// permit takes the strictest answer of rules, consent, defaults and grants over all
// callers: nobody gains by calling somebody else.
func (e *Engine) permit(r *Request, f *Effect) Decision {
	if len(r.Chain) == 0 {
		return e.permitOne(r, nil, f)
	}
	strictest := e.permitOne(r, &r.Chain[0], f)
	for i := 1; i < len(r.Chain); i++ {
		if d := e.permitOne(r, &r.Chain[i], f); d.Verdict < strictest.Verdict {
			strictest = d
		}
	}
	return strictest
}

// permitOne answers for one caller, nil being the person and their agent.
func (e *Engine) permitOne(r *Request, c *Caller, f *Effect) Decision {
	d, ruled := e.ruled(c, f)
	switch {
	case ruled:
	case e.consents(c, f):
		return consentDecision(c, f)
	default:
		d = e.byDefault(r, c, f)
	}
	if d.Verdict != Ask {
		return d
	}
	if g := e.grants.find(r, c, f, d.NoAlways); g != nil {
		return grantDecision(g, f)
	}
	return d
}
