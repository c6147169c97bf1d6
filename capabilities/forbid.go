package capabilities

import (
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/glob"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/oci"
)

// Permits says why the policies or the project's lock forbid to run a bundle that nobody
// enabled, nil where they do not.
func (l *Lifecycle) Permits(c Found) error {
	s, err := l.settings()
	if err != nil {
		return err
	}
	if err := l.forbids(s, c); err != nil {
		return err
	}
	return l.locked(c)
}

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
	pattern, required := p.requiresSignature(c)
	if !required || c.Signer != nil {
		return nil
	}
	return fault.New(fault.PermissionDenied, "signature_required", "%s requires a signature for %s, and %s has none that counts: %s", owner, pattern, id, c.whyUnsigned()).
		WithHint("air trust add names a publisher whom you trust; air verify %s says who signed it", id)
}

// requiresSignature returns the pattern that demands a signature of a bundle by where it
// came from: where nobody knows that, any does. A pattern that cannot be read demands it of
// everything.
func (p Policy) requiresSignature(c Found) (pattern string, required bool) {
	where := signedPlace(c.Reference)
	for _, pattern := range p.RequireSignature {
		g, err := glob.Compile(pattern)
		if err != nil || c.unknown || g.Match(where) { // ** matches nowhere, too
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
	return r.Place()
}

func (c Found) whyUnsigned() string {
	switch {
	case c.Place == ProjectLocal:
		return "what is part of the project carries no signature"
	case len(c.Unsigned) > 0:
		return text.Line(strings.Join(c.Unsigned, "; "), 600)
	}
	return "no signature came with it"
}
