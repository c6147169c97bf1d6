package capabilities

import (
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/glob"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/oci"
)

// forbids says why a bundle may not be enabled or used here. What the project's file
// forbids counts whether or not it was accepted: forbidding needs nobody's consent.
func (l *Lifecycle) forbids(s *settings, c Found) error {
	id := c.Manifest.CapabilityID
	const projects, persons = "the project's .air/shared/" + settingsFile, "your own configuration"
	if on := s.Capabilities[id].Enabled; on != nil && !*on {
		return fault.New(fault.PermissionDenied, "switched_off", "%s is switched off in %s", id, settingsFile).WithHint("%s says so: its owners can change it", projects)
	}
	if err := l.exceeds(s.Policy, c, projects); err != nil {
		return err
	}
	return l.exceeds(l.config.Policy, c, persons)
}

// exceeds holds a bundle against one policy; owner says in words whose it is.
func (l *Lifecycle) exceeds(p Policy, c Found, owner string) error {
	id := c.Manifest.CapabilityID
	if p.Ceiling != nil {
		if more := beyond(c.Manifest.Permissions, *p.Ceiling); len(more) > 0 {
			return fault.New(fault.PermissionDenied, "ceiling", "%s asks for more than the ceiling in %s allows: %s", id, owner, strings.Join(more, ", ")).
				WithHint("the ceiling is policy.ceiling there: who owns it can raise it")
		}
	}
	pattern, required := p.requiresSignature(c.Reference)
	if !required || c.Signer != nil {
		return nil
	}
	return fault.New(fault.PermissionDenied, "signature_required", "%s requires a signature for %s, and %s has none that counts: %s", owner, pattern, id, l.whyUnsigned(c)).
		WithHint("air trust add names a publisher whom you trust; air verify %s says who signed it", id)
}

// requiresSignature returns the pattern that demands a signature of what was pulled from
// a reference. A pattern that cannot be read demands it of everything.
func (p Policy) requiresSignature(reference string) (pattern string, required bool) {
	where := signedPlace(reference)
	for _, pattern := range p.RequireSignature {
		g, err := glob.Compile(pattern)
		if err != nil || g.Match(where) || where == "" && pattern == "**" {
			return pattern, true
		}
	}
	return "", false
}

// signedPlace is HOST[:PORT]/REPOSITORY of a reference as it was recorded, empty for none.
func signedPlace(reference string) string {
	r, err := oci.ParseReference(reference)
	if err != nil {
		return reference
	}
	return r.Registry + "/" + r.Repository
}

func (l *Lifecycle) whyUnsigned(c Found) string {
	if c.Place != UserInstalled {
		return "what is part of the project carries no signature"
	}
	i := l.config.Store.record(c.Manifest.CapabilityID, c.Digest)
	if len(i.Signatures) == 0 {
		return "no signature came with it"
	}
	var reasons []string
	if l.config.WhyUnsigned != nil {
		reasons = l.config.WhyUnsigned(i)
	}
	if len(reasons) == 0 {
		return "no key that you trust for it signed it"
	}
	return text.Line(strings.Join(reasons, "; "), 600)
}
