package permission

import (
	"fmt"
	"slices"
)

// RuleText is a rule that answers a question before it is asked, as text for the files
// that may hold it.
type RuleText struct {
	// Project is EFFECT(PATTERN) for the project's file, with a relative path; "" where
	// only a person's own file may hold the rule, and OwnOnly then says why.
	Project string `json:"project,omitempty"`
	OwnOnly string `json:"own_only,omitempty"`
	// User is EFFECT(PATTERN) for a person's own file, which counts in all their
	// projects.
	User string `json:"user"`
	For  string `json:"for,omitempty"` // capability@digest
	// Note is what the rule does not do and a grant would.
	Note string `json:"note,omitempty"`
}

// UserLine is the rule as a line of a person's own file.
func (t RuleText) UserLine() string { return "allow: " + yamlText(t.User) }

// RulesFor returns the smallest allow rules that answer the asks of a call: exactly the
// targets, for exactly those callers of whom each was asked. open are the asks that no
// allow rule answers: an ask rule makes them, the caller has no digest that a rule could
// be bound to, or the target has characters that no rule may have.
func (e *Engine) RulesFor(r Request, asks []Decision) (rules []RuleText, open []Decision) {
	for _, d := range asks {
		more, answered := e.rulesForOne(&r, &d.Effect)
		if !answered {
			open = append(open, d)
			continue
		}
		for _, text := range more {
			if !slices.Contains(rules, text) {
				rules = append(rules, text)
			}
		}
	}
	return rules, open
}

func (e *Engine) rulesForOne(r *Request, f *Effect) (rules []RuleText, answered bool) {
	for _, c := range e.askers(r, f) {
		d := e.permitOne(r, c, f)
		if d.Verdict != Ask {
			continue
		}
		text, ok := e.ruleText(c, f)
		if !ok || d.Layer == LayerRule {
			return nil, false
		}
		rules = append(rules, text)
	}
	return rules, true
}

func (e *Engine) ruleText(c *Caller, f *Effect) (t RuleText, ok bool) {
	if c != nil {
		if c.Digest == "" {
			return t, false
		}
		t.For = c.Capability + "@" + c.Digest
	}
	own, shared := e.paths.effectPattern(f), e.paths.effectPattern(f)
	if f.Kind.IsPath() {
		own = pathPattern(f, f.Target)
	}
	t.User = fmt.Sprintf("%s(%s)", f.Kind, own)
	if !e.answers(TierUser, t.User, t.For, c, f) {
		return t, false
	}
	if f.Kind.IsPath() && !within(f.Target, e.paths.root) {
		t.OwnOnly = "the path lies outside the project"
	} else if t.Project = fmt.Sprintf("%s(%s)", f.Kind, shared); !e.answers(TierProject, t.Project, t.For, c, f) {
		t.Project, t.OwnOnly = "", "a project's file does not open "+opened(f)
	}
	if f.Script != "" {
		t.Note = "the rule holds whatever " + shorten(Printable(f.Script), 80) + " holds; a grant ends when the file changes"
	}
	return t, true
}

// opened is what a rule of a person's own would open.
func opened(f *Effect) string {
	switch {
	case f.Kind == Run:
		return string(f.Risk) + " commands"
	case f.Class == ClassPrivate:
		return "private addresses"
	}
	return "paths of the class " + string(f.Class)
}

// answers reports whether an allow rule with this effect, in a file of the tier, would
// allow it to the caller.
func (e *Engine) answers(tier Tier, effect, forText string, c *Caller, f *Effect) bool {
	r := rule{verdict: Allow, tier: tier}
	var err error
	if r.kind, r.pattern, err = parseEffect(effect); err != nil {
		return false
	}
	if r.setFor(forText) != nil || r.compile(e.paths) != nil || r.inactive != "" {
		return false
	}
	return r.decides(c, f, targetOf(f.Kind, f.Target), e.clock)
}
