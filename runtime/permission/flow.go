package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// flow keeps what was read as a credential from leaving by the network: it denies every
// effect that uses it once the callers have used a credential. Rules with after are the
// exceptions.
func (e *Engine) flow(r *Request, f *Effect) (Decision, bool) {
	switch {
	case len(r.Credentials) == 0, !f.UsesNetwork(), e.mayFollow(r, f):
		return Decision{}, false
	}
	return Decision{
		Effect: *f, Layer: LayerFlow, Rule: "flow: after the use of " + shorten(strings.Join(r.Credentials, ", "), 200), Code: CodeCredentialsFlow,
		Reason: meaning(CodeCredentialsFlow),
		Hint:   "do not work around this; a person can allow the pair by a rule of their own with after: see docs/permissions.md",
	}, true
}

// mayFollow reports whether an exception covers each caller: nobody gains by calling
// somebody else.
func (e *Engine) mayFollow(r *Request, f *Effect) bool {
	if len(r.Chain) == 0 {
		return e.excepted(nil, r, f)
	}
	for i := range r.Chain {
		if !e.excepted(&r.Chain[i], r, f) {
			return false
		}
	}
	return true
}

func (e *Engine) excepted(c *Caller, r *Request, f *Effect) bool {
	t := targetOf(f.Kind, f.Target)
	return slices.ContainsFunc(e.exceptions, func(x *rule) bool {
		return x.isAbout(f.Kind) && x.decides(c, f, t, e.clock) && x.comesAfter(r.Credentials)
	})
}

// credential is a pattern of credentials: of paths, or of names of secrets.
type credential struct {
	kind     Kind // Read or Secret
	matchers []matcher
}

// comesAfter reports whether the rule names every credential that was used.
func (r *rule) comesAfter(used []string) bool {
	for _, text := range used {
		kind := Read
		if name, ok := strings.CutPrefix(text, "secret("); ok {
			kind, text = Secret, strings.TrimSuffix(name, ")")
		}
		t := target{text: normal(text)}
		if !slices.ContainsFunc(r.after, func(c credential) bool { return c.kind == kind && anyMatches(c.matchers, t) }) {
			return false
		}
	}
	return true
}

// setAfter reads the credentials that an exception is for.
func (r *rule) setAfter(texts oneOrMore, p *Paths) error {
	switch {
	case texts == nil:
		return nil
	case r.verdict != Allow || r.kind != Net && r.kind != Run:
		return errors.New("after: belongs to an allow of net or run effects, which may then follow the use of these credentials")
	case len(texts) == 0:
		return errors.New("after: names no credentials")
	case r.tier == TierProject:
		r.inactive = "only a rule of a person's own file lets the network follow the use of credentials"
	}
	for _, text := range texts {
		if err := r.addAfter(text, p); err != nil {
			return fmt.Errorf("after: %w", err)
		}
	}
	r.afterText = texts
	return nil
}

func (r *rule) addAfter(text string, p *Paths) error {
	kind, pattern, err := parseEffect(text)
	if err != nil {
		return err
	}
	c := credential{kind: kind}
	switch kind {
	case Read:
		c.matchers, err = p.pathMatchers(pattern, Allow)
	case Secret:
		c.matchers = make([]matcher, 1)
		c.matchers[0], err = kindMatcher(kind, pattern)
	default:
		return fmt.Errorf("%.120q: credentials are used by read(PATH) or secret(NAME)", text)
	}
	if err == nil && !c.names(p) && r.inactive == "" {
		r.inactive = fmt.Sprintf("its after: %s names no credentials", shorten(text, 80))
	}
	r.after = append(r.after, c)
	return err
}

// names reports whether the pattern names credentials, and does not only cover them.
func (c *credential) names(p *Paths) bool {
	return slices.ContainsFunc(c.matchers, func(m matcher) bool {
		if c.kind == Secret {
			return sample(m.text, "") != ""
		}
		for class := range p.named(m.text, Read) {
			if class == ClassCredentials || class == ClassProtected {
				return true
			}
		}
		return false
	})
}

// oneOrMore is a list of which a single entry may stand alone.
type oneOrMore []string

// UnmarshalJSON reads a string or a list of strings.
func (l *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*l = oneOrMore{one}
		return nil
	}
	if err := json.Unmarshal(text, (*[]string)(l)); err != nil {
		return errors.New("a string or a list of strings is wanted")
	}
	return nil
}
