package capabilities

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/schema"
	"github.com/aircoding/air/runtime"
)

// effectiveConfig is the config of the project over the defaults of the schema's
// properties, and is what the schema allows.
func effectiveConfig(m *Manifest, given json.RawMessage) (json.RawMessage, error) {
	if m.ConfigSchema == nil {
		if len(given) > 0 {
			return nil, badConfig(m, errors.New("the capability takes no config"))
		}
		return json.RawMessage(`{}`), nil
	}
	merged, err := mergeConfig(m.ConfigSchema, given)
	if err != nil {
		return nil, badConfig(m, err)
	}
	s, err := schema.Compile(m.ConfigSchema)
	if err != nil {
		return nil, badConfig(m, err)
	}
	if err := s.Validate(merged); err != nil {
		return nil, badConfig(m, err)
	}
	return merged, nil
}

func badConfig(m *Manifest, err error) error {
	return fault.New(fault.InvalidInput, "bad_config", "config of %s: %w", m.CapabilityID, err).
		WithHint("set it under capabilities.%s.config in .air/shared/%s, then air accept", m.CapabilityID, settingsFile)
}

func mergeConfig(schemaText, given json.RawMessage) (json.RawMessage, error) {
	var known struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schemaText, &known) // a schema that is true, or lists no properties, has no defaults
	merged := map[string]json.RawMessage{}
	for name, property := range known.Properties {
		var p struct {
			Default json.RawMessage `json:"default"`
		}
		if json.Unmarshal(property, &p) == nil && p.Default != nil {
			merged[name] = p.Default
		}
	}
	if len(given) > 0 {
		var own map[string]json.RawMessage
		if err := json.Unmarshal(given, &own); err != nil {
			return nil, fmt.Errorf("want an object: %w", err)
		}
		maps.Copy(merged, own)
	}
	return canon.Marshal(merged)
}

// lowered are the limits with those of the project where they are lower: what was
// consented to is never exceeded.
func lowered(l, project runtime.Limits) runtime.Limits {
	for _, pair := range []struct{ have, want *int64 }{
		{&l.MemoryBytes, &project.MemoryBytes}, {&l.TimeoutMS, &project.TimeoutMS},
		{&l.InputBytes, &project.InputBytes}, {&l.OutputBytes, &project.OutputBytes},
		{&l.HostCalls, &project.HostCalls}, {&l.CallDepth, &project.CallDepth},
		{&l.LogBytes, &project.LogBytes}, {&l.ConcurrentCalls, &project.ConcurrentCalls},
	} {
		if *pair.want > 0 {
			*pair.have = min(*pair.have, *pair.want)
		}
	}
	return l
}
