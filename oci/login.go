package oci

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Login asks the registry at host whether it knows user and password, and only then
// keeps them where Docker does: with the credential helper that the configuration
// names, else in the file itself, which only its owner can read. A registry that asks
// for no login gets a warning in Options.Log, for then nothing was checked. Its error
// is an *Error and never repeats the password.
func Login(ctx context.Context, o Options, host, user, password string) error {
	s, err := loginSession(o, host)
	if err == nil {
		err = checkSecret(user, password)
	}
	if err == nil {
		err = s.prove(ctx, &authn.Basic{Username: user, Password: password})
	}
	if err == nil {
		err = s.client.keep(ctx, s.ref.Registry, user, password)
	}
	return during("logging in to", host, err)
}

// Logout forgets the credentials of host in every file and helper that Login and pulls
// read. KindNotFound says that there were none.
func Logout(ctx context.Context, o Options, host string) error {
	ref, err := registryReference(host)
	if err != nil {
		return during("logging out of", host, err)
	}
	c, found := NewClient(o), false
	for _, file := range authFiles() {
		removed, err := c.forget(ctx, file, ref.Registry)
		if err != nil {
			return during("logging out of", host, err)
		}
		found = found || removed
	}
	if !found {
		err = fail(KindNotFound, "", "no credentials are kept for %s", ref.Registry)
	}
	return during("logging out of", host, err)
}

// loginSession is a session with no repository, not yet authenticated.
func loginSession(o Options, host string) (*session, error) {
	ref, err := registryReference(host)
	if err != nil {
		return nil, err
	}
	return NewClient(o).session(ref)
}

// registryReference names a registry as the references that are pulled later do. Its
// repository means nothing.
func registryReference(host string) (Reference, error) {
	if bare := strings.TrimSuffix(strings.TrimPrefix(host, "https://"), "/"); !strings.ContainsAny(bare, "/@") {
		if ref, err := ParseReference(bare + "/login:check"); err == nil {
			return ref, nil
		}
	}
	return Reference{}, fail(KindInvalid, "write HOST[:PORT], as in a reference; add --plain-http for a registry without https",
		"%.100q is no registry host", host)
}

func checkSecret(user, password string) error {
	switch {
	case user == "" || password == "":
		return fail(KindInvalid, "give both", "a login takes a user name and a password")
	case strings.Contains(user, ":") || user == identityUser:
		return fail(KindInvalid, "", "the user name cannot be sent: it has a colon, or is reserved")
	case strings.ContainsFunc(user+password, unicode.IsControl):
		return fail(KindInvalid, "a file or variable may end in a newline that is no part of the password",
			"user name or password has a control character")
	}
	return nil
}

// prove asks for the registry's root with these credentials.
func (s *session) prove(ctx context.Context, auth authn.Authenticator) error {
	defer s.close()
	if err := s.authenticate(ctx, auth); err != nil {
		return s.refused(err)
	}
	open, err := s.root(ctx, s.gate)
	if err == nil && open {
		s.client.warn("%s asks for no login: the credentials are kept, but nobody checked them", s.ref.Registry)
		return nil
	}
	if err == nil {
		open, err = s.root(ctx, s.auth)
	}
	if err == nil && !open {
		err = fail(KindUnauthorized, "", "%s asks for a login", s.ref.Registry)
	}
	return s.refused(s.explain(ctx, err))
}

// root reports whether GET /v2/ is allowed this way.
func (s *session) root(ctx context.Context, way http.RoundTripper) (allowed bool, err error) {
	err = s.retry(ctx, func() error {
		url := s.repo.Scheme() + "://" + s.ref.Registry + "/v2/"
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		client := http.Client{Transport: way, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
			return nil
		}
		allowed = true
		return transport.CheckError(resp, http.StatusOK)
	})
	return allowed && err == nil, err
}

// refused says of a refusal that it is about the login.
func (s *session) refused(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == KindUnauthorized {
		return fail(KindUnauthorized, "check user and password; many registries want a token in place of the password; nothing was stored",
			"%s does not take this user and password", s.ref.Registry)
	}
	return err
}
