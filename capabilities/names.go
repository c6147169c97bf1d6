package capabilities

import (
	"slices"
	"strings"

	"github.com/aircoding/air/internal/lazyregexp"
)

const maxToolName = 128

var (
	capabilityName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,63}$`)
	toolName       = lazyregexp.New(`^[a-z0-9_]+(\.[a-z0-9_]+)*$`) // behind "<capability>."
	artifactType   = lazyregexp.New(`^[a-z][a-z0-9_-]{0,31}$`)
	versionText    = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$`)
	secretName     = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	anyToolName    = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,63}(\.[a-z0-9_]+)+$`)
	eventName      = lazyregexp.New(`^[a-z0-9_-]+(\.[a-z0-9_-]+)+$`)
)

// bareID is the capability that a module without a manifest is called by.
const bareID = "local"

// reserved are the names that no third party's capability may have: tools of such a
// name would look like air's own.
var reserved = []string{
	// namespaces of the trust model, section 3
	"fs", "shell", "git", "project", "cpp", "debug", "gui", "network", "artifact", "context", "permission", "doctor",
	// namespaces of further tools of air
	"process", "event", "secret", "air", "mcp",
	// built-in capabilities of the trust model, section 12, and of resources
	"core-filesystem", "core-shell", "core-git", "core-project", "core-artifacts", "core-context", "core-permission", "core-doctor",
	"core-events", "toolchain-cpp", "debug-basic", "gui-evidence-basic", "network-evidence-basic", "ui-design-assets-basic",
	bareID,
}

var categories = []string{
	"filesystem", "shell", "build", "test", "debug", "static_analysis", "gui", "network", "memory", "project", "git",
	"artifact", "context", "permission", "doctor", "internal",
}

func isReserved(id string) bool { return slices.Contains(reserved, id) }

// ownerOf is the id of the capability that a tool's name belongs to, "" for a name
// that no capability's tool can have.
func ownerOf(tool string) string {
	id, rest, ok := strings.Cut(tool, ".")
	if !ok || len(tool) > maxToolName || !capabilityName.MatchString(id) || !toolName.MatchString(rest) {
		return ""
	}
	return id
}

func checkNames(m *Manifest, from origin, p *problems) {
	switch id := m.CapabilityID; {
	case !capabilityName.MatchString(id):
		p.add("/capability_id", "%.80q is no capability name: lower-case letters, digits and hyphens, at most 64, not beginning with a hyphen", id)
	case from == thirdParty && isReserved(id):
		p.add("/capability_id", "%q is reserved for air itself", id)
	}
	seen := map[string]bool{}
	for i, t := range m.Tools {
		at := at("/tools", i) + "/name"
		checkToolName(m.CapabilityID, t.Name, from, at, p)
		if seen[t.Name] {
			p.add(at, "%.128q is declared twice", t.Name)
		}
		seen[t.Name] = true
	}
}

func checkToolName(id, name string, from origin, at string, p *problems) {
	if len(name) > maxToolName {
		p.add(at, "the name has %d bytes, the limit is %d", len(name), maxToolName)
		return
	}
	namespace, rest, _ := strings.Cut(name, ".")
	if !toolName.MatchString(rest) {
		p.add(at, "%.128q: a capability name, a dot, then lower-case letters, digits and underscores are wanted", name)
		return
	}
	switch {
	case from == ours && !isReserved(namespace):
		p.add(at, "%.128q: a built-in tool has a reserved namespace", name)
	case from == thirdParty && isReserved(namespace):
		p.add(at, "the namespace %q is reserved for air's own tools: want %s.%.100s", namespace, id, rest)
	case from == thirdParty && namespace != id:
		p.add(at, "%.128q does not begin with the capability's own name: want %s.%.100s", name, id, rest)
	}
}
