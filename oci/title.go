package oci

import (
	"io/fs"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/aircoding/air/internal/text"
)

const (
	maxTitle = 1024
	// The manifest is the config, never a layer: a layer of that name would replace,
	// once unpacked, what the user consented to.
	manifestJSON = "capability.json"
	manifestMD   = "CAPABILITY.md"
)

// checkTitles refuses titles that cannot become files of one folder on every system.
func checkTitles(layers []Descriptor) error {
	seen, folders := map[string]string{}, map[string]string{}
	for _, l := range layers {
		if why := UnsafeTitle(l.Title); why != "" {
			return fail(KindInvalid, "do not use this bundle; ask its publisher", "layer title %.100q %s", l.Title, why)
		}
		key := folded(l.Title)
		if other, ok := seen[key]; ok {
			return fail(KindInvalid, "", "layer title %.100q repeats %.100q", l.Title, other)
		}
		seen[key] = l.Title
		for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
			folders[dir] = l.Title
		}
	}
	for key, title := range seen {
		if inside, ok := folders[key]; ok {
			return fail(KindInvalid, "", "layer title %.100q is a file and, for %.100q, a folder", title, inside)
		}
	}
	return nil
}

// UnsafeTitle says why a title cannot name a file of a bundle, or nothing.
func UnsafeTitle(title string) string {
	switch {
	case title == "":
		return "is missing"
	case len(title) > maxTitle:
		return "is too long"
	case !fs.ValidPath(title) || title == ".":
		return "is no clean relative path"
	case strings.ContainsAny(title, `\:`):
		return "contains a backslash or a colon"
	case strings.ContainsRune(title, unicode.ReplacementChar):
		return "is no valid UTF-8"
	case strings.ContainsFunc(title, func(r rune) bool { return !text.Visible(r) }):
		return "contains characters that cannot be seen"
	case folded(title) == folded(manifestJSON), folded(title) == folded(manifestMD):
		return "names the manifest"
	}
	for part := range strings.SplitSeq(title, "/") {
		if len(part) > 255 {
			return "has a part that is too long for a file name"
		}
	}
	return ""
}

// folded is the form in which two titles name the same file on a file system that
// ignores case or normalises Unicode.
func folded(title string) string {
	return strings.ToLower(norm.NFC.String(title))
}
