package permission

import (
	"fmt"
	"slices"
)

// GrantInfo describes a grant to people.
type GrantInfo struct {
	Grant
	Warning string `json:"warning,omitempty"` // that it opens nothing, or not all that it matches
}

// GrantInfos are Grants, with what is to be said of each.
func (e *Engine) GrantInfos() []GrantInfo {
	set := e.grants.now.Load()
	infos := []GrantInfo{}
	for i, g := range set.grants {
		if !expired(g.Expires, e.clock) {
			infos = append(infos, GrantInfo{g, e.closed(set.rules[i])})
		}
	}
	return infos
}

// closed says why a stored grant opens nothing, or not all that it matches, "" where it
// does or where that cannot be told: it is tried on what its pattern names.
func (e *Engine) closed(g *grantRule) string {
	if g.inactive != "" {
		return g.inactive
	}
	r := Request{Subject: Subject{Tool: "air", BuiltIn: true}, SessionID: g.session}
	var c *Caller
	if g.capability != "" {
		r.Chain = []Caller{{Capability: g.capability, Digest: g.digest}}
		c = &r.Chain[0]
	}
	opens, why := false, ""
	for _, f := range e.samples(g) {
		if message := e.staysClosed(&r, c, &f); message != "" {
			why = message
		} else {
			opens = true
		}
	}
	switch {
	case why == "" || opens && g.kind != Run:
		return ""
	case opens:
		return "the grant does not open all that it matches: " + why
	}
	return "the grant opens nothing: " + why
}

// staysClosed says why an effect that a grant is about is not allowed all the same.
func (e *Engine) staysClosed(r *Request, c *Caller, f *Effect) string {
	d, denied := e.floor(r, f)
	if !denied {
		d, denied = e.profile(r, f)
	}
	if !denied {
		d = e.permitOne(r, c, f)
	}
	switch {
	case d.Verdict == Deny:
		return fmt.Sprintf("%s is denied: %s (%s)", d.Effect, d.Reason, d.Rule)
	case d.Verdict == Ask && d.NoAlways:
		return fmt.Sprintf("%s is asked about in each session: %s; --this-session allows it for this one, a rule of your own permissions.yaml for always", d.Effect, d.Reason)
	}
	return ""
}

// anyName stands for what a wildcard matches.
const anyName = "any-name"

// samples are effects that a grant is about. There are none where the pattern says too
// little to tell.
func (e *Engine) samples(g *grantRule) (samples []Effect) {
	m := &g.matchers[len(g.matchers)-1]
	if g.kind == Run {
		samples = e.commands(m.argv)
	} else {
		for _, kind := range g.kinds() {
			f := Effect{Kind: kind, Target: sample(m.text, anyName)}
			if kind.IsPath() {
				f.Class = e.paths.classify(f.place(f.Target), kind, 0)
			}
			if kind == Net {
				f, _ = NetTarget(g.pattern) // one that cannot be read matches nothing
			}
			samples = append(samples, f)
		}
	}
	for i := range samples {
		samples[i].ScriptSHA256 = g.script
	}
	return slices.DeleteFunc(samples, func(f Effect) bool { return !m.matches(targetOf(f.Kind, f.Target)) })
}

// commands are two that a pattern matches: with nothing and with a word for its **.
func (e *Engine) commands(p *argvPattern) (samples []Effect) {
	if !p.names() {
		return nil
	}
	for _, rest := range [][]string{nil, {anyName}} {
		var words []string
		for i := range p.words {
			switch w := &p.words[i]; {
			case w.literal():
				words = append(words, w.text)
			case w.any:
				words = append(words, rest...)
			default:
				words = append(words, anyName)
			}
		}
		samples = append(samples, e.judged(JoinArgv(words)))
	}
	return samples
}

// judged is a command with what is at risk; where nobody can tell, with a risk that may be
// allowed for always.
func (e *Engine) judged(command string) Effect {
	f := Effect{Kind: Run, Target: command, Risk: RiskDestructive}
	if e.options.Judge == nil {
		return f
	}
	for _, known := range e.options.Judge(command) {
		if known.Kind == Run && known.Target == command {
			f.Risk, f.Why, f.Also, f.Hosts = known.Risk, known.Why, known.Also, known.Hosts
			break
		}
	}
	return f
}
