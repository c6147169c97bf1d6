package redact

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/jsonstring"
	"github.com/aircoding/air/internal/literal"
)

// knownName is the rule that replaces values that the person stored.
const knownName = "secret"

// shortest is the number of bytes from which a value is looked for.
const shortest = 6

// known are values and the ways to write them.
type known struct {
	values    []string
	spellings []spelling
	set       *literal.Set
}

type spelling struct {
	text   string
	base64 bool // what is around it in the same encoding belongs to it
}

func newKnown(values []string) *known {
	k := &known{}
	for _, value := range values {
		for _, v := range []string{value, strings.TrimSpace(value)} {
			if len(v) >= shortest && !slices.Contains(k.values, v) {
				k.values = append(k.values, v)
				k.spell(v)
			}
		}
	}
	if len(k.values) == 0 {
		return nil
	}
	texts := []literal.Text{{Text: markBegin}}
	for _, s := range k.spellings {
		texts = append(texts, literal.Text{Text: s.text})
	}
	k.set = literal.New(texts)
	return k
}

func (k *known) spell(value string) {
	for _, text := range []string{value, inJSON(value), inHTML(value), url.QueryEscape(value), url.PathEscape(value), lowerEscapes(url.QueryEscape(value)), lowerEscapes(url.PathEscape(value))} {
		k.add(spelling{text: text})
	}
	for shift := range 3 {
		core := inBase64(value, shift)
		k.add(spelling{text: core, base64: true})
		k.add(spelling{text: strings.NewReplacer("+", "-", "/", "_").Replace(core), base64: true})
	}
}

func (k *known) add(s spelling) {
	if len(s.text) >= shortest && !slices.ContainsFunc(k.spellings, func(o spelling) bool { return o.text == s.text }) {
		k.spellings = append(k.spellings, s)
	}
}

func inJSON(value string) string {
	quoted := string(jsonstring.Quote(value))
	return quoted[1 : len(quoted)-1]
}

// inHTML is how encoding/json writes a value that may stand in a page.
func inHTML(value string) string {
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(inJSON(value))
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// inBase64 are the characters that stand for the value and nothing else where it begins
// shift bytes into a group of three.
func inBase64(value string, shift int) string {
	encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + value))
	from := []int{0, 2, 3}[shift]
	to := (shift + len(value)) * 8 / 6
	return encoded[from:to]
}

func (k *known) is(text string) bool { return slices.Contains(k.values, text) }

func (k *known) replace(text string) string {
	var b strings.Builder
	done, free := 0, 0 // what of text is in b, and where the last mark in text ends
	k.set.Each(text, func(at, id int) int {
		if id == 0 {
			free = afterMark(text, at)
			return free
		}
		s := k.spellings[id-1]
		from, to := at, at+len(s.text)
		if s.base64 {
			from, to = widen(text, max(done, free), from, to)
		}
		b.WriteString(text[done:from])
		b.WriteString(mark(knownName))
		done = to
		return to
	})
	free = max(done, free)
	if cut := free + k.cut(text[free:]); cut < len(text) {
		return b.String() + text[done:cut] + mark(knownName)
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// widen takes the rest of an encoded text in.
func widen(text string, least, from, to int) (int, int) {
	for from > least && isBase64(text[from-1]) {
		from--
	}
	for to < len(text) && (isBase64(text[to]) || text[to] == '=') {
		to++
	}
	return from, to
}

// cut is where at the end of a text a value begins of which the rest is missing; the
// length of the text where none does.
func (k *known) cut(text string) int {
	at := len(text)
	for _, s := range k.spellings {
		for n := min(len(s.text)-1, len(text)); n >= shortest; n-- {
			if strings.HasSuffix(text, s.text[:n]) {
				at = min(at, len(text)-n)
				break
			}
		}
	}
	return at
}
