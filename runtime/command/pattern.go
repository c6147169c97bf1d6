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
		part = afterSet(strings.TrimLeft(set, "!^"))
	}
}

// afterSet is what follows the end of a set. A ] does not end it at its start, nor in
// [:alpha:], [.a.] and [=a=].
func afterSet(set string) string {
	for i := 0; i < len(set); i++ {
		switch {
		case set[i] == ']' && i > 0:
			return set[i+1:]
		case set[i] == '[' && i+2 < len(set) && strings.IndexByte(":.=", set[i+1]) >= 0:
			if n := strings.Index(set[i+2:], set[i+1:i+2]+"]"); n >= 0 {
				i += n + 3
			}
		}
	}
	return ""
}
