// Package capabilities knows what a capability is and what this machine and project
// have of them: manifests, bundles, the install store, and what a person enabled. It
// never runs one.
package capabilities

import (
	"encoding/json"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// Manifest is what a capability declares about itself. All of it is a claim of its
// publisher; what is granted is decided elsewhere.
type Manifest struct {
	SchemaVersion int                   `json:"schema_version"`
	CapabilityID  string                `json:"capability_id"`
	DisplayName   string                `json:"display_name"`
	Version       string                `json:"version"`
	Description   string                `json:"description"`
	Publisher     string                `json:"publisher,omitempty"`
	Source        Source                `json:"source"`
	TrustLevel    TrustLevel            `json:"trust_level"`
	Tools         []ToolDeclaration     `json:"tools"`
	Dependencies  []Dependency          `json:"dependencies,omitempty"`
	Permissions   PermissionDeclaration `json:"permissions"`
	Events        EventDeclaration      `json:"events,omitzero"`
	ArtifactTypes []string              `json:"artifact_types,omitempty"`
	ConfigSchema  json.RawMessage       `json:"config_schema,omitempty"`
	Entrypoint    *Entrypoint           `json:"entrypoint,omitempty"`

	canonical []byte // the RFC 8785 form of the document this was read from
}

// Canonical returns the RFC 8785 form of the manifest.
func (m *Manifest) Canonical() []byte { return m.canonical }

// Hash is the digest of the canonical form.
func (m *Manifest) Hash() string { return canon.Digest(m.canonical) }

// Tool returns the declaration of a tool.
func (m *Manifest) Tool(name string) (ToolDeclaration, bool) {
	for _, t := range m.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return ToolDeclaration{}, false
}

// ToolNames lists the tools in the order of the manifest.
func (m *Manifest) ToolNames() []string {
	names := make([]string, len(m.Tools))
	for i, t := range m.Tools {
		names[i] = t.Name
	}
	return names
}

// limits are those of the entrypoint, the defaults filled in.
func (m *Manifest) limits() runtime.Limits {
	if m.Entrypoint == nil {
		return runtime.Limits{}.WithDefaults()
	}
	return m.Entrypoint.Limits.WithDefaults()
}

// abi is how the module is called; "" where there is none.
func (m *Manifest) abi() hostabi.ABI {
	if m.Entrypoint == nil {
		return ""
	}
	return m.Entrypoint.ABI
}

// Useless lists the permissions that the manifest declares and that count for nothing: a
// program calls no tools, and so has no use for any.
func (m *Manifest) Useless() []string {
	if m.abi().KnowsAir() {
		return nil
	}
	declared := beyond(m.Permissions, PermissionDeclaration{})
	if len(m.Permissions.Scopes.Tools) > 0 {
		declared = append(declared, "scopes.tools")
	}
	return declared
}

// Source is where a capability came from. In a manifest it is a claim, in the install
// store what was recorded.
type Source struct {
	Kind       string `json:"kind"` // built_in, local_path, git, registry
	Path       string `json:"path,omitempty"`
	URL        string `json:"url,omitempty"`
	Ref        string `json:"ref,omitempty"`
	RegistryID string `json:"registry_id,omitempty"`
	Package    string `json:"package,omitempty"`
	Version    string `json:"version,omitempty"`
}

// String is the source in one line.
func (s Source) String() string {
	switch s.Kind {
	case "built_in":
		return "part of air"
	case "local_path":
		return "folder " + s.Path
	case "git":
		return "git " + join(s.URL, "@", s.Ref)
	case "registry":
		return "registry " + join(s.RegistryID+"/"+s.Package, ":", s.Version)
	}
	return "unknown"
}

func join(a, separator, b string) string {
	if b == "" {
		return a
	}
	return a + separator + b
}

// TrustLevel says how much is known of a capability's origin. It affects prompts and
// defaults and bypasses nothing.
type TrustLevel string

// The levels of the trust model. All but the claims in a manifest are computed.
const (
	BuiltIn           TrustLevel = "built_in"
	ProjectLocal      TrustLevel = "project_local"
	UserInstalled     TrustLevel = "user_installed"
	VerifiedPublisher TrustLevel = "verified_publisher"
	Untrusted         TrustLevel = "untrusted"
)

// ToolDeclaration declares one tool.
type ToolDeclaration struct {
	Name         string          `json:"name"`
	Version      int             `json:"version"`
	Category     string          `json:"category"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Streaming    bool            `json:"streaming,omitempty"`
	Permissions  ToolPermissions `json:"permissions"`
	Annotations  Annotations     `json:"annotations,omitzero"`
}

// ToolPermissions are the flags of one tool, never more than its capability's.
type ToolPermissions struct {
	ReadPaths       bool `json:"read_paths,omitempty"`
	WritePaths      bool `json:"write_paths,omitempty"`
	Execute         bool `json:"execute,omitempty"`
	Network         bool `json:"network,omitempty"`
	SystemSensitive bool `json:"system_sensitive,omitempty"`
	Credentials     bool `json:"credentials,omitempty"`
}

// Annotations are shown to people and never trusted.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"read_only,omitempty"`
	Destructive *bool  `json:"destructive,omitempty"`
	Idempotent  *bool  `json:"idempotent,omitempty"`
}

// Dependency is something that the machine must have. Declaring it installs nothing.
type Dependency struct {
	DependencyID    string     `json:"dependency_id"`
	Kind            string     `json:"kind"`
	Required        bool       `json:"required"`
	Detector        string     `json:"detector"`
	Installer       *Installer `json:"installer,omitempty"`
	PermissionNotes string     `json:"permission_notes,omitempty"`
}

// Installer says how a dependency may be installed.
type Installer struct {
	Strategy     string   `json:"strategy"`
	Commands     []string `json:"commands,omitempty"`
	PackageNames []string `json:"package_names,omitempty"`
}

// PermissionDeclaration is the most that a capability asks for; it grants nothing.
type PermissionDeclaration struct {
	ReadProject         bool              `json:"read_project,omitempty"`
	WriteProject        bool              `json:"write_project,omitempty"`
	ExecuteCommands     bool              `json:"execute_commands,omitempty"`
	Network             bool              `json:"network,omitempty"`
	SystemSensitive     bool              `json:"system_sensitive,omitempty"`
	Credentials         bool              `json:"credentials,omitempty"`
	ProjectOutsideWrite bool              `json:"project_outside_write,omitempty"`
	GeneratedArtifacts  []string          `json:"generated_artifacts,omitempty"`
	Notes               []string          `json:"notes,omitempty"`
	Scopes              permission.Scopes `json:"scopes,omitzero"`
}

// EventDeclaration names a capability's own events, and those it would like to see.
type EventDeclaration struct {
	Produced []string `json:"produced,omitempty"`
	Consumed []string `json:"consumed,omitempty"`
}

// Entrypoint says what carries the tools out.
type Entrypoint struct {
	Kind   string         `json:"kind"` // wasm, or native for what is part of air
	Module string         `json:"module,omitempty"`
	ABI    hostabi.ABI    `json:"abi,omitempty"`
	Limits runtime.Limits `json:"limits,omitzero"`
}
