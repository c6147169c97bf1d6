package permission

import (
	"strings"
	"time"
)

// table finds rules by kind of effect, verdict, and the folder that all their targets
// lie in, so that a decision looks at few of many rules.
type table map[Kind]*[Allow + 1]map[string][]entry

type entry struct {
	*matcher
	rule  *rule
	order int
}

// add enters rules in the order of their tiers.
func (t table) add(rules []*rule) {
	for order, r := range rules {
		if r.inactive != "" {
			continue
		}
		for _, kind := range r.kinds() {
			if t[kind] == nil {
				t[kind] = &[Allow + 1]map[string][]entry{{}, {}, {}}
			}
			for i := range r.matchers {
				m := &r.matchers[i]
				folder := folderOf(kind, m)
				t[kind][r.verdict][folder] = append(t[kind][r.verdict][folder], entry{m, r, order})
			}
		}
	}
}

func folderOf(kind Kind, m *matcher) string {
	if !kind.IsPath() {
		return ""
	}
	folder, _ := literalHead(m.text)
	return folder
}

// find returns the rule that decides an effect of a caller: any deny wins, then any
// ask, then any allow; of several with one verdict it is the first.
func (t table) find(c *Caller, f *Effect, now func() time.Time) *rule {
	byVerdict := t[f.Kind]
	if byVerdict == nil {
		return nil
	}
	target := normal(f.Target)
	for _, byFolder := range byVerdict {
		if r := findIn(byFolder, c, f, target, now); r != nil {
			return r
		}
	}
	return nil
}

func findIn(byFolder map[string][]entry, c *Caller, f *Effect, target string, now func() time.Time) *rule {
	if len(byFolder) == 0 {
		return nil
	}
	if !f.Kind.IsPath() {
		e := first(byFolder[""], c, f, target, now)
		return e.rule
	}
	var best entry
	for folder := target; folder != ""; folder = above(folder) {
		if e := first(byFolder[folder], c, f, target, now); e.rule != nil && (best.rule == nil || e.order < best.order) {
			best = e
		}
	}
	return best.rule
}

// above is the folder above a canonical path, "" above the root.
func above(path string) string {
	if path == "/" {
		return ""
	}
	return path[:max(1, strings.LastIndexByte(path, '/'))]
}

func first(entries []entry, c *Caller, f *Effect, target string, now func() time.Time) entry {
	for i := range entries {
		if e := &entries[i]; e.matches(target) && e.rule.concerns(c, f.Class, now) {
			return *e
		}
	}
	return entry{}
}
