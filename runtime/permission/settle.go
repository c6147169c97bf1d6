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
	q.AnyHost = onlyHosts(&r, asks)
	_, lasts := e.GrantsFor(r, asks, r.SessionID)
	q.OnceOnly = !lasts || !storable(&r)
	if q.OnceOnly || e.paths.Root() == "" {
		return q
	}
	if grants, lasts := e.GrantsFor(r, asks, ""); lasts {
		for _, g := range grants {
			q.Rules = append(q.Rules, Printable(ruleFor(g)))
		}
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

// storable reports whether an answer can be bound to whom it was given: a module without
// a digest could be another one next time.
func storable(r *Request) bool {
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
	case a.Choice == Once, a.Choice == AnyHost && offered.AnyHost:
	case a.Choice == Session && !offered.OnceOnly:
	case a.Choice == Project && len(offered.Rules) > 0:
	case a.Choice == Session, a.Choice == Project, a.Choice == AnyHost:
		return decisions, nil, fault.New(fault.InvalidInput, "choice_not_offered", "the answer %q was not offered for %s", a.Choice, r.Subject.Tool)
	default:
		decisions, err = refused(decisions, a.Note)
		return decisions, nil, err
	}
	var grants []Grant
	if a.Choice == Session || a.Choice == Project {
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
		if decisions[i].Verdict == Ask {
			decisions[i] = decisions[i].Answered(c)
		}
	}
	return decisions
}

// Answered is an ask after a person allowed it.
func (d Decision) Answered(c Choice) Decision {
	return Decision{Effect: d.Effect, Verdict: Allow, Layer: LayerApproval, Rule: fmt.Sprintf("a person's answer: %s", c), Reason: "a person allowed it (" + d.Rule + ")"}
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
	session, life := "", projectGrantLife
	if c == Session {
		session, life = r.SessionID, sessionGrantLife
	}
	grants, _ := e.GrantsFor(*r, asks, session)
	for i := range grants {
		grants[i].Expires = e.clock().UTC().Add(life)
	}
	return grants
}

// GrantsFor returns the smallest grants that answer the asks of a call, for one session
// or with "" for always: exactly the targets, for exactly those callers of whom each was
// asked. They are not answered where one of them has no always, its target has characters
// that no grant may have, or there is no digest that a grant could be bound to.
func (e *Engine) GrantsFor(r Request, asks []Decision, session string) (grants []Grant, answered bool) {
	answered = true
	for i := range asks {
		f := &asks[i].Effect
		for _, c := range e.askers(&r, f) {
			g := Grant{Rule: fmt.Sprintf("%s: %s(%s)", Allow, f.Kind, e.paths.effectPattern(f)), Session: session, ScriptSHA256: f.ScriptSHA256}
			if c != nil {
				g.For = c.Capability + "@" + c.Digest
			}
			compiled, err := e.grants.compile(g)
			answered = answered && err == nil && compiled.answers(&r, c, f, targetOf(f.Kind, f.Target), asks[i].NoAlways, e.clock)
			grants = append(grants, g)
		}
	}
	return slices.Compact(grants), answered
}

// askers are the callers of whom it is asked, nil being the person and their agent.
func (e *Engine) askers(r *Request, f *Effect) []*Caller {
	if len(r.Chain) == 0 {
		return []*Caller{nil}
	}
	var of []*Caller
	for i := range r.Chain {
		if c := &r.Chain[i]; e.permitOne(r, c, f).Verdict == Ask {
			of = append(of, c)
		}
	}
	return of
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
