package yamldoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/lazyregexp"
)

// ToJSON turns one YAML document into JSON. It takes the part of YAML that every
// reader reads alike: no anchors, aliases, merges, tags or duplicate keys, keys that
// are strings, and numbers as JSON writes them. An empty document is null.
func ToJSON(text []byte) (doc []byte, lines Lines, err error) {
	if len(text) > maxBytes {
		return nil, nil, &Error{Reason: fmt.Sprintf("document has %d bytes, the limit is %d", len(text), maxBytes)}
	}
	root, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	w := writer{lines: Lines{}}
	if root == nil {
		return []byte("null"), w.lines, nil
	}
	if err := w.value(root, "", 0); err != nil {
		return nil, nil, err
	}
	if err := canon.Check(w.out.Bytes(), canon.Limits{Strict: true}); err != nil {
		return nil, nil, &Error{Reason: err.Error()}
	}
	return w.out.Bytes(), w.lines, nil
}

// parse returns the document's root, nil when it is empty.
func parse(text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := dec.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxError(err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, &Error{Line: second.Line, Reason: "a second document: one is wanted"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(err)
	}
	return document.Content[0], nil
}

var syntax = lazyregexp.New(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

func syntaxError(err error) error {
	m := syntax.FindStringSubmatch(err.Error())
	if m == nil {
		return &Error{Reason: err.Error()}
	}
	line, _ := strconv.Atoi(m[1]) // none is 0, which means unknown
	return &Error{Line: line, Reason: m[2]}
}

type writer struct {
	out      bytes.Buffer
	lines    Lines
	pointers int
}

func (w *writer) value(n *yaml.Node, at string, depth int) error {
	w.lines[at] = n.Line
	w.pointers += len(at)
	switch {
	case w.pointers > maxPointers:
		return errLongKeys()
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return fail(n, at, "anchors and aliases are not allowed")
	case n.Style&yaml.TaggedStyle != 0:
		return fail(n, at, "tags such as %.40q are not allowed", n.Tag)
	case n.Kind == yaml.ScalarNode:
		return w.scalar(n, at)
	case depth >= maxDepth:
		return fail(n, at, "nesting deeper than %d levels", maxDepth)
	case n.Kind == yaml.SequenceNode:
		return w.sequence(n, at, depth)
	}
	return w.mapping(n, at, depth)
}

func (w *writer) sequence(n *yaml.Node, at string, depth int) error {
	w.out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.value(item, at+"/"+strconv.Itoa(i), depth+1); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}

func (w *writer) mapping(n *yaml.Node, at string, depth int) error {
	first := map[string]int{}
	w.out.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if err := checkKey(key, at); err != nil {
			return err
		}
		if line, again := first[key.Value]; again {
			return fail(key, at, "duplicate key %.80q, first on line %d", key.Value, line)
		}
		first[key.Value] = key.Line
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.text(key.Value)
		w.out.WriteByte(':')
		here := at + "/" + canon.EscapePointer(key.Value)
		if err := w.value(n.Content[i+1], here, depth+1); err != nil {
			return err
		}
		w.lines[here] = key.Line // where a person looks for the setting
	}
	w.out.WriteByte('}')
	return nil
}

func checkKey(key *yaml.Node, at string) error {
	switch {
	case key.Kind == yaml.AliasNode || key.Anchor != "":
		return fail(key, at, "anchors and aliases are not allowed")
	case key.ShortTag() == "!!merge":
		return fail(key, at, "merging with << is not allowed")
	case key.Kind != yaml.ScalarNode || key.Style&yaml.TaggedStyle != 0:
		return fail(key, at, "a key must be a plain or quoted string")
	case key.ShortTag() != "!!str" && key.ShortTag() != "!!timestamp":
		return fail(key, at, "the key %.80q is not a string: quote it", key.Value)
	}
	return nil
}

var jsonNumber = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func (w *writer) scalar(n *yaml.Node, at string) error {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Style&quoted == 0 && jsonNumber.MatchString(n.Value) {
		w.out.WriteString(n.Value) // also what the YAML library takes for text: 1e999
		return nil
	}
	switch n.ShortTag() {
	case "!!null":
		w.out.WriteString("null")
	case "!!bool":
		w.out.Write(bytes.ToLower([]byte(n.Value)))
	case "!!int", "!!float":
		return fail(n, at, "%.80q is a number to some YAML readers only: write it in decimal, or quote it to mean the text", n.Value)
	case "!!merge":
		return fail(n, at, "merging with << is not allowed")
	default:
		w.text(n.Value)
	}
	return nil
}

func (w *writer) text(s string) {
	enc := json.NewEncoder(&w.out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string into memory: it cannot fail
	w.out.Truncate(w.out.Len() - 1)
}

func errLongKeys() error { return &Error{Reason: "keys too long for so many values"} }

func fail(n *yaml.Node, at, format string, args ...any) error {
	return &Error{Line: n.Line, Pointer: at, Reason: fmt.Sprintf(format, args...)}
}
