package command

import (
	"path"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// patternFolder is the folder in which the matches of a pattern lie, at any depth.
func patternFolder(pattern string) string {
	first := strings.IndexAny(pattern, `*?[\`)
	slash := strings.LastIndexByte(pattern[:max(first, 0)], '/')
	switch {
	case slash < 0:
		return "."
	case slash == 0:
		return "/"
	}
	return pattern[:slash]
}

// guarded are effects on the names that are decided by themselves and that a pattern
// spells out, but for some letters. A pattern such as * stands for its folder alone.
func guarded(kind permission.Kind, pattern string) (effects []permission.Effect) {
	from := permission.GuardedFrom(kind)
	before := ""
	add := func(name string) {
		effects = append(effects, permission.Effect{Kind: kind, Target: before + name, Recursive: true})
	}
	for part := range strings.SplitSeq(pattern, "/") {
		plain := withoutSets(strings.ToLower(strings.TrimPrefix(part, `\`)))
		for strings.Contains(plain, "**") {
			plain = strings.ReplaceAll(plain, "**", "*")
		}
		stem, ending := plain, ""
		if at := strings.LastIndexByte(plain, '.'); at >= 0 {
			ending = plain[at:]
			if at > 0 {
				stem = plain[:at]
			}
		}
		for _, name := range from.Names {
			if spelled(stem) >= 2 && matches(plain, name) {
				add(name)
			}
		}
		for _, b := range from.Beginnings {
			if spelled(stem) >= 2 && mayBegin(plain, b) {
				add(b + "*")
			}
		}
		for _, e := range from.Endings {
			if spelled(ending) > 2 && matches(ending, e) {
				add("*" + e)
			}
		}
		if before += part + "/"; strings.ContainsAny(part, `*?[\`) {
			before = patternFolder(before) + "/"
		}
	}
	return effects
}

// matches reports whether a part of a pattern stands for a name. No mark of a pattern
// stands for a dot at the start.
func matches(part, name string) bool {
	ok, err := path.Match(part, name)
	return ok && err == nil && (name[0] == '.') == (part[0] == '.')
}

// mayBegin reports whether a part of a pattern stands for a name that begins so.
func mayBegin(part, beginning string) bool {
	for end := range min(len(part), 2*len(beginning)+1) { // at most a * between any two letters
		if matches(part[:end+1], beginning) {
			return true
		}
	}
	return false
}

// spelled counts what is no mark. A name is only spelled out by at least two, before any
// ending that many files have.
func spelled(part string) int { return len(part) - strings.Count(part, "*") - strings.Count(part, "?") }

// withoutSets writes each set of characters, such as [a-z], as ?.
func withoutSets(part string) string {
	var b strings.Builder
	for {
		before, set, ok := strings.Cut(part, "[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteByte('?')
		set = strings.TrimLeft(set, "!^")
		end := strings.IndexByte(set[min(1, len(set)):], ']') + min(1, len(set))
		for end < len(set) && end > 0 && set[end-1] == ':' { // of [:alpha:]
			end += 1 + max(0, strings.IndexByte(set[end+1:], ']'))
		}
		part = set[min(end+1, len(set)):]
	}
}
