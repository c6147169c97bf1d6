// Package plainjson encodes JSON that people read too: <, > and & stay as they are.
package plainjson

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal for what no web page has in it.
func Marshal(v any) ([]byte, error) {
	text, err := encode(v, "")
	return bytes.TrimSuffix(text, []byte("\n")), err
}

// Lines is v on several lines, with two spaces a level, and ends with the last of them.
func Lines(v any) ([]byte, error) { return encode(v, "  ") }

func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}
