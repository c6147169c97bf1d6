package permission

import "slices"

// Denies returns what tells whether a rule denies an effect on a canonical path to one of
// the callers. It is nil where no rule denies any effect on a path.
func (e *Engine) Denies(chain []Caller) func(kind Kind, canonical string) bool {
	if !slices.ContainsFunc(e.rules, func(r *rule) bool { return r.verdict == Deny && r.inactive == "" && r.kind.IsPath() }) {
		return nil
	}
	return func(kind Kind, canonical string) bool {
		if len(chain) == 0 {
			return e.denies(nil, kind, canonical)
		}
		for i := range chain {
			if e.denies(&chain[i], kind, canonical) {
				return true
			}
		}
		return false
	}
}

func (e *Engine) denies(c *Caller, kind Kind, canonical string) bool {
	rules := e.table[kind]
	if rules == nil || len(rules[Deny]) == 0 {
		return false
	}
	s := search{c, &Effect{Kind: kind, Target: canonical}, e.clock}
	return s.in(rules[Deny], targetOf(kind, canonical)).rule != nil
}
