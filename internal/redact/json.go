package redact

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/aircoding/air/internal/jsonstring"
)

// JSON replaces the secrets in the strings of a JSON text. Names of members, numbers and
// the strings that are nothing but an id or a digest stay: programs read them. What is not
// JSON is taken for a text.
func (r *Redactor) JSON(text []byte) []byte {
	if !json.Valid(text) {
		return []byte(r.Text(string(text)))
	}
	w := walk{redactor: r, text: text}
	jsonstring.Each(text, w.visit)
	if w.out == nil {
		return text
	}
	return append(w.out, text[w.done:]...)
}

// walk is one pass over a JSON text.
type walk struct {
	redactor *Redactor
	text     []byte
	out      []byte // nil as long as nothing was replaced
	done     int    // what of text is in out
	before   jsonstring.Literal
}

func (w *walk) visit(l jsonstring.Literal) {
	if !l.Name {
		w.value(l)
	}
	w.before = l
}

func (w *walk) value(l jsonstring.Literal) {
	value, _ := jsonstring.Unquote(w.text[l.From:l.To])
	redacted := w.redactor.named(w.name(l), value)
	if redacted == value {
		return
	}
	w.out = append(append(w.out, w.text[w.done:l.From]...), jsonstring.Quote(redacted)...)
	w.done = l.To
}

// name is what a value goes by: the member's name, or the option in front of it in a list
// of arguments.
func (w *walk) name(l jsonstring.Literal) string {
	if w.before.To == 0 {
		return ""
	}
	between := string(bytes.TrimSpace(w.text[w.before.To:l.From]))
	if w.before.Name && between != ":" || !w.before.Name && between != "," {
		return ""
	}
	name, _ := jsonstring.Unquote(w.text[w.before.From:w.before.To])
	if !w.before.Name && !strings.HasPrefix(name, "--") {
		return ""
	}
	return name
}

// named redacts a value that has a name of its own.
func (r *Redactor) named(name, value string) string {
	if rule := assigned(name, value); rule != "" {
		return mark(rule)
	}
	if isReference(value) {
		return r.whole(value)
	}
	return r.Text(value)
}

// whole replaces a value only as a whole.
func (r *Redactor) whole(value string) string {
	if r != nil && r.known != nil && r.known.is(value) {
		return mark(knownName)
	}
	return value
}

// isReference reports whether a string is an id or a digest, and nothing else. Part of it
// may by chance look like a short secret.
func isReference(s string) bool {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "sha256:"), "art_")
	switch len(s) {
	case 40, 64:
		return strings.Trim(s, "0123456789abcdef") == ""
	case 36:
		return s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' && strings.Trim(s, "0123456789abcdef-") == ""
	}
	return false
}
