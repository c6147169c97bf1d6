package yamldoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/canon"
)

// decode fills into from a document that canon.Check has passed.
func decode(doc []byte, lines Lines, into any) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return &Error{Reason: err.Error()}
	}
	if mistakes := Check(tree, reflect.TypeOf(into), false); len(mistakes) > 0 {
		first := mistakes[0]
		first.Line = lines[first.Pointer]
		if first.mistyped {
			first.Reason = name(first.Pointer) + ": " + first.Reason
		}
		return first
	}
	if err := json.Unmarshal(doc, into); err != nil {
		return &Error{Reason: err.Error()}
	}
	return nil
}

func name(at string) string {
	if at == "" {
		return "document"
	}
	return fmt.Sprintf("%.160s", at)
}

// Check compares a document, decoded with numbers as json.Number, with the Go type that
// it is meant for, letter by letter: encoding/json would ignore unknown keys, and take
// "Mode" for "mode". It returns all mistakes, without lines. With complete, a key that
// is missing and whose field has no omitempty or omitzero is one, and so is null.
func Check(tree any, t reflect.Type, complete bool) []*Error {
	c := checker{complete: complete}
	c.value(tree, t, "")
	return c.found
}

type checker struct {
	complete bool
	found    []*Error
}

func (c *checker) value(tree any, t reflect.Type, at string) {
	for t.Kind() == reflect.Pointer && !decodesItself(t) {
		t = t.Elem()
	}
	switch {
	case decodesItself(t), decodesItself(reflect.PointerTo(t)), t.Kind() == reflect.Interface, tree == nil && !c.complete:
		return
	case !fits(tree, t):
		c.found = append(c.found, &Error{Pointer: at, Reason: fmt.Sprintf("got %s, want %s", treeName(tree), kindName(t)), mistyped: true})
		return
	}
	switch tree := tree.(type) {
	case map[string]any:
		c.object(tree, t, at)
	case []any:
		for i, item := range tree {
			c.value(item, t.Elem(), at+"/"+strconv.Itoa(i))
		}
	}
}

func decodesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Unmarshaler]())
}

func (c *checker) object(tree map[string]any, t reflect.Type, at string) {
	fields := map[string]field{}
	if t.Kind() == reflect.Struct {
		collectFields(t, fields)
	}
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		f, known := fields[key]
		if t.Kind() == reflect.Map {
			f, known = field{kind: t.Elem()}, true
		}
		if !known {
			c.add(child(at, key), "unknown key %.80q%s", key, suggestion(key, fields))
			continue
		}
		c.value(tree[key], f.kind, child(at, key))
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if _, present := tree[key]; c.complete && fields[key].required && !present {
			c.add(child(at, key), "is missing")
		}
	}
}

func (c *checker) add(at, format string, args ...any) {
	c.found = append(c.found, &Error{Pointer: at, Reason: fmt.Sprintf(format, args...)})
}

func child(at, key string) string { return at + "/" + canon.EscapePointer(key) }

type field struct {
	kind     reflect.Type
	required bool
}

func collectFields(t reflect.Type, into map[string]field) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
			collectFields(f.Type, into)
		case !f.IsExported() || tag == "-":
		case tag == "":
			into[f.Name] = field{f.Type, options == ""}
		default:
			into[tag] = field{f.Type, options == ""}
		}
	}
}

func suggestion(key string, known map[string]field) string {
	names := slices.Sorted(maps.Keys(known))
	if len(names) == 0 {
		return ": none is known here"
	}
	if near := Nearest(key, names); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return fmt.Sprintf(", known here: %.300s", strings.Join(names, ", "))
}

func fits(tree any, t reflect.Type) (ok bool) {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		_, ok = tree.(map[string]any)
	case reflect.Slice, reflect.Array:
		_, ok = tree.([]any)
	case reflect.String:
		_, ok = tree.(string)
	case reflect.Bool:
		_, ok = tree.(bool)
	default:
		n, number := tree.(json.Number)
		return number && json.Unmarshal([]byte(n), reflect.New(t).Interface()) == nil
	}
	return ok
}

// treeName and kindName are how a person who writes documents calls what is there, and
// a Go type.
func treeName(tree any) string {
	switch tree := tree.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(tree)
	case string:
		return "a string"
	case json.Number:
		return fmt.Sprintf("the number %.20s", string(tree))
	case []any:
		return "a list"
	}
	return "an object"
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number, not negative"
	}
	return t.String()
}
