package capabilities

import (
	"encoding/json"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/yamldoc"
	"github.com/aircoding/air/runtime/permission"
)

// Policy is what a project or a person forbids, whatever is consented to.
type Policy struct {
	RequireSignature []string               `json:"require_signature,omitempty"`
	Ceiling          *PermissionDeclaration `json:"ceiling,omitempty"`
}

// ParsePolicy reads the person's own policy, which stands in file. An empty text forbids
// nothing.
func ParsePolicy(file string, text json.RawMessage) (Policy, error) {
	var p Policy
	if len(text) == 0 {
		return p, nil
	}
	if err := yamldoc.DecodeJSON(text, &p); err != nil {
		return p, badPolicy(file, err)
	}
	var found problems
	p.check("/policy", &found)
	if err := found.asError(); err != nil {
		return p, badPolicy(file, err)
	}
	return p, nil
}

func badPolicy(file string, err error) error {
	return fault.New(fault.InvalidInput, "bad_config", "%s: %w", file, err).WithHint("no capability can be used until it is right: what it forbids cannot be read")
}

func (p Policy) check(at string, found *problems) {
	if p.Ceiling != nil {
		checkPermissions(*p.Ceiling, at+"/ceiling", found)
	}
	for i, pattern := range p.RequireSignature {
		if err := permission.CheckPattern(pattern); err != nil {
			found.add(item(at+"/require_signature", i), "%v", err)
		}
	}
}
