package yamldoc

import (
	"bytes"
	"encoding/json"
	"errors"
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
	if err := checkKeys(tree, reflect.TypeOf(into), "", lines); err != nil {
		return err
	}
	err := json.Unmarshal(doc, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		at := pointerAt(doc, wrong.Offset)
		return &Error{Line: lines[at], Pointer: at, Reason: fmt.Sprintf("%s: got %s, want %s", name(at), wrong.Value, kindName(wrong.Type))}
	}
	if err != nil {
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

// checkKeys compares keys with struct fields letter by letter. encoding/json would
// ignore unknown ones, and take "Mode" for "mode".
func checkKeys(tree any, t reflect.Type, at string, lines Lines) error {
	for t != nil && t.Kind() == reflect.Pointer && !decodesItself(t) {
		t = t.Elem()
	}
	if t == nil || decodesItself(t) || decodesItself(reflect.PointerTo(t)) {
		return nil
	}
	switch tree := tree.(type) {
	case map[string]any:
		return checkObject(tree, t, at, lines)
	case []any:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
			return nil // json.Unmarshal says what is wrong
		}
		for i, item := range tree {
			if err := checkKeys(item, t.Elem(), at+"/"+strconv.Itoa(i), lines); err != nil {
				return err
			}
		}
	}
	return nil
}

func decodesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Unmarshaler]())
}

func checkObject(tree map[string]any, t reflect.Type, at string, lines Lines) error {
	var fields map[string]reflect.Type
	switch t.Kind() {
	case reflect.Struct:
		fields = map[string]reflect.Type{}
		collectFields(t, fields)
	case reflect.Map:
	default:
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		here := child(at, key)
		field := fields[key]
		if t.Kind() == reflect.Map {
			field = t.Elem()
		} else if field == nil {
			return &Error{Line: lines[here], Pointer: here, Reason: fmt.Sprintf("unknown key %.80q%s", key, suggestion(key, fields))}
		}
		if err := checkKeys(tree[key], field, here, lines); err != nil {
			return err
		}
	}
	return nil
}

func child(at, key string) string { return at + "/" + canon.EscapePointer(key) }

func collectFields(t reflect.Type, into map[string]reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
			collectFields(f.Type, into)
		case !f.IsExported() || tag == "-":
		case tag == "":
			into[f.Name] = f.Type
		default:
			into[tag] = f.Type
		}
	}
}

func suggestion(key string, known map[string]reflect.Type) string {
	names := slices.Sorted(maps.Keys(known))
	if len(names) == 0 {
		return ": none is known here"
	}
	if near := Nearest(key, names); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return fmt.Sprintf(", known here: %.300s", strings.Join(names, ", "))
}

// kindName is how a person who writes documents calls a Go type.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Struct, reflect.Map:
		return "mapping"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "whole number, not negative"
	}
	return t.String()
}
