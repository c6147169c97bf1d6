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
	if consents(c, f) {
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
	Expires  time.Time `json:"expires,omitzero"`
	Inactive string    `json:"inactive,omitempty"` // why the rule does not count
	Warning  string    `json:"warning,omitempty"`  // that it can never match, or is shadowed
}

// Rules lists the rules of all tiers, in their order.
func (e *Engine) Rules() []RuleInfo {
	infos := make([]RuleInfo, 0, len(e.rules))
	for _, r := range e.rules {
		infos = append(infos, RuleInfo{
			Tier: string(r.tier), File: r.file, Line: r.line, Rule: r.text(), For: r.forText(),
			Reason: r.reason, Expires: r.expires, Inactive: r.inactive, Warning: r.warning,
		})
	}
	return infos
}

// warnShadowed notes rules that an equal pattern with an equal or stronger verdict
// makes pointless.
func warnShadowed(rules []*rule) {
	strongest := map[string]*rule{}
	for _, r := range rules {
		key := fmt.Sprintf("%s(%s) for %s", r.kind, r.pattern, r.forText())
		first := strongest[key]
		switch {
		case r.inactive != "":
		case first == nil:
			strongest[key] = r
		case r.verdict < first.verdict:
			first.warning = fmt.Sprintf("shadowed by %s:%d, which is stronger", r.file, r.line)
			strongest[key] = r
		case r.warning == "":
			r.warning = fmt.Sprintf("shadowed by %s:%d", first.file, first.line)
		}
	}
}
