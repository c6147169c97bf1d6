package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/yamldoc"
)

// ruleFile is permissions.yaml.
type ruleFile struct {
	SchemaVersion int        `json:"schema_version"`
	Rules         []ruleText `json:"rules"`
}

type ruleText struct {
	Allow    string    `json:"allow"`
	Ask      string    `json:"ask"`
	Deny     string    `json:"deny"`
	Reason   string    `json:"reason"`
	Match    []string  `json:"match"`
	NotMatch []string  `json:"not_match"`
	For      string    `json:"for"`
	Expires  string    `json:"expires"`
	After    oneOrMore `json:"after"`
}

// maxFile bounds rules, grants and what was accepted.
const maxFile = 256 << 10

// loadRules reads the rules of a tier; a file that does not exist has none.
func loadRules(file string, t Tier, p *Paths) (rules []*rule, text []byte, err error) {
	if file == "" {
		return nil, nil, nil
	}
	text, err = regular.Read(file, maxFile, t != TierProject)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fault.New(fault.InvalidInput, "bad_rules", "reading rules: %w", err)
	}
	rules, err = parseRules(text, file, t, p)
	return rules, text, err
}

// CheckRules describes a project's rules, and refuses those that could not be loaded. file
// is how both name them.
func CheckRules(file string, text []byte, p *Paths) ([]RuleInfo, error) {
	rules, err := parseRules(text, file, TierProject, p)
	if err != nil {
		return nil, err
	}
	return describe(rules), nil
}

func parseRules(text []byte, file string, t Tier, p *Paths) ([]*rule, error) {
	var doc ruleFile
	asJSON, lines, err := yamldoc.Decode(text, &doc)
	if err != nil {
		return nil, badRules(file, 0, err)
	}
	if at := emptyValue(asJSON); at != "" {
		return nil, badRules(file, lines[at], fmt.Errorf("%s has no value: a rule for nobody or until never is not what it looks like; leave the key out", path.Base(at)))
	}
	if _, written := lines["/schema_version"]; !written {
		return nil, badRules(file, 1, errors.New("schema_version: 1 is missing"))
	}
	if doc.SchemaVersion != 1 {
		return nil, badRules(file, lines["/schema_version"], fmt.Errorf("schema_version is %d, this air knows 1", doc.SchemaVersion))
	}
	var rules []*rule
	for i, written := range doc.Rules {
		r := &rule{tier: t, file: file, line: lines["/rules/"+strconv.Itoa(i)]}
		if err := r.read(written, p); err != nil {
			return nil, badRules(file, r.line, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// emptyValue is the pointer of a key of a rule that was left without a value, "" when
// there is none: "for:" alone must not mean everybody.
func emptyValue(doc []byte) string {
	var raw struct {
		Rules []map[string]any `json:"rules"`
	}
	if json.Unmarshal(doc, &raw) != nil { // it was decoded before, more strictly
		return ""
	}
	for i, rule := range raw.Rules {
		for _, key := range slices.Sorted(maps.Keys(rule)) {
			list, _ := rule[key].([]any)
			if rule[key] == nil || rule[key] == "" || slices.Contains(list, nil) || slices.Contains(list, "") {
				return fmt.Sprintf("/rules/%d/%s", i, key)
			}
		}
	}
	return ""
}

func badRules(file string, line int, err error) error {
	var located *yamldoc.Error
	if errors.As(err, &located) && located.Line > 0 {
		line, err = located.Line, errors.New(located.Reason)
	}
	return fault.New(fault.InvalidInput, "bad_rules", "%s:%d: %w", file, line, err).
		WithHint("docs/permissions.md has the grammar of rules; nothing is decided until the file is right")
}

// read fills in a rule from what is written, and proves its examples.
func (r *rule) read(written ruleText, p *Paths) error {
	effect, err := r.readVerdict(written)
	if err != nil {
		return err
	}
	if r.kind, r.pattern, err = parseEffect(effect); err != nil {
		return err
	}
	if err := r.setFor(written.For); err != nil {
		return err
	}
	if r.expires, err = parseExpiry(written.Expires); err != nil {
		return err
	}
	r.reason = shorten(Printable(written.Reason), 200)
	r.source = fmt.Sprintf("%s:%d: %s", r.file, r.line, r.text())
	if err := r.compile(p); err != nil {
		return err
	}
	if err := r.setAfter(written.After, p); err != nil {
		return err
	}
	if r.capability != "" && slices.Contains([]Kind{Env, Signal, Display, Capture}, r.kind) {
		r.warning = fmt.Sprintf("it can never match: capabilities have no %s effects", r.kind)
	}
	return r.prove(written, p)
}

func (r *rule) readVerdict(written ruleText) (effect string, err error) {
	for verdict, text := range map[Verdict]string{Allow: written.Allow, Ask: written.Ask, Deny: written.Deny} {
		if text == "" {
			continue
		}
		if effect != "" {
			return "", fmt.Errorf("more than one of allow, ask and deny: each rule has one")
		}
		r.verdict, effect = verdict, text
	}
	if effect == "" {
		return "", fmt.Errorf("a rule needs one of allow, ask and deny")
	}
	return effect, nil
}

// parseExpiry reads a day, through whose end in UTC the rule counts, or a moment.
func parseExpiry(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return moment, fmt.Errorf("expires: %.60q is no date such as 2026-12-31 and no RFC 3339 time", text)
	}
	return moment, nil
}

// prove checks that the rule matches what its author says it does.
func (r *rule) prove(written ruleText, p *Paths) error {
	if r.inactive != "" {
		return nil
	}
	for _, text := range written.Match {
		matches, known, err := r.example(p, text)
		if err != nil {
			return fmt.Errorf("match: %w", err)
		}
		if known && !matches {
			return fmt.Errorf("%s does not match its example %.200q", r.text(), text)
		}
	}
	for _, text := range written.NotMatch {
		matches, _, err := r.example(p, text)
		if err != nil {
			return fmt.Errorf("not_match: %w", err)
		}
		if matches {
			return fmt.Errorf("%s matches %.200q, which not_match says it must not", r.text(), text)
		}
	}
	return nil
}
