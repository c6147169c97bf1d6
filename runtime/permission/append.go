package permission

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/plainjson"
)

// AppendRules adds allow rules to the text of the rule file of a tier, and leaves the
// rest as it is, comments included; an empty text becomes a file. The result has been
// loaded: it holds the rules that were there, and then these. A rule that the tier may
// not hold is an error of kind invalid_input, and a file that is written in a way that
// nothing can be added to is one of kind conflict.
func AppendRules(file string, text []byte, t Tier, rules []RuleText, p *Paths) ([]byte, error) {
	items, err := ruleItems(t, rules)
	if err != nil || len(items) == 0 {
		return text, err
	}
	before, err := rulesBefore(file, text, t, p)
	if err != nil {
		return nil, err
	}
	for _, added := range []string{insertAfterLast(string(text), items), insertAtEnd(string(text), items)} {
		after, loadErr := parseRules([]byte(added), file, t, p)
		if loadErr == nil && isAppended(before, after, items) {
			return []byte(added), nil
		}
		err = loadErr
	}
	if err == nil {
		err = fault.New(fault.Conflict, "not_appended", "%s is written in a way that rules cannot be added to", file)
	}
	return nil, fault.From(err).WithHint("write its rules as lines that begin with -, or add there by hand: %s", strings.TrimSpace(strings.Join(items, "; ")))
}

// ruleItems are the rules as list items of YAML, without indentation.
func ruleItems(t Tier, rules []RuleText) (items []string, err error) {
	for _, r := range rules {
		effect := r.User
		if t == TierProject {
			effect = r.Project
		}
		if effect == "" {
			return nil, fault.New(fault.InvalidInput, "bad_rule", "allow: %s is no rule for a project's file: %s", r.User, r.OwnOnly)
		}
		item := "- allow: " + yamlText(effect) + "\n"
		if r.For != "" {
			item += "  for: " + yamlText(r.For) + "\n"
		}
		items = append(items, item)
	}
	return items, nil
}

var plainYAML = regexp.MustCompile(`^[a-z](?:[A-Za-z0-9_()./*~@%+=,'-]| [^ #]|:[^ ])*$`)

// yamlText writes a text that begins with a letter as YAML reads it back.
func yamlText(text string) string {
	if plainYAML.MatchString(text) {
		return text
	}
	quoted, _ := plainjson.Marshal(text) // of a string
	return string(quoted)
}

func rulesBefore(file string, text []byte, t Tier, p *Paths) ([]*rule, error) {
	if strings.TrimSpace(string(text)) == "" {
		return nil, nil
	}
	return parseRules(text, file, t, p)
}

// isAppended reports whether the rules after are those before and the added ones.
func isAppended(before, after []*rule, items []string) bool {
	if len(after) != len(before)+len(items) {
		return false
	}
	for i, r := range after {
		switch {
		case i >= len(before):
			if !strings.HasPrefix(items[i-len(before)], "- allow: "+yamlText(string(r.kind)+"("+r.pattern+")")+"\n") {
				return false
			}
		case !sameRule(r, before[i]):
			return false
		}
	}
	return true
}

func sameRule(a, b *rule) bool {
	return a.text() == b.text() && a.forText() == b.forText() && a.reason == b.reason && a.expires.Equal(b.expires) && slices.Equal(a.afterText, b.afterText)
}

// ruleList is where the list of rules stands in the lines of a file.
type ruleList struct {
	lines      []string // with their ends
	key        int      // of the line "rules:", -1 without one
	last, end  int      // behind the last line that is no comment, and behind the list
	indent     string
	lineEnding string
}

var (
	rulesKey    = regexp.MustCompile(`^rules:[ \t]*(?:\[[ \t]*\]|null|~)?[ \t]*(#.*)?\r?\n?$`)
	insideRules = regexp.MustCompile(`^(?:[ \t]|-[ \t]|-?\r?\n|#)`)
)

func findRules(text string) ruleList {
	l := ruleList{key: -1, indent: "  ", lineEnding: "\n"}
	if strings.Contains(text, "\r\n") {
		l.lineEnding = "\r\n"
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += l.lineEnding
	}
	l.lines = slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool { return line == "" })
	l.key = slices.IndexFunc(l.lines, rulesKey.MatchString)
	if l.key < 0 {
		return l
	}
	l.last, l.end = l.key+1, l.key+1
	for ; l.end < len(l.lines) && insideRules.MatchString(l.lines[l.end]); l.end++ {
		line := strings.TrimLeft(l.lines[l.end], " ")
		if l.last == l.key+1 && strings.HasPrefix(line, "-") {
			l.indent = l.lines[l.end][:len(l.lines[l.end])-len(line)]
		}
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			l.last = l.end + 1
		}
	}
	return l
}

// insertAfterLast puts the items behind the last line of the list that is no comment.
func insertAfterLast(text string, items []string) string {
	l := findRules(text)
	return l.insert(l.last, items)
}

// insertAtEnd puts the items behind the list's comments, which may be part of a text.
func insertAtEnd(text string, items []string) string {
	l := findRules(text)
	return l.insert(l.end, items)
}

func (l *ruleList) insert(at int, items []string) string {
	var list strings.Builder
	for _, item := range items {
		for line := range strings.Lines(item) {
			list.WriteString(l.indent + strings.TrimSuffix(line, "\n") + l.lineEnding)
		}
	}
	if l.key < 0 {
		start := ""
		if strings.TrimSpace(strings.Join(l.lines, "")) == "" {
			start = "schema_version: 1" + l.lineEnding
		}
		return fmt.Sprintf("%s%srules:%s%s", strings.Join(l.lines, ""), start, l.lineEnding, list.String())
	}
	key := "rules:" + l.lineEnding
	if comment := rulesKey.FindStringSubmatch(l.lines[l.key])[1]; comment != "" {
		key = "rules: " + strings.TrimRight(comment, "\r\n") + l.lineEnding
	}
	return strings.Join(l.lines[:l.key], "") + key + strings.Join(l.lines[l.key+1:at], "") + list.String() + strings.Join(l.lines[at:], "")
}
