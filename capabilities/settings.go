package capabilities

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/yamldoc"
	"github.com/aircoding/air/oci"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
)

const settingsFile = "capabilities.yaml"

// settings are what a project's shared capabilities.yaml says. Until a person accepted
// the file, only what it forbids counts.
type settings struct {
	SchemaVersion int                `json:"schema_version"`
	Capabilities  map[string]setting `json:"capabilities,omitempty"`
	Policy        Policy             `json:"policy,omitzero"`

	accepted bool
}

type setting struct {
	Enabled       *bool                      `json:"enabled,omitempty"`
	Digest        string                     `json:"digest,omitempty"`
	Config        json.RawMessage            `json:"config,omitempty"`
	Limits        runtime.Limits             `json:"limits,omitzero"`
	DurableEvents map[string]json.RawMessage `json:"durable_events,omitempty"`
}

// readSettings reads the file, which a repository may have brought along. A missing
// one says nothing.
func readSettings(file string, accepted func([]byte) bool) (*settings, error) {
	text, err := regular.Read(file, maxManifest, false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &settings{}, nil
	case err != nil:
		return nil, badSettings("reading the settings of capabilities", err)
	}
	s := &settings{accepted: accepted != nil && accepted(text)}
	if _, err := s.parse(text); err != nil {
		return nil, badSettings(file, err)
	}
	return s, nil
}

// CheckSettings refuses a capabilities.yaml that could not be loaded, and one that breaks
// the published schema, which is too slow to be read at every call. file is how the error
// names it.
func CheckSettings(file string, text []byte) error {
	doc, err := new(settings).parse(text)
	if err == nil {
		var p problems
		checkOwnSchema("capabilities", doc, &p)
		err = p.asError()
	}
	if err != nil {
		return badSettings(file, err)
	}
	return nil
}

func badSettings(where string, err error) error {
	return fault.New(fault.InvalidInput, "bad_settings", "%s: %w", where, err).
		WithHint("no capability can be used until the file is right or gone: what it forbids cannot be read")
}

// parse reads a file and returns it as JSON.
func (s *settings) parse(text []byte) (doc []byte, err error) {
	doc, _, err = yamldoc.Decode(text, s)
	if err != nil {
		return nil, err
	}
	var p problems
	if s.SchemaVersion != 1 {
		p.add("/schema_version", "is %d, this air knows 1", s.SchemaVersion)
	}
	for _, id := range slices.Sorted(maps.Keys(s.Capabilities)) {
		s.Capabilities[id].check(id, &p)
	}
	s.Policy.check("/policy", &p)
	return doc, p.asError()
}

func (s setting) check(id string, p *problems) {
	here := "/capabilities/" + canon.EscapePointer(id)
	if !capabilityName.MatchString(id) {
		p.add(here, "%.80q is no capability name", id)
	}
	if s.Digest != "" && !oci.ValidDigest(s.Digest) {
		p.add(here+"/digest", "%.80q is no digest: want sha256: and 64 hex digits", s.Digest)
	}
	if err := s.Limits.Validate(); err != nil {
		p.add(here+"/limits", "%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.DurableEvents)) {
		at := here + "/durable_events/" + canon.EscapePointer(name)
		if !strings.HasPrefix(name, "capability."+id+".") || !event.IsCustom(name) {
			p.add(at, "is not an event of %s", id)
		}
		checkSchema(s.DurableEvents[name], at, p)
	}
}

// of is what counts of the settings of one capability.
func (s *settings) of(id string) setting {
	if !s.accepted {
		return setting{}
	}
	return s.Capabilities[id]
}
