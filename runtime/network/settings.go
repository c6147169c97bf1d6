package network

import "strings"

// setting is one line of a configuration file: [section], key = value.
type setting struct{ section, key, value string }

const maxSettings = 2000

// settings reads what is alike in the files of git, cargo, pip, npm, yarn and go: sections in
// brackets, keys with a value behind = or : or a space, quotes around both, comments. What
// takes several lines, or is written in another way, is not read.
func settings(content string) (all []setting) {
	section := ""
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			name, _, _ = strings.Cut(strings.TrimLeft(name, "["), "]")
			section = strings.TrimSpace(name)
			continue
		}
		if key, value, ok := keyValue(line); ok && len(all) < maxSettings {
			all = append(all, setting{section, key, value})
		}
	}
	return all
}

// keyValue takes a line apart at the first = or, where there is none, at ": " or a space.
func keyValue(line string) (key, value string, ok bool) {
	for _, separator := range []string{"=", ": ", " "} {
		if key, value, ok = strings.Cut(line, separator); ok {
			return unquoted(key), unquoted(value), true
		}
	}
	return "", "", false
}

// unquoted is a text without the quotes around it, or without the comment behind it.
func unquoted(text string) string {
	text = strings.TrimSpace(text)
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		if end := strings.IndexByte(text[1:], text[0]); end >= 0 {
			return text[1 : 1+end]
		}
	}
	text, _, _ = strings.Cut(text, " #")
	text, _, _ = strings.Cut(text, " ;")
	return strings.TrimSpace(text)
}

// values are those of a key, in any section.
func values(all []setting, keys ...string) (found []string) {
	for _, s := range all {
		for _, key := range keys {
			if strings.EqualFold(s.key, key) {
				found = append(found, s.value)
			}
		}
	}
	return found
}
