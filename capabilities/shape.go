package capabilities

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/yamldoc"
)

// checkShape compares a decoded document with the Go type it is meant for and reports
// every unknown key, missing key and wrong type. yamldoc stops at the first of them;
// a manifest's author is told of all. Fields without omitempty are required.
func checkShape(tree any, t reflect.Type, at string, p *problems) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return // a schema: compiled later
	}
	if !kindFits(tree, t) {
		p.add(at, "got %s, want %s", jsonKind(tree), goKind(t))
		return
	}
	switch tree := tree.(type) {
	case map[string]any:
		checkFields(tree, fieldsOf(t), at, p)
	case []any:
		for i, item := range tree {
			checkShape(item, t.Elem(), at+"/"+strconv.Itoa(i), p)
		}
	}
}

func checkFields(tree map[string]any, fields map[string]field, at string, p *problems) {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		f, known := fields[key]
		if !known {
			p.add(child(at, key), "unknown key%s", didYouMean(key, fields))
			continue
		}
		checkShape(tree[key], f.kind, child(at, key), p)
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if _, present := tree[key]; !present && fields[key].required {
			p.add(child(at, key), "is missing")
		}
	}
}

type field struct {
	kind     reflect.Type
	required bool
}

func fieldsOf(t reflect.Type) map[string]field {
	fields := map[string]field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" {
			fields[name] = field{f.Type, options == ""}
		}
	}
	return fields
}

func didYouMean(key string, fields map[string]field) string {
	known := slices.Sorted(maps.Keys(fields))
	if near := yamldoc.Nearest(key, known); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ", known here: " + strings.Join(known, ", ")
}

func child(at, key string) string { return at + "/" + canon.EscapePointer(key) }

func kindFits(tree any, t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		_, ok := tree.(map[string]any)
		return ok
	case reflect.Slice:
		_, ok := tree.([]any)
		return ok
	case reflect.String:
		_, ok := tree.(string)
		return ok
	case reflect.Bool:
		_, ok := tree.(bool)
		return ok
	case reflect.Int, reflect.Int64:
		n, ok := tree.(json.Number)
		if !ok {
			return false
		}
		_, err := strconv.ParseInt(string(n), 10, 64)
		return err == nil
	}
	return false
}

func goKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	}
	return "a whole number"
}

func jsonKind(tree any) string {
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
