package capabilities

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/yamldoc"
)

const (
	maxManifest = 256 << 10
	maxDepth    = 32
)

// ParseManifest reads a manifest in its JSON form and refuses it with every problem
// that it has, each by its JSON pointer.
func ParseManifest(doc []byte) (*Manifest, error) {
	var p problems
	whole := checkText(doc, &p)
	lines, err := yamldoc.LinesOf(doc) // up to where it is broken
	if whole && err != nil {
		p.add("", "%v", err)
	}
	delete(lines, "") // what is said of the whole document stands on no line of it
	return parseManifest(doc, lines, 0, &p)
}

// parseCapabilityMD reads a manifest from the YAML front matter of CAPABILITY.md. What
// follows it is the help text.
func parseCapabilityMD(text []byte) (m *Manifest, help []byte, err error) {
	var p problems
	front, help, ok := splitFrontMatter(text)
	if !ok {
		p.add("", "CAPABILITY.md does not begin with YAML front matter: a line ---, the manifest, a line ---")
		return nil, nil, p.err(nil, 0)
	}
	doc, lines, err := yamldoc.ToJSON(front)
	if err != nil {
		return nil, nil, yamlProblem(err)
	}
	checkText(doc, &p)
	m, err = parseManifest(doc, lines, fence, &p)
	return m, help, err
}

// fence is how many lines stand before the front matter in its file.
const fence = 1

// parseManifest reads a document of which the text was checked; p has what was found
// then. Its lines are counted from below others.
func parseManifest(doc []byte, lines yamldoc.Lines, above int, p *problems) (*Manifest, error) {
	if len(p.list) > 0 {
		return nil, p.err(lines, above)
	}
	tree, canonical := decodeTree(doc, p)
	if len(p.list) > 0 {
		return nil, p.err(lines, above)
	}
	for _, mistake := range yamldoc.Check(tree, reflect.TypeFor[Manifest](), true) {
		p.add(mistake.Pointer, "%s", mistake.Reason)
	}
	m, err := decodeManifest(canonical)
	if err != nil && len(p.list) == 0 {
		p.add("", "%v", err)
	}
	if err == nil {
		validate(m, p)
	}
	if len(p.list) == 0 {
		checkOwnSchema("capability", canonical, p)
	}
	if err := p.err(lines, above); err != nil {
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
	err := canon.Check(doc, canon.Limits{Bytes: maxManifest, Depth: maxDepth, Strict: true})
	if err != nil {
		p.addLocated(err.Error())
	}
	return err == nil
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
		return p.err(nil, 0)
	}
	p.add(y.Pointer, "%s", y.Reason)
	return p.err(yamldoc.Lines{y.Pointer: y.Line}, fence)
}
