// Package schema compiles and applies JSON Schemas that may come from anybody: they
// reach nothing outside themselves, and neither they nor a document can make them run
// for ever.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/text"
)

const (
	maxText  = 256 << 10
	maxNodes = 2_000
	// maxSteps bounds values times schema nodes, which bounds what validation does:
	// each value meets each node at most once. About ten seconds where all of it is used.
	maxSteps = 100_000_000
	maxDoc   = 64 << 20
)

// Schema is a compiled JSON Schema, draft 2020-12.
type Schema struct {
	compiled *jsonschema.Schema
	nodes    int

	mu      sync.Mutex // guards pattern, which the compiled schema refers to
	pattern *budget
}

// Compile reads a schema. An empty text accepts every document. A schema whose $ref
// leaves the document or leads back to itself, that has more than 2,000 nodes when all
// references are written out, or a pattern over 1,000 bytes, is refused.
func Compile(text json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = json.RawMessage(`true`)
	}
	if err := canon.Check(text, canon.Limits{Bytes: maxText, Strict: true}); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	doc, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	nodes, err := measure(doc)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s := &Schema{nodes: nodes, pattern: &budget{left: patternSteps}}
	s.compiled, err = compile(doc, s.pattern)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return s, nil
}

func compile(doc any, patterns *budget) (*jsonschema.Schema, error) {
	const here = "air:schema"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(patterns.compile)
	if err := c.AddResource(here, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(here)
	var invalid *jsonschema.SchemaValidationError
	switch {
	case err == nil:
		return compiled, nil
	case errors.As(err, &invalid):
		return nil, explain(invalid.Err)
	}
	return nil, errors.New(text.Cut(quoteless(err.Error()), maxLine))
}

// noLoader keeps a schema from reading files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s lies outside the schema", url)
}

// Validate checks one JSON document. Its error has a line for each of the first five
// mistakes.
func (s *Schema) Validate(doc []byte) error {
	values, err := canon.Count(doc, canon.Limits{Bytes: maxDoc})
	if err != nil {
		return err
	}
	if steps := values * s.nodes; steps > maxSteps {
		return fmt.Errorf("document has %d values, too many for a schema of %d nodes", values, s.nodes)
	}
	tree, err := decode(doc)
	if err != nil {
		return err
	}
	return s.validate(tree)
}

func (s *Schema) validate(tree any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pattern.left = patternSteps
	err := s.compiled.Validate(tree)
	if s.pattern.left < 0 {
		return fmt.Errorf("document: matching it against the schema's patterns takes too long")
	}
	return explain(err)
}

func decode(text []byte) (tree any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&tree)
	return tree, err
}
