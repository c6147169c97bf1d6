package capabilities

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/yamldoc"
)

const (
	maxManifest = 256 << 10
	maxDepth    = 32
	maxKey      = 256 // bytes as written, of a key
)

// ParseManifest reads a manifest in its JSON form and refuses it with every problem
// that it has, each by its JSON pointer.
func ParseManifest(doc []byte) (*Manifest, error) {
	return parseManifest(doc, thirdParty, jsonLines(doc))
}

// ParseCapabilityMD reads a manifest from the YAML front matter of CAPABILITY.md. What
// follows it is the help text.
func ParseCapabilityMD(text []byte) (m *Manifest, help []byte, err error) {
	front, help, ok := splitFrontMatter(text)
	if !ok {
		var p problems
		p.add("", "CAPABILITY.md does not begin with YAML front matter: a line ---, the manifest, a line ---")
		return nil, nil, p.err(noLines)
	}
	doc, lines, err := yamldoc.ToJSON(front)
	if err != nil {
		return nil, nil, yamlProblem(err)
	}
	m, err = parseManifest(doc, thirdParty, yamlLines(lines))
	return m, help, err
}

// origin says whose manifest is read: the rules for air's own differ.
type origin int

const (
	thirdParty origin = iota
	ours
)

func parseManifest(doc []byte, from origin, lines lineIndex) (*Manifest, error) {
	var p problems
	if !checkText(doc, &p) {
		if p.list[0].Pointer == "" {
			lines = noLines // too large, too deep or no text: not read again
		}
		return nil, p.err(lines)
	}
	tree, canonical := decodeTree(doc, &p)
	if len(p.list) > 0 {
		return nil, p.err(noLines)
	}
	checkShape(tree, reflect.TypeFor[Manifest](), "", &p)
	m, err := decodeManifest(canonical)
	if err != nil && len(p.list) == 0 {
		p.add("", "%v", err)
	}
	if err == nil {
		validate(m, tree, from, &p)
	}
	if len(p.list) == 0 {
		checkOwnSchema("capability", canonical, &p)
	}
	if err := p.err(lines); err != nil {
		return nil, err
	}
	return m, nil
}

// decodeManifest reads a canonical document that has been validated before.
func decodeManifest(canonical []byte) (*Manifest, error) {
	m := &Manifest{canonical: canonical}
	return m, json.Unmarshal(canonical, m)
}

// checkText bounds the document before anything decodes it.
func checkText(doc []byte, p *problems) bool {
	if len(doc) > maxManifest {
		p.add("", "the manifest has %d bytes, the limit is %d", len(doc), maxManifest)
		return false
	}
	if key := longKey(doc); key != "" {
		p.add("", "the key %.40q… has more than %d bytes", key, maxKey)
		return false
	}
	err := canon.Check(doc, canon.Limits{Bytes: maxManifest, Depth: maxDepth, Strict: true})
	if err == nil {
		return true
	}
	at, message, found := strings.Cut(err.Error(), ": ")
	if !found || !strings.HasPrefix(at, "/") {
		at, message = "", err.Error()
	}
	p.add(at, "%s", message)
	return false
}

// longKey returns a key that is longer than any that means something. Each place below
// such a key would carry it in its pointer: a small document would need gigabytes.
func longKey(doc []byte) string {
	for rest := doc; ; {
		start := bytes.IndexByte(rest, '"')
		if start < 0 {
			return ""
		}
		rest = rest[start+1:]
		end := stringEnd(rest)
		text, after := rest[:end], bytes.TrimLeft(rest[min(end+1, len(rest)):], " \t\r\n")
		if len(text) > maxKey && bytes.HasPrefix(after, []byte(":")) {
			return string(text)
		}
		rest = after
	}
}

// stringEnd finds the quotation mark that ends a JSON string.
func stringEnd(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

func decodeTree(doc []byte, p *problems) (tree any, canonical []byte) {
	canonical, err := canon.JSON(doc)
	if err != nil { // such as half a surrogate pair, which has no canonical form
		p.add("", "the manifest has no canonical form: %v", err)
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(canonical))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		p.add("", "%v", err)
	}
	return tree, canonical
}

// splitFrontMatter takes a text apart at its two lines of three hyphens.
func splitFrontMatter(text []byte) (front, body []byte, ok bool) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if !isFence(first) {
		return nil, nil, false
	}
	for at := 0; at < len(rest); {
		line, _, more := bytes.Cut(rest[at:], []byte("\n"))
		next := at + len(line)
		if more {
			next++
		}
		if isFence(line) {
			return rest[:at], rest[next:], true
		}
		at = next
	}
	return nil, nil, false
}

func isFence(line []byte) bool {
	return string(bytes.TrimRight(line, " \t\r")) == "---"
}

func yamlProblem(err error) error {
	var p problems
	var y *yamldoc.Error
	if !errors.As(err, &y) {
		p.add("", "%v", err)
		return p.err(noLines)
	}
	p.add(y.Pointer, "%s", y.Reason)
	return p.err(yamlLines(yamldoc.Lines{y.Pointer: y.Line}))
}
