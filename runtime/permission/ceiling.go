package permission

import (
	"fmt"
	"slices"
	"strings"
)

// ceiling is the third layer: every capability in the chain must have declared the
// effect. It only denies.
func (e *Engine) ceiling(r *Request, f *Effect) (Decision, bool) {
	if !r.Subject.BuiltIn && f.Kind != ToolCall {
		return beyond(f, r.Subject.Capability, "a capability's tool has no effects of its own: they come from the tools that it calls"), true
	}
	for i := range r.Chain {
		if reason := e.undeclared(r, &r.Chain[i], f); reason != "" {
			return beyond(f, r.Chain[i].Capability, reason), true
		}
	}
	return Decision{}, false
}

func beyond(f *Effect, capability, reason string) Decision {
	return Decision{
		Effect: *f, Layer: LayerCeiling, Rule: fmt.Sprintf("manifest of %s", capability), Code: CodeCapabilityCeiling,
		Reason: fmt.Sprintf("capability %q: %s", capability, reason),
		Hint:   "no rule lifts this; its publisher can declare more in the manifest, which a person then has to enable",
	}
}

// undeclared says why an effect is not among what a capability declared, "" when it is.
func (e *Engine) undeclared(r *Request, c *Caller, f *Effect) string {
	switch {
	case f.Kind.IsPath():
		return e.undeclaredPath(c, f)
	case f.Kind == ToolCall:
		return undeclaredTool(r, c, f.Target)
	case f.Kind == Artifact:
		for _, t := range c.Permissions.Artifacts {
			if t == f.Target {
				return ""
			}
		}
		return fmt.Sprintf("artifacts of type %.40q are not among its artifact_types", f.Target)
	}
	return undeclaredOther(c, f)
}

func (e *Engine) undeclaredPath(c *Caller, f *Effect) string {
	flag, scope, word := c.Permissions.Write, c.Scopes.Write, "write"
	if f.Kind == Read {
		flag, scope, word = c.Permissions.Read, c.Scopes.Read, "read"
	}
	switch {
	case !flag:
		return fmt.Sprintf("it did not declare the permission %s", word)
	case scope == nil && !e.paths.InProject(f.Target):
		return fmt.Sprintf("it declared no scopes.%s outside the project", word)
	case scope != nil && !e.paths.inScope(scope, f.Target):
		return fmt.Sprintf("its scopes.%s is %s", word, shorten(strings.Join(scope, ", "), 120))
	case f.Class == ClassCredentials && !c.Permissions.Credentials:
		return "it did not declare the permission credentials"
	case f.Kind == Read:
		return ""
	case (f.Class == ClassOutside || f.Class == ClassDangerous) && !c.Permissions.OutsideWrite:
		return "it did not declare the permission outside_write"
	case f.Class == ClassSystem && !c.Permissions.SystemSensitive:
		return "it did not declare the permission system_sensitive"
	}
	return ""
}

// inScope matches a canonical path with globs that are relative to the project or
// absolute.
func (p *Paths) inScope(scope []string, canonical string) bool {
	t := targetOf(Read, canonical)
	return slices.ContainsFunc(scope, func(pattern string) bool { return scopeMatches(Read, p.expand(pattern), t) })
}

// scopeMatches takes a pattern that was checked when the manifest was read. One that is
// no pattern matches nothing.
func scopeMatches(kind Kind, pattern string, t target) bool {
	if pattern == "" {
		return false
	}
	m, err := kindMatcher(kind, pattern)
	return err == nil && m.matches(t)
}

// undeclaredTool: without scopes.tools a capability may call the built-in tools whose
// flags its own cover, and its own tools. With it, only the tools named, and the
// built-in ones that need nothing.
func undeclaredTool(r *Request, c *Caller, name string) string {
	s := &r.Subject
	needs := Permissions{}
	if name == s.Tool {
		needs = s.Permissions
	}
	missing := uncovered(needs, c.Permissions)
	own := !s.BuiltIn && name == s.Tool && s.Capability == c.Capability
	builtIn := s.BuiltIn && name == s.Tool
	switch {
	case own:
		return ""
	case missing != "":
		return fmt.Sprintf("%.128s needs the permission %s, which it did not declare", name, missing)
	case builtIn && (c.Scopes.Tools == nil || needs.none()):
		return ""
	case matchesName(ToolCall, c.Scopes.Tools, name):
		return ""
	}
	return fmt.Sprintf("%.128s is not among its scopes.tools", name)
}

// uncovered returns the first flag that is needed and not declared.
func uncovered(needs, has Permissions) string {
	for _, flag := range []struct {
		name       string
		needs, has bool
	}{
		{"read", needs.Read, has.Read},
		{"write", needs.Write, has.Write},
		{"execute", needs.Execute, has.Execute},
		{"network", needs.Network, has.Network},
		{"system_sensitive", needs.SystemSensitive, has.SystemSensitive},
		{"credentials", needs.Credentials, has.Credentials},
		{"outside_write", needs.OutsideWrite, has.OutsideWrite},
	} {
		if flag.needs && !flag.has {
			return flag.name
		}
	}
	return ""
}

func (p Permissions) none() bool { return uncovered(p, Permissions{}) == "" }

// undeclaredOther: commands, hosts and secrets are what the scopes name, each command of a
// call by itself; the other kinds have no scope, and are not for capabilities.
func undeclaredOther(c *Caller, f *Effect) string {
	var flag bool
	var scope []string
	switch f.Kind {
	case Run:
		flag, scope = c.Permissions.Execute, c.Scopes.Commands
	case Net:
		flag, scope = c.Permissions.Network, c.Scopes.Network
	case Secret:
		flag, scope = c.Permissions.Credentials, c.Scopes.Secrets
	}
	switch {
	case !flag || !matchesName(f.Kind, scope, f.Target):
	case f.Kind == Run && f.Risk == RiskPrivileged && !c.Permissions.SystemSensitive:
		return "it did not declare the permission system_sensitive, for a command that reaches beyond the project"
	default:
		return ""
	}
	return fmt.Sprintf("it did not declare %s(%.128s)", f.Kind, Printable(f.Target))
}

// matchesName matches a text without path structure.
func matchesName(kind Kind, patterns []string, name string) bool {
	t := targetOf(kind, name)
	return slices.ContainsFunc(patterns, func(pattern string) bool { return scopeMatches(kind, pattern, t) })
}

// consents reports whether enabling the capability allowed the effect, of which the
// ceiling has already said that it was declared.
//
// A person who enables sees the capability's commands and hosts as patterns. That covers
// what those stand for on the face of it: commands that read, that work in the project or,
// where the network was declared too, that use it; and public hosts. It does not cover
// what a pattern such as "git **" hides: that a command loses what nothing brings back,
// reaches beyond the project or cannot be understood, that a name leads to a private
// network, or that a secret leaves the machine. Variables have no scope that could be
// shown: the ceiling denies them.
func (e *Engine) consents(c *Caller, f *Effect) bool {
	if c == nil || !c.Consented {
		return false
	}
	switch f.Kind {
	case ToolCall, Artifact:
		return true
	case Net:
		return f.Class == ""
	case Run:
		declared := f.Risk == RiskReadOnly || f.Risk == RiskWorkspace || f.Risk == RiskNetwork && c.Permissions.Network
		return declared && !e.unconfined()
	}
	return f.Kind.IsPath() && (f.Class == ClassProject || f.Class == ClassOutside)
}

func consentDecision(c *Caller, f *Effect) Decision {
	return Decision{Effect: *f, Verdict: Allow, Layer: LayerConsent, Rule: "enabling of " + c.Capability, Reason: "a person enabled the capability with this permission"}
}
