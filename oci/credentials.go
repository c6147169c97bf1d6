package oci

import (
	"context"
	"errors"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// credentials asks Docker's and podman's configuration and their helpers. In
// go-containerregistry a broken helper fails even a public pull, and a helper that hangs
// blocks for ever; here it is named in a warning, and the registry decides whether an
// anonymous request will do.
func (c *Client) credentials(ctx context.Context, repo name.Repository) authn.Authenticator {
	for _, read := range authSources() {
		config, err := c.lookUp(ctx, read, repo)
		if err == nil {
			return authn.FromConfig(config)
		}
		if ctx.Err() != nil {
			break
		}
		if !errors.Is(err, errNoCredentials) {
			c.warn("%v; going on without these credentials", err)
		}
	}
	return authn.Anonymous
}

// authSources are the ways to the configurations, in the order in which they count. One
// may lie in the environment itself.
func authSources() []func() (authFile, error) {
	const variable = "DOCKER_AUTH_CONFIG"
	sources := []func() (authFile, error){
		func() (authFile, error) { return parseAuthFile(variable, []byte(os.Getenv(variable))) },
	}
	for _, file := range authFiles() {
		sources = append(sources, func() (authFile, error) { return readAuthFile(file) })
	}
	return sources
}

// lookUp asks one configuration: its helper first, then its own entries.
func (c *Client) lookUp(ctx context.Context, read func() (authFile, error), repo name.Repository) (authn.AuthConfig, error) {
	f, err := read()
	if err != nil {
		return authn.AuthConfig{}, err
	}
	host := repo.RegistryStr()
	missing := errNoCredentials
	if helper := f.helper(hostKey(host)); helper != "" {
		config, err := c.helper(helper).get(ctx, hostKey(host))
		if err == nil {
			return config, nil
		}
		missing = err
	}
	config, ok, err := f.entry(host, repo.RepositoryStr())
	if err == nil && !ok {
		err = missing
	}
	return config, err
}

// helper waits for a helper as long as for a registry.
func (c *Client) helper(name string) credentialHelper {
	return credentialHelper{name: name, timeout: c.options.idle()}
}
