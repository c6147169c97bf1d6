package capabilities

import (
	"slices"
	"strings"

	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/names"
)

const maxToolName = 128

var (
	capabilityName = lazyregexp.New(`^` + names.Capability + `$`)
	toolName       = lazyregexp.New(`^[a-z0-9_]+(\.[a-z0-9_]+)*$`) // behind "<capability>."
	artifactType   = lazyregexp.New(`^[a-z][a-z0-9_-]{0,31}$`)
	versionText    = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$`)
	digestPrefix   = lazyregexp.New(`^sha256:[0-9a-f]{8,64}$`)
	secretName     = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	anyToolName    = lazyregexp.New(`^` + names.Capability + `(\.[a-z0-9_]+)+$`)
	eventName      = lazyregexp.New(`^[a-z0-9_-]+(\.[a-z0-9_-]+)+$`)
)

// localID is the capability that a module without a manifest is called by.
const localID = "local"

// reserved are the names that no third party's capability may have: tools of such a
// name would look like air's own.
var reserved = []string{
	// namespaces of the trust model, section 3
	"fs", "shell", "git", "project", "cpp", "debug", "gui", "network", "artifact", "context", "permission", "doctor",
	// namespaces of further tools of air
	"process", "event", "secret", "air", "mcp",
	// built-in capabilities of the trust model, section 12, and of resources
	"core-filesystem", "core-shell", "core-network", "core-git", "core-project", "core-artifacts", "core-context", "core-permission", "core-doctor",
	"core-events", "core-process", "core-undo", "toolchain-cpp", "debug-basic", "gui-evidence-basic", "network-evidence-basic", "ui-design-assets-basic",
	localID,
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

// SplitID takes an argument of the form ID[@DIGEST] apart. The digest may be shortened,
// to 8 hex digits at the least. ok is false for an argument of another form.
func SplitID(arg string) (id, digest string, ok bool) {
	id, digest, shortened := strings.Cut(arg, "@")
	if !capabilityName.MatchString(id) || shortened && !digestPrefix.MatchString(digest) {
		return "", "", false
	}
	return id, digest, true
}

// matches reports whether a digest is the one that a person wrote, maybe shortened as
// SplitID allows.
func matches(digest, written string) bool {
	return digestPrefix.MatchString(written) && strings.HasPrefix(digest, written)
}

func checkNames(m *Manifest, p *problems) {
	switch id := m.CapabilityID; {
	case !capabilityName.MatchString(id):
		p.add("/capability_id", "%.80q is no capability name: lower-case letters, digits and hyphens, at most 64, not beginning with a hyphen", id)
	case isReserved(id):
		p.add("/capability_id", "%q is reserved for air itself", id)
	}
	seen := map[string]bool{}
	for i, t := range m.Tools {
		at := item("/tools", i) + "/name"
		checkToolName(m.CapabilityID, t.Name, at, p)
		if seen[t.Name] {
			p.add(at, "%.128q is declared twice", t.Name)
		}
		seen[t.Name] = true
	}
}

func checkToolName(id, name, at string, p *problems) {
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
	case isReserved(namespace):
		p.add(at, "the namespace %q is reserved for air's own tools: want %s.%.100s", namespace, id, rest)
	case namespace != id:
		p.add(at, "%.128q does not begin with the capability's own name: want %s.%.100s", name, id, rest)
	}
}
