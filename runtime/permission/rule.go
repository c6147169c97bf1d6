package permission

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/internal/yamldoc"
)

// Tier is who wrote a rule.
type Tier string

const (
	TierAdmin   Tier = "admin"
	TierUser    Tier = "user"
	TierProject Tier = "project"
	TierGrant   Tier = "grant"
)

// rule is one line of a rule file, or a grant, ready to match.
type rule struct {
	verdict  Verdict
	kind     Kind
	pattern  string
	matchers []matcher
	tier     Tier
	// opens are the classes besides project and outside that the rule may decide.
	opens      map[Class]bool
	capability string // for whom: "" the person and their agent
	digest     string
	expires    time.Time
	reason     string
	// after makes a rule an exception of the flow layer, and nothing else.
	after     []credential
	afterText []string

	file     string
	line     int
	source   string // file:line: text
	inactive string // why it does not count
	warning  string
}

func (r *rule) text() string { return fmt.Sprintf("%s: %s(%s)", r.verdict, r.kind, r.pattern) }

func (r *rule) forText() string {
	if r.digest == "" {
		return r.capability
	}
	return r.capability + "@" + r.digest
}

// kinds are the kinds of effects that the rule is about.
func (r *rule) kinds() []Kind {
	if r.kind == Write {
		return []Kind{Create, Overwrite, Delete}
	}
	return []Kind{r.kind}
}

func (r *rule) isAbout(kind Kind) bool {
	return r.kind == kind || r.kind == Write && (kind == Create || kind == Overwrite || kind == Delete)
}

// decides reports whether the rule has something to say about an effect of the caller,
// nil being the person and their agent.
func (r *rule) decides(c *Caller, f *Effect, t target, now func() time.Time) bool {
	return anyMatches(r.matchers, t) && r.concerns(c, f, now)
}

// concerns is decides, but for the target.
func (r *rule) concerns(c *Caller, f *Effect, now func() time.Time) bool {
	return r.isFor(c) && r.reaches(f) && !expired(r.expires, now)
}

// isFor: a deny or ask that names nobody is for everybody, an allow that names nobody
// is for the person and their agent only.
func (r *rule) isFor(c *Caller) bool {
	switch {
	case r.capability == "":
		return c == nil || r.verdict != Allow
	case c == nil:
		return false
	}
	return r.capability == c.Capability && (r.digest == "" || r.digest == c.Digest)
}

// reaches reports whether the rule counts for an effect of this class or risk: what a
// rule opens beyond project and outside it must name, and a command that reaches beyond
// the project too. An ask must where it would be weaker than the default.
func (r *rule) reaches(f *Effect) bool {
	switch {
	case r.verdict == Deny:
		return true
	case r.verdict == Ask && f.Class != ClassProtected:
		return true
	case f.Kind == Run:
		return plainRisk(f.Risk) || r.tier != TierProject && r.matchers[0].argv.names()
	case f.Class == ClassPrivate:
		return r.tier != TierProject && r.matchers[0].net.names()
	case f.Kind == Env: // one that changes what runs
		return r.tier != TierProject || isLiteral(r.matchers[0].text)
	}
	return plain(f.Class) || r.opens[f.Class] || f.Led && r.tier.mayOpen(f.Class) && isLiteral(r.matchers[0].text)
}

// plainRisk are the risks of commands that every rule that matches may allow.
func plainRisk(risk Risk) bool {
	switch risk {
	case RiskReadOnly, RiskWorkspace, RiskNetwork, RiskDestructive:
		return true
	}
	return false
}

// expired reports whether what counts until a moment has ended; the zero moment is never.
func expired(until time.Time, now func() time.Time) bool {
	return !until.IsZero() && !now().Before(until)
}

var allKinds = []Kind{Read, Create, Overwrite, Delete, Write, Run, Env, Net, Signal, Secret, ToolCall, Display, Capture, Artifact}

var effectText = regexp.MustCompile(`(?s)^\s*([a-z_]+)\((.*)\)\s*$`)

// parseEffect reads "effect(pattern)".
func parseEffect(text string) (Kind, string, error) {
	m := effectText.FindStringSubmatch(text)
	if m == nil {
		return "", "", fmt.Errorf("%.120q: effect(pattern) is wanted, such as read(docs/**)", text)
	}
	kind, pattern := Kind(m[1]), m[2]
	if !slices.Contains(allKinds, kind) {
		return "", "", fmt.Errorf("unknown effect %.40q%s", m[1], nearestKind(m[1]))
	}
	return kind, pattern, CheckScope(kind, pattern)
}

func nearestKind(word string) string {
	var known []string
	for _, k := range allKinds {
		known = append(known, string(k))
	}
	if near := yamldoc.Nearest(word, known); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ", known are " + strings.Join(known, ", ")
}

// parseRule reads "verdict: effect(pattern)", the form in which grants are kept.
func parseRule(text string) (Verdict, Kind, string, error) {
	word, effect, found := strings.Cut(text, ":")
	var v Verdict
	if err := v.UnmarshalText([]byte(strings.TrimSpace(word))); err != nil || !found {
		return v, "", "", fmt.Errorf("%.120q: allow, ask or deny, a colon and an effect are wanted, such as allow: read(docs/**)", text)
	}
	kind, pattern, err := parseEffect(effect)
	return v, kind, pattern, err
}

var forPattern = regexp.MustCompile(`^([a-z0-9][a-z0-9-]{0,63})(?:@(sha256:[0-9a-f]{64}))?$`)

// setFor reads "id" or "id@digest".
func (r *rule) setFor(text string) error {
	if text == "" {
		return nil
	}
	m := forPattern.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("for: %.120q: a capability id is wanted, with or without @sha256:…", text)
	}
	r.capability, r.digest = m[1], m[2]
	return nil
}

// compile fills in what matching needs.
func (r *rule) compile(p *Paths) error {
	if !r.kind.IsPath() {
		m, err := kindMatcher(r.kind, r.pattern)
		r.matchers = []matcher{m}
		return err
	}
	var err error
	if r.matchers, err = p.pathMatchers(r.pattern, r.verdict); err != nil {
		return err
	}
	if len(r.matchers) == 0 {
		r.inactive = "its path is relative, and there is no such place here"
		return nil
	}
	r.findOpens(p)
	return nil
}

func (r *rule) findOpens(p *Paths) {
	r.opens = map[Class]bool{}
	useless := r.verdict == Allow
	for _, kind := range r.kinds() {
		for _, m := range r.matchers {
			for class := range p.named(m.text, kind) {
				useless = useless && (class == ClassForbidden || !plain(class) && !r.tier.mayOpen(class))
				r.opens[class] = r.opens[class] || r.tier.mayOpen(class)
			}
		}
	}
	if useless {
		r.warning = "it can never match: rules of this file do not open what it names"
	}
}

// plain classes are open to every rule that matches.
func plain(class Class) bool {
	return class == "" || class == ClassProject || class == ClassOutside
}

// mayOpen reports whether rules of the tier count for the class when they name it.
// Grants may for every class: they only ever answer questions.
func (t Tier) mayOpen(class Class) bool {
	switch class {
	case ClassObeyed, ClassDangerous, ClassSystem, ClassCredentials, ClassProtected:
		return t != TierProject
	}
	return false
}

// example reports whether the rule matches a text written as in a rule file: a path, a
// command, a URL or a name. It is not known where there is no such place here.
func (r *rule) example(p *Paths, text string) (matches, known bool, err error) {
	switch {
	case r.kind.IsPath():
		literal := p.expand(escape(text))
		if strings.HasPrefix(text, "~/") {
			literal = p.expand("~/" + escape(text[2:]))
		}
		if literal == "" {
			return false, false, nil
		}
		text = sample(literal, "")
	case r.kind == Run:
		argv, err := SplitArgv(text)
		if err != nil {
			return false, false, fmt.Errorf("the example %.200q cannot be read: %w", text, err)
		}
		text = JoinArgv(argv)
	case r.kind == Net:
		e, err := NetTarget(text)
		if err != nil {
			return false, false, fmt.Errorf("the example %.200q cannot be read: %w", text, err)
		}
		text = e.Target
	}
	return anyMatches(r.matchers, targetOf(r.kind, text)), true, nil
}
