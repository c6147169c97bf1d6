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
	"github.com/aircoding/air/internal/glob"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/yamldoc"
	"github.com/aircoding/air/oci"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

const settingsFile = "capabilities.yaml"

// settings are what a project's shared capabilities.yaml says. Until a person accepted
// the file, only what it forbids counts.
type settings struct {
	SchemaVersion int                `json:"schema_version"`
	Capabilities  map[string]setting `json:"capabilities,omitempty"`
	Policy        policy             `json:"policy,omitzero"`

	accepted bool
}

type setting struct {
	Enabled       *bool                      `json:"enabled,omitempty"`
	Digest        string                     `json:"digest,omitempty"`
	Config        json.RawMessage            `json:"config,omitempty"`
	Limits        runtime.Limits             `json:"limits,omitzero"`
	DurableEvents map[string]json.RawMessage `json:"durable_events,omitempty"`
}

type policy struct {
	RequireSignature []string               `json:"require_signature,omitempty"`
	Ceiling          *PermissionDeclaration `json:"ceiling,omitempty"`
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
	if err := s.parse(text); err != nil {
		return nil, badSettings(file, err)
	}
	return s, nil
}

// CheckSettings refuses a capabilities.yaml that could not be loaded. file is how the
// error names it.
func CheckSettings(file string, text []byte) error {
	if err := new(settings).parse(text); err != nil {
		return badSettings(file, err)
	}
	return nil
}

func badSettings(where string, err error) error {
	return fault.New(fault.InvalidInput, "bad_settings", "%s: %w", where, err).
		WithHint("no capability can be used until the file is right or gone: what it forbids cannot be read")
}

func (s *settings) parse(text []byte) error {
	doc, _, err := yamldoc.Decode(text, s)
	if err != nil {
		return err
	}
	var p problems
	if s.SchemaVersion != 1 {
		p.add("/schema_version", "is %d, this air knows 1", s.SchemaVersion)
	}
	for _, id := range slices.Sorted(maps.Keys(s.Capabilities)) {
		s.Capabilities[id].check(id, &p)
	}
	if s.Policy.Ceiling != nil {
		checkPermissions(*s.Policy.Ceiling, "/policy/ceiling", &p)
	}
	for i, pattern := range s.Policy.RequireSignature {
		if err := permission.CheckPattern(pattern); err != nil {
			p.add(item("/policy/require_signature", i), "%v", err)
		}
	}
	if len(p.list) == 0 {
		checkOwnSchema("capabilities", doc, &p)
	}
	if len(p.list) > 0 {
		return &InvalidError{Problems: p.list, More: p.more}
	}
	return nil
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
		if !strings.HasPrefix(name, "capability."+id+".") {
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

// forbids says why a capability may not be enabled or used here. It counts whether or
// not the file was accepted: forbidding needs nobody's consent.
func (s *settings) forbids(m *Manifest, reference string) error {
	if on := s.Capabilities[m.CapabilityID].Enabled; on != nil && !*on {
		return forbidden("%s is switched off in %s", m.CapabilityID, settingsFile)
	}
	if c := s.Policy.Ceiling; c != nil {
		if more := beyond(m.Permissions, *c); len(more) > 0 {
			return forbidden("%s asks for more than the project's ceiling in %s allows: %s", m.CapabilityID, settingsFile, strings.Join(more, ", "))
		}
	}
	for _, pattern := range s.Policy.RequireSignature {
		if g, err := glob.Compile(pattern); err != nil || g.Match(reference) {
			return forbidden("%s requires a signature for %s, and this version of air cannot verify signatures yet", settingsFile, pattern)
		}
	}
	return nil
}

func forbidden(format string, args ...any) error {
	return fault.New(fault.PermissionDenied, "project_policy", format, args...).
		WithHint("the project's .air/shared/%s says so: its owners can change it", settingsFile)
}
