package git

import (
	"strings"

	"github.com/aircoding/air/internal/lazyregexp"
)

// plainNames are the names that a configuration file sets, as git lists them. ok is false
// for one that is anything but sections and settings, each on a line of its own, and for
// one that includes others: only git itself knows what those say. Escapes, which a value
// can end a line with, are none of the plain.
// https://git-scm.com/docs/git-config#_syntax
func plainNames(text string) (names []string, ok bool) {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == '\\' || r == '\x7f' }) {
		return nil, false
	}
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Trim(line, " \t")
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if head := sectionLine.FindStringSubmatch(line); head != nil {
			section = strings.ToLower(head[1]) + "."
			if head[2] != "" {
				section += head[3] + "."
			}
			continue
		}
		key := settingLine.FindStringSubmatch(line)
		if key == nil || section == "" || further.MatchString(section) {
			return nil, false
		}
		names = append(names, section+strings.ToLower(key[1]))
	}
	return names, true
}

var (
	sectionLine = lazyregexp.New(`^\[([A-Za-z0-9-]+)([ \t]+"([^"]*)")?\]$`)
	settingLine = lazyregexp.New(`^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=.*)?$`)
	// further are sections that lead to more settings.
	further = lazyregexp.New(`^(include|includeif|extensions)\.`)
)
