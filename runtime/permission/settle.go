package permission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// Question is what a person is shown about the asks of a call. All text in it is
// printable, whoever wrote it.
func (e *Engine) Question(r Request, asks []Decision) Question {
	q := Question{Tool: Printable(r.Subject.Tool), Project: Printable(e.paths.Root())}
	for _, c := range r.Chain {
		c.Capability = Printable(c.Capability)
		q.Chain = append(q.Chain, c)
	}
	for _, d := range asks {
		q.Asks = append(q.Asks, printable(d))
	}
	q.besides(&r)
	q.OnceOnly = !storable(&r, asks)
	if q.OnceOnly || e.paths.Root() == "" || slices.ContainsFunc(asks, func(d Decision) bool { return d.NoAlways }) {
		return q
	}
	for _, g := range e.grantsFor(&r, asks) {
		q.Rules = append(q.Rules, Printable(ruleFor(g)))
	}
	return q
}

func printable(d Decision) Decision {
	for _, text := range []*string{&d.Effect.Target, &d.Effect.Why, &d.Effect.Also, &d.Effect.Script, &d.Reason, &d.Rule} {
		*text = Printable(*text)
	}
	return d
}

// besides fills in what the call does that is not asked about.
func (q *Question) besides(r *Request) {
	for i := range r.Effects {
		f := &r.Effects[i]
		if f.Folder {
			q.Folder = Printable(f.Target)
		}
		if f.Kind != ToolCall {
			q.Others++
		}
	}
	for i := range q.Asks {
		if q.Asks[i].Effect.Kind != ToolCall {
			q.Others--
		}
	}
}

func ruleFor(g Grant) string {
	text := g.Rule
	if g.For != "" {
		text += " for " + g.For
	}
	if g.ScriptSHA256 != "" {
		text += " while the script has the sha256 " + digestHead(g.ScriptSHA256)
	}
	return text
}

// storable reports whether an answer can be bound to what it was given for: a module
// without a digest could be another one next time, and so could a script.
func storable(r *Request, asks []Decision) bool {
	if slices.ContainsFunc(asks, func(d Decision) bool { return d.Effect.Script != "" && d.Effect.ScriptSHA256 == "" }) {
		return false
	}
	return r.SessionID != "" && !slices.ContainsFunc(r.Chain, func(c Caller) bool { return c.Digest == "" })
}

// Settle turns a person's answer into decisions and, where the answer lasts, stored
// grants. A refusal is a *DeniedError with the person's note.
func (e *Engine) Settle(ctx context.Context, r Request, decisions []Decision, a Answer) ([]Decision, []Grant, error) {
	asks, err := openQuestions(decisions)
	if err != nil {
		return decisions, nil, err
	}
	offered := e.Question(r, asks)
	switch {
	case a.Choice == Once:
	case a.Choice == Session && !offered.OnceOnly:
	case a.Choice == Project && len(offered.Rules) > 0:
	case a.Choice == Session, a.Choice == Project:
		return decisions, nil, fault.New(fault.InvalidInput, "choice_not_offered", "the answer %q was not offered for %s", a.Choice, r.Subject.Tool)
	default:
		decisions, err = refused(decisions, a.Note)
		return decisions, nil, err
	}
	var grants []Grant
	if a.Choice != Once {
		if grants, err = e.addGrants(ctx, e.lasting(&r, asks, a.Choice)); err != nil {
			return decisions, nil, err
		}
	}
	return answered(decisions, a.Choice), grants, nil
}

// openQuestions returns the asks. A denied effect has no question left.
func openQuestions(decisions []Decision) (asks []Decision, err error) {
	for _, d := range decisions {
		switch d.Verdict {
		case Deny:
			return nil, &DeniedError{Decision: d}
		case Ask:
			asks = append(asks, d)
		}
	}
	return asks, nil
}

func answered(decisions []Decision, c Choice) []Decision {
	decisions = slices.Clone(decisions)
	for i := range decisions {
		d := &decisions[i]
		if d.Verdict == Ask {
			*d = Decision{Effect: d.Effect, Verdict: Allow, Layer: LayerApproval, Rule: fmt.Sprintf("a person's answer: %s", c), Reason: "a person allowed it (" + d.Rule + ")"}
		}
	}
	return decisions
}

func refused(decisions []Decision, note string) ([]Decision, error) {
	decisions = slices.Clone(decisions)
	var first *DeniedError
	for i := range decisions {
		d := &decisions[i]
		if d.Verdict != Ask {
			continue
		}
		d.Verdict, d.Layer, d.Code, d.Reason = Deny, LayerApproval, CodeDeniedByPerson, "a person refused it"
		d.Hint = "do not work around this, and do not ask again for the same"
		if first == nil {
			first = &DeniedError{Decision: *d, Note: shorten(Printable(note), 500)}
		}
	}
	if first == nil {
		return decisions, nil
	}
	return decisions, first
}

// lasting are the grants that an answer for longer makes.
func (e *Engine) lasting(r *Request, asks []Decision, c Choice) []Grant {
	grants := e.grantsFor(r, asks)
	for i := range grants {
		grants[i].Expires = e.clock().UTC().Add(projectGrantLife)
		if c == Session {
			grants[i].Session, grants[i].Expires = r.SessionID, e.clock().UTC().Add(sessionGrantLife)
		}
	}
	return grants
}

// grantsFor are the smallest grants that answer the asks: exactly the targets, for
// exactly those callers of whom each was asked about.
func (e *Engine) grantsFor(r *Request, asks []Decision) []Grant {
	var grants []Grant
	for i := range asks {
		f := &asks[i].Effect
		rule := fmt.Sprintf("%s: %s(%s)", Allow, f.Kind, e.paths.effectPattern(f))
		if len(r.Chain) == 0 {
			grants = append(grants, Grant{Rule: rule, ScriptSHA256: f.ScriptSHA256})
		}
		for j := range r.Chain {
			if c := &r.Chain[j]; e.permitOne(r, c, f).Verdict == Ask {
				grants = append(grants, Grant{Rule: rule, For: c.Capability + "@" + c.Digest, ScriptSHA256: f.ScriptSHA256})
			}
		}
	}
	return slices.Compact(grants)
}

// effectPattern is the smallest pattern that an effect's target matches.
func (p *Paths) effectPattern(f *Effect) string {
	if f.Kind.IsPath() {
		return pathPattern(f, p.Show(f.Target))
	}
	if f.Kind == Run || f.Kind == Net { // their targets are patterns of themselves alone
		return f.Target
	}
	return escape(f.Target)
}

// pathPattern matches exactly a path or, of a folder that is read with all in it, that.
func pathPattern(f *Effect, path string) string {
	switch {
	case !f.Recursive:
		return escape(path)
	case path == ".":
		return "**"
	}
	return strings.TrimSuffix(escape(path), "/") + "/**"
}

// rulePattern is the pattern of exactly one canonical path.
func (p *Paths) rulePattern(canonical string) string { return escape(p.Show(canonical)) }
