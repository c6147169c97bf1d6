package git

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// shown is a path of the repository as outputs have it. JSON holds no bytes that are not
// UTF-8: a name with such bytes, and one that begins with a quote, is written in quotes
// with escapes as git writes it.
func (r *repo) shown(name string) string {
	path := r.access.Shown(r.at.Top + "/" + strings.TrimSuffix(name, "/"))
	if strings.HasSuffix(name, "/") { // a folder of which git tells no more
		path += "/"
	}
	if utf8.ValidString(path) && !strings.HasPrefix(path, `"`) {
		return path
	}
	return quoted(path)
}

// escapes are git's, of quote.c.
var escapes = map[byte]byte{'\a': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\'}

// quoted is a name as git quotes it, with core.quotePath.
func quoted(name string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		c := name[i]
		switch escape, special := escapes[c]; {
		case special:
			b.WriteByte('\\')
			b.WriteByte(escape)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// fields are the parts of a text that NUL ends.
func fields(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}
