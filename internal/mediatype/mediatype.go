// Package mediatype tells what sort of content some bytes are. It is the door to the
// mimetype library.
package mediatype

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// HeadBytes is how much of the beginning of a content is looked at.
const HeadBytes = 3072

// Notebook is the media type of Jupyter notebooks, which only the name tells apart from
// other JSON.
const Notebook = "application/x-ipynb+json"

// Detect returns the media type of content that begins with head. The name counts only
// where the bytes do not tell.
func Detect(name string, head []byte) string {
	detected := mimetype.Detect(head)
	if strings.HasSuffix(strings.ToLower(name), ".ipynb") && bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("{")) {
		return Notebook
	}
	return detected.String()
}

// IsText reports whether head is the beginning of UTF-8 text. A character that is cut
// off at the end does not count against it.
func IsText(head []byte) bool {
	return bytes.IndexByte(head, 0) < 0 && utf8.Valid(WholeRunes(head))
}

// WholeRunes returns b without the beginning of a character that is cut off at its end.
func WholeRunes(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		last := b[len(b)-i:]
		if utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
