package permission

import (
	"fmt"
	"time"
)

// Explanation is every layer's answer for one effect, and the one that counts.
type Explanation struct {
	Effect Effect   `json:"effect"`
	Steps  []Step   `json:"steps"`
	Final  Decision `json:"final"`
}

// Step is what one layer says, whether or not it counts in the end.
type Step struct {
	Layer  Layer  `json:"layer"`
	Caller string `json:"caller,omitempty"` // whose answer it is; "" for the person's or everybody's
	Answer string `json:"answer"`           // deny, ask, allow, or "nothing to say"
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Explain answers like Decide, and shows how each layer took part.
func (e *Engine) Explain(r Request) []Explanation {
	explanations := make([]Explanation, len(r.Effects))
	for i := range r.Effects {
		f := &r.Effects[i]
		x := Explanation{Effect: *f, Final: e.decide(&r, f)}
		x.layer(LayerFloor)(e.floor(&r, f))
		x.layer(LayerProfile)(e.profile(&r, f))
		x.layer(LayerCeiling)(e.ceiling(&r, f))
		x.layer(LayerFlow)(e.flow(&r, f))
		if len(r.Chain) == 0 {
			e.explainOne(&x, &r, nil, f)
		}
		for j := range r.Chain {
			e.explainOne(&x, &r, &r.Chain[j], f)
		}
		explanations[i] = x
	}
	return explanations
}

func (e *Engine) explainOne(x *Explanation, r *Request, c *Caller, f *Effect) {
	from := len(x.Steps)
	x.layer(LayerRule)(e.ruled(c, f))
	if e.consents(c, f) {
		x.layer(LayerConsent)(consentDecision(c, f), true)
	}
	x.layer(LayerDefault)(e.byDefault(r, c, f), true)
	d := e.permitOne(r, c, f)
	x.layer(LayerGrant)(d, d.Layer == LayerGrant)
	for i := range x.Steps[from:] {
		if c != nil {
			x.Steps[from+i].Caller = c.Capability
		}
	}
}

// layer returns a function that notes the layer's answer.
func (x *Explanation) layer(l Layer) func(Decision, bool) {
	return func(d Decision, speaks bool) {
		step := Step{Layer: l, Answer: "nothing to say"}
		if speaks {
			step.Answer, step.Rule, step.Reason = d.Verdict.String(), d.Rule, d.Reason
		}
		x.Steps = append(x.Steps, step)
	}
}

// RuleInfo describes a loaded rule to people.
type RuleInfo struct {
	Tier     string    `json:"tier"`
	File     string    `json:"file"`
	Line     int       `json:"line"`
	Rule     string    `json:"rule"`
	For      string    `json:"for,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	After    []string  `json:"after,omitempty"` // the credentials of an exception of the flow layer
	Expires  time.Time `json:"expires,omitzero"`
	Inactive string    `json:"inactive,omitempty"` // why the rule does not count
	Warning  string    `json:"warning,omitempty"`  // that it can never match, or is shadowed
}

// Rules lists the rules of all tiers, in their order.
func (e *Engine) Rules() []RuleInfo { return describe(e.rules) }

func describe(rules []*rule) []RuleInfo {
	infos := make([]RuleInfo, 0, len(rules))
	warnings := shadowed(rules)
	for _, r := range rules {
		info := RuleInfo{
			Tier: string(r.tier), File: r.file, Line: r.line, Rule: r.text(), For: r.forText(),
			Reason: r.reason, After: r.afterText, Expires: r.expires, Inactive: r.inactive, Warning: r.warning,
		}
		if info.Warning == "" {
			info.Warning = warnings[r]
		}
		if info.Warning == "" && info.Inactive == "" {
			info.Warning = r.doubt()
		}
		infos = append(infos, info)
	}
	return infos
}

// GrantInfo describes a grant to people.
type GrantInfo struct {
	Grant
	Warning string `json:"warning,omitempty"` // that it opens nothing
}

// GrantInfos are Grants, with what is to be said of each.
func (e *Engine) GrantInfos() []GrantInfo {
	set := e.grants.now.Load()
	infos := []GrantInfo{}
	for i, g := range set.grants {
		if !expired(g.Expires, e.clock) {
			infos = append(infos, GrantInfo{g, e.opensNothing(set.rules[i])})
		}
	}
	return infos
}

// opensNothing says why a stored grant opens nothing, "" where it does or where that
// cannot be told: it is tried on one thing that its pattern names.
func (e *Engine) opensNothing(g *grantRule) (why string) {
	if g.inactive != "" {
		return g.inactive
	}
	r := Request{Subject: Subject{Tool: "air", BuiltIn: true}, SessionID: g.session}
	var c *Caller
	if g.capability != "" {
		r.Chain = []Caller{{Capability: g.capability, Digest: g.digest}}
		c = &r.Chain[0]
	}
	for _, kind := range g.kinds() {
		f, known := e.named(g, kind)
		if !known {
			return ""
		}
		d, denied := e.floor(&r, &f)
		if !denied {
			d, denied = e.profile(&r, &f)
		}
		if !denied {
			d = e.permitOne(&r, c, &f)
		}
		switch {
		case d.Verdict == Deny:
			why = fmt.Sprintf("the grant opens nothing: %s is denied: %s (%s)", d.Effect, d.Reason, d.Rule)
		case d.Verdict == Ask && d.NoAlways:
			why = fmt.Sprintf("the grant opens nothing: %s is asked about in each session: %s; --this-session allows it for this one", d.Effect, d.Reason)
		default:
			return ""
		}
	}
	return why
}

// named is an effect that a grant is about, in which wildcards are a name of their own.
// It is not known where the pattern says less than that.
func (e *Engine) named(g *grantRule, kind Kind) (f Effect, known bool) {
	m := &g.matchers[len(g.matchers)-1]
	f = Effect{Kind: kind, Target: sample(m.text, "any-name"), ScriptSHA256: g.script}
	switch {
	case kind == Run: // with a risk that may be allowed for always, as it is not known
		f.Target, f.Risk = g.pattern, RiskDestructive
		if !checkArgv(f.Target) {
			return f, false
		}
	case kind == Net:
		f, err := NetTarget(g.pattern)
		return f, err == nil
	case kind.IsPath():
		f.Class = e.paths.classify(f.place(f.Target), kind, 0)
	}
	return f, m.matches(targetOf(kind, f.Target))
}
