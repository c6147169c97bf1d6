package capabilities

// DependencyState is what this machine has of something that a capability wants.
type DependencyState string

// The states of a dependency.
const (
	Present      DependencyState = "present"
	Missing      DependencyState = "missing"
	Incompatible DependencyState = "incompatible" // there, in a version that is too old
	Unknown      DependencyState = "unknown"      // nothing here can tell
)

// Verdict is what was found of one dependency. Its texts are AIR's own.
type Verdict struct {
	DependencyID string          `json:"dependency_id"`
	Detector     string          `json:"detector"`
	Required     bool            `json:"required"`
	State        DependencyState `json:"state"`
	Detail       string          `json:"detail,omitempty"`     // the path and version found, or what is missing
	Install      []string        `json:"install,omitempty"`    // the commands that would install it, empty where AIR installs nothing
	Disallowed   string          `json:"disallowed,omitempty"` // why the declared installer is never run, empty where it may be
}
