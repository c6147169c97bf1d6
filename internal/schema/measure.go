package schema

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/canon"
)

const dialect = "https://json-schema.org/draft/2020-12/schema"

// measure counts the nodes of a schema with all its references written out. It refuses
// what has no end and what means something else elsewhere.
func measure(doc any) (int, error) {
	m := meter{root: doc, sizes: map[string]int{}}
	return m.node(doc, "")
}

type meter struct {
	root  any
	sizes map[string]int // nodes below a pointer; open while they are being counted
}

const open = -1

func (m *meter) node(node any, at string) (int, error) {
	switch size, known := m.sizes[at]; {
	case known && size == open:
		return 0, fmt.Errorf("%s refers to itself", name(at))
	case known:
		return size, nil
	}
	object, ok := node.(map[string]any)
	if !ok {
		return 1, nil // true, false, or what compiling refuses
	}
	m.sizes[at] = open
	size, err := m.object(object, at)
	m.sizes[at] = size
	if err == nil && size > maxNodes {
		err = fmt.Errorf("%s: over %d nodes with its references written out", name(at), maxNodes)
	}
	return size, err
}

func (m *meter) object(object map[string]any, at string) (int, error) {
	if err := checkIdentity(object, at); err != nil {
		return 0, err
	}
	size := 1
	if ref, ok := object["$ref"]; ok {
		n, err := m.reference(ref, at)
		if err != nil {
			return 0, err
		}
		size += n
	}
	for keyword, value := range object {
		n, err := m.keyword(keyword, value, at+"/"+canon.EscapePointer(keyword))
		if err != nil {
			return 0, err
		}
		size = min(size+n, maxNodes+1)
	}
	return size, nil
}

// checkIdentity refuses keywords that change what a $ref means, or that make it depend
// on who refers: neither has a use in a schema that is one document.
func checkIdentity(object map[string]any, at string) error {
	if s, ok := object["$schema"]; ok && s != dialect && s != dialect+"#" {
		return fmt.Errorf("%s: $schema is not draft 2020-12 (%s)", name(at), dialect)
	}
	if _, ok := object["$id"]; ok && at != "" {
		return fmt.Errorf("%s: $id is only allowed at the top", name(at))
	}
	for _, keyword := range []string{"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"} {
		if _, ok := object[keyword]; ok {
			return fmt.Errorf("%s: %s is not allowed", name(at), keyword)
		}
	}
	return nil
}

// keyword counts the subschemas of one keyword. Those in $defs count where they are
// referred to.
func (m *meter) keyword(keyword string, value any, at string) (int, error) {
	switch keyword {
	case "$defs", "definitions":
		_, err := m.each(value, at)
		return 0, err
	case "properties", "patternProperties", "dependentSchemas", "dependencies", "allOf", "anyOf", "oneOf", "prefixItems":
		return m.each(value, at)
	case "items", "additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema":
		if list, ok := value.([]any); ok {
			return m.each(list, at)
		}
		return m.node(value, at)
	}
	return 0, nil
}

func (m *meter) each(value any, at string) (int, error) {
	size := 0
	add := func(key string, node any) error {
		n, err := m.node(node, at+"/"+canon.EscapePointer(key))
		size = min(size+n, maxNodes+1)
		return err
	}
	switch value := value.(type) {
	case []any:
		for i, node := range value {
			if err := add(strconv.Itoa(i), node); err != nil {
				return 0, err
			}
		}
	case map[string]any:
		for key, node := range value {
			if err := add(key, node); err != nil {
				return 0, err
			}
		}
	}
	return size, nil
}

func (m *meter) reference(ref any, at string) (int, error) {
	text, _ := ref.(string)
	if text != "#" && !strings.HasPrefix(text, "#/") {
		return 0, fmt.Errorf("%s: $ref %.80q: only #/… within the schema is allowed", name(at), text)
	}
	pointer, err := url.PathUnescape(text[1:])
	if err != nil {
		return 0, fmt.Errorf("%s: $ref %.80q: %w", name(at), text, err)
	}
	node, ok := find(m.root, pointer)
	if !ok {
		return 0, fmt.Errorf("%s: $ref %.80q: there is nothing there", name(at), text)
	}
	return m.node(node, pointer)
}

func find(node any, pointer string) (any, bool) {
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch parent := node.(type) {
		case map[string]any:
			child, ok := parent[token]
			if !ok {
				return nil, false
			}
			node = child
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(parent) {
				return nil, false
			}
			node = parent[i]
		default:
			return nil, false
		}
	}
	return node, true
}
