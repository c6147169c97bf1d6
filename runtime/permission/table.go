package permission

import (
	"strings"
	"time"
)

// table finds rules by kind of effect, verdict, and the folder that all their targets
// lie in, the words that they begin with or the host, so that a decision looks at few of many rules.
type table map[Kind]*[Allow + 1]map[string][]entry

type entry struct {
	*matcher
	rule  *rule
	order int
}

// add enters rules in the order of their tiers.
func (t table) add(rules []*rule) {
	for order, r := range rules {
		if r.inactive != "" || r.after != nil {
			continue
		}
		for _, kind := range r.kinds() {
			if t[kind] == nil {
				t[kind] = &[Allow + 1]map[string][]entry{{}, {}, {}}
			}
			for i := range r.matchers {
				m := &r.matchers[i]
				key := keyOf(kind, m)
				t[kind][r.verdict][key] = append(t[kind][r.verdict][key], entry{m, r, order})
			}
		}
	}
}

func keyOf(kind Kind, m *matcher) string {
	switch {
	case kind == Run:
		return m.argv.key()
	case kind == Net:
		return m.net.key()
	case !kind.IsPath():
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
	s := search{c, f, now}
	at, also := targetOf(f.Kind, f.Target), target{}
	if f.Also != "" {
		also = targetOf(f.Kind, f.Also)
	}
	for verdict, byKey := range byVerdict {
		if len(byKey) == 0 {
			continue
		}
		if best := s.in(byKey, at); best.rule != nil {
			return best.rule
		}
		if Verdict(verdict) != Allow && f.Also != "" {
			if best := s.in(byKey, also); best.rule != nil {
				return best.rule
			}
		}
	}
	return nil
}

// search is for rules about one effect of one caller.
type search struct {
	caller *Caller
	effect *Effect
	now    func() time.Time
}

// in returns the first of the rules of one verdict that match, by their order.
func (s *search) in(byKey map[string][]entry, at target) entry {
	best := s.first(byKey[""], at, entry{})
	switch {
	case s.effect.Kind == Run:
		for _, key := range at.keys {
			best = s.first(byKey[key], at, best)
		}
	case s.effect.Kind == Net:
		return s.byHost(byKey, at, best)
	case s.effect.Kind.IsPath():
		for folder := at.text; folder != ""; folder = above(folder) {
			best = s.first(byKey[folder], at, best)
		}
	}
	return best
}

func (s *search) byHost(byKey map[string][]entry, at target, best entry) entry {
	_, host, _ := splitNet(at.text)
	best = s.first(byKey[host], at, best)
	for i := range len(host) {
		if host[i] == '.' {
			best = s.first(byKey[host[i:]], at, best)
		}
	}
	return best
}

// first returns the first entry that matches, unless best comes before it.
func (s *search) first(entries []entry, at target, best entry) entry {
	for i := range entries {
		e := &entries[i]
		if best.rule != nil && best.order < e.order {
			break
		}
		if e.matches(at) && e.rule.concerns(s.caller, s.effect, s.now) {
			return *e
		}
	}
	return best
}

// above is the folder above a canonical path, "" above the root.
func above(path string) string {
	if path == "/" {
		return ""
	}
	return path[:max(1, strings.LastIndexByte(path, '/'))]
}
