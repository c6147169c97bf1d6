package permission

import (
	"fmt"
	"slices"
)

// maxCompared is how many pairs of rules are compared at most.
const maxCompared = 1 << 20

// shadowed says of rules, in the order of their tiers, which others make them pointless:
// without all of the rules that it names every decision has the same verdict. Of very
// many rules it compares only as many as takes no time to speak of.
func shadowed(rules []*rule) map[*rule]string {
	t, order := table{}, map[*rule]int{}
	t.add(rules)
	for i, r := range rules {
		order[r] = i
	}
	budget := maxCompared
	by, warnings := map[*rule]*rule{}, map[*rule]string{}
	for _, r := range rules {
		if r.inactive != "" || r.after != nil {
			continue
		}
		other := t.shadowing(r, &budget, func(o *rule) bool {
			if o.verdict == r.verdict && order[o] > order[r] && r.covers(o) {
				return false
			}
			for ; o != nil; o = by[o] {
				if o == r {
					return false
				}
			}
			return true
		})
		if other == nil {
			continue
		}
		by[r] = other
		warnings[r] = fmt.Sprintf("shadowed by %s:%d: %s", other.file, other.line, other.text())
		if other.verdict < r.verdict {
			warnings[r] = fmt.Sprintf("shadowed by %s:%d, which is stronger: %s", other.file, other.line, other.text())
		}
	}
	return warnings
}

// shadowing finds the strongest rule that decides all that r does, and is eligible.
func (t table) shadowing(r *rule, budget *int, eligible func(*rule) bool) *rule {
	kind := r.kinds()[0]
	if t[kind] == nil || len(r.matchers) == 0 {
		return nil
	}
	for verdict := Deny; verdict <= r.verdict; verdict++ {
		for _, key := range keysAbove(kind, &r.matchers[0]) {
			for _, e := range t[kind][verdict][key] {
				if *budget--; *budget < 0 {
					return nil
				}
				if e.rule != r && e.rule.covers(r) && eligible(e.rule) {
					return e.rule
				}
			}
		}
	}
	return nil
}

// keysAbove are the keys under which a table has the rules that can match what the
// matcher does.
func keysAbove(kind Kind, m *matcher) []string {
	keys := []string{""}
	switch {
	case kind == Run:
		head := m.argv.head()
		for n := range head {
			keys = append(keys, JoinArgv(head[:n+1]))
		}
		for i := range m.argv.words {
			if m.argv.words[i].literal() {
				keys = append(keys, wordKey(m.argv.words[i].text))
			}
		}
	case kind == Net:
		key := m.net.key()
		keys = append(keys, key)
		for i := range len(key) {
			if key[i] == '.' {
				keys = append(keys, key[i:])
			}
		}
	case kind.IsPath():
		for folder := keyOf(kind, m); folder != ""; folder = above(folder) {
			keys = append(keys, folder)
		}
	}
	return keys
}

// covers reports whether the rule decides whatever another one does, as far as that can
// be told; which verdict each has is not looked at.
func (r *rule) covers(o *rule) bool {
	if !r.isForAllOf(o) || !r.outlasts(o) {
		return false
	}
	for i := range o.matchers {
		if !anyCovers(r.matchers, &o.matchers[i]) {
			return false
		}
	}
	return !slices.ContainsFunc(o.kinds(), func(kind Kind) bool { return !r.isAbout(kind) || !r.reachesAllOf(o, kind) })
}

func anyCovers(matchers []matcher, o *matcher) bool {
	for i := range matchers {
		if matchers[i].covers(o) {
			return true
		}
	}
	return false
}

func (r *rule) isForAllOf(o *rule) bool {
	switch {
	case r.capability == "":
		return r.verdict != Allow || o.verdict == Allow && o.capability == ""
	case r.capability != o.capability:
		return false
	}
	return r.digest == "" || r.digest == o.digest
}

func (r *rule) outlasts(o *rule) bool {
	return r.expires.IsZero() || !o.expires.IsZero() && !r.expires.Before(o.expires)
}

// ruledClasses and ruledRisks are the classes and risks that rules are asked about.
var (
	ruledClasses = []Class{"", ClassProject, ClassProtected, ClassObeyed, ClassOutside, ClassDangerous, ClassSystem, ClassCredentials, ClassPrivate}
	ruledRisks   = []Risk{"", RiskReadOnly, RiskWorkspace, RiskNetwork, RiskDestructive, RiskPrivileged, RiskOpaque}
)

func (r *rule) reachesAllOf(o *rule, kind Kind) bool {
	misses := func(f Effect) bool { return o.reaches(&f) && !r.reaches(&f) }
	if kind == Run {
		for _, risk := range ruledRisks {
			if misses(Effect{Kind: kind, Risk: risk}) {
				return false
			}
		}
		return true
	}
	for _, class := range ruledClasses {
		if (class != ClassPrivate || kind == Net) && misses(Effect{Kind: kind, Class: class}) {
			return false
		}
	}
	return true
}
