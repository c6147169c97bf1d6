package permission

import "time"

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
