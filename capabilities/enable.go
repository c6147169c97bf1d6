package capabilities

import (
	"context"

	"github.com/aircoding/air/internal/fault"
)

// Enable lets the project use a capability, after confirm was shown what that means.
// digest may be empty: then it is the one that the accepted lock or capabilities.yaml
// names, else the only or the last placed one. The consent is to that digest and no other.
// Enabling what is enabled already asks nothing, unless its signer or where it came from
// are not those that the consent was shown. What the project's lock does not pin is enabled
// and cannot be used until it is pinned: then the state is failed and its reason says that.
func (l *Lifecycle) Enable(ctx context.Context, id, digest string, confirm func(Disclosure) (bool, error)) (Status, error) {
	if !l.config.Project.Exists() {
		return Status{}, fault.New(fault.InvalidInput, "no_project", "a capability is enabled in a project, and there is none here").WithHint("air init makes this folder a project")
	}
	c, err := l.Find(id, digest)
	if err != nil {
		return Status{}, err
	}
	return l.adopt(ctx, c, enabling, confirm)
}

// Find returns the one bundle that a person means.
func (l *Lifecycle) Find(id, digest string) (Found, error) {
	if !capabilityName.MatchString(id) {
		return Found{}, fault.New(fault.InvalidInput, "bad_name", "%.80q is no capability name", id)
	}
	if digest == "" {
		var err error
		if digest, err = l.chosen(id); err != nil {
			return Found{}, err
		}
	}
	local, localErr := l.local(id)
	here := !fault.Is(localErr, fault.NotFound)
	if here && localErr == nil && matches(local.Digest, digest) {
		return local, nil
	}
	i, err := l.config.Store.Get(id, digest)
	switch {
	case err == nil && here && digest == "":
		return Found{}, fault.New(fault.InvalidInput, "ambiguous", "capability %s lies in the project and is installed besides", id).
			WithHint("write %s@sha256:… of the one you mean; air ls shows both", id)
	case err == nil:
		return l.proven(id, i.Digest)
	case here && digest == "":
		return local, localErr
	}
	return Found{}, err
}

// proven checks an installed bundle as if it came from outside just now: a later
// version of air may refuse what an earlier one placed.
func (l *Lifecycle) proven(id, digest string) (Found, error) {
	c, err := l.installed(row{ID: id, Digest: digest})
	if err != nil {
		return c, err
	}
	if _, err := ParseManifest(c.Manifest.Canonical()); err != nil {
		return c, err
	}
	return c, c.prove()
}
