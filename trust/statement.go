package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aircoding/air/internal/canon"
)

// subject returns the digest that a statement is about.
func subject(payload []byte) (string, error) {
	statement, err := document(payload, "_type", "subject", "predicateType", "predicate")
	if err != nil {
		return "", fmt.Errorf("statement: %w", err)
	}
	if err := constant(statement["_type"], statementType); err != nil {
		return "", fmt.Errorf("statement type: %w", err)
	}
	if err := constant(statement["predicateType"], PredicateType); err != nil {
		return "", fmt.Errorf("predicate type: %w", err)
	}
	if statement["predicate"][0] != '{' {
		return "", errors.New("predicate: an object is wanted")
	}
	one, err := only(statement["subject"])
	if err != nil {
		return "", fmt.Errorf("subject: %w", err)
	}
	return digestOf(one)
}

func digestOf(subject json.RawMessage) (string, error) {
	fields, err := object(subject, []string{"digest"}, "annotations", "name")
	if err != nil {
		return "", fmt.Errorf("subject: %w", err)
	}
	algorithms, err := object(fields["digest"], []string{"sha256"})
	if err != nil {
		return "", fmt.Errorf("subject: its digest: %w", err)
	}
	var hex string
	if err := json.Unmarshal(algorithms["sha256"], &hex); err != nil || !digestForm.MatchString("sha256:"+hex) {
		return "", errors.New("subject: its digest has not 64 hex digits")
	}
	return "sha256:" + hex, nil
}

// document is object for a whole document, which it holds against the bounds first.
func document(doc []byte, required ...string) (map[string]json.RawMessage, error) {
	if err := canon.Check(doc, canon.Limits{Bytes: MaxBytes, Depth: 16, Values: 1024, Strict: true}); err != nil {
		return nil, err
	}
	return object(doc, required)
}

// object returns the fields of a JSON object: all that are required, and no others than
// those that are optional. encoding/json alone would take Payload for payload.
func object(raw json.RawMessage, required []string, optional ...string) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return nil, errors.New("an object is wanted")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(required, name) && !slices.Contains(optional, name) {
			return nil, fmt.Errorf("the field %.40q is not known", name)
		}
	}
	for _, name := range required {
		if fields[name] == nil {
			return nil, fmt.Errorf("the field %q is missing", name)
		}
	}
	return fields, nil
}

// only returns the element of an array that has just one.
func only(raw json.RawMessage) (json.RawMessage, error) {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil || len(all) != 1 {
		return nil, errors.New("an array of exactly one is wanted")
	}
	return all[0], nil
}

func constant(raw json.RawMessage, want string) error {
	var got string
	if err := json.Unmarshal(raw, &got); err != nil || got != want {
		return fmt.Errorf("%s is wanted", want)
	}
	return nil
}
