package oci

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

const helperTimeout = 30 * time.Second

// credentials asks Docker's configuration and its helpers. In go-containerregistry a
// broken helper fails even a public pull; here it is named in a warning, and the
// registry decides whether an anonymous request will do.
func (c *Client) credentials(ctx context.Context, repo name.Repository) authn.Authenticator {
	type answer struct {
		auth authn.Authenticator
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // a helper takes no context
		auth, err := authn.DefaultKeychain.Resolve(repo)
		answers <- answer{auth, err}
	}()
	timer := time.NewTimer(helperTimeout)
	defer timer.Stop()
	select {
	case a := <-answers:
		if a.err == nil {
			return a.auth
		}
		c.warn("%s failed, going on without credentials: %v", credentialSource(repo.RegistryStr()), a.err)
	case <-timer.C:
		c.warn("%s did not answer for %v, going on without credentials", credentialSource(repo.RegistryStr()), helperTimeout)
	case <-ctx.Done():
	}
	return authn.Anonymous
}

// credentialSource names where the credentials of a host come from.
func credentialSource(host string) string {
	file := dockerConfig()
	var config struct {
		Helpers map[string]string `json:"credHelpers"`
		Store   string            `json:"credsStore"`
	}
	if content, err := os.ReadFile(file); err != nil || json.Unmarshal(content, &config) != nil {
		return "reading " + file
	}
	if helper := config.Helpers[host]; helper != "" {
		return "credential helper docker-credential-" + helper
	}
	if config.Store != "" {
		return "credential helper docker-credential-" + config.Store
	}
	return "reading " + file
}

func dockerConfig() string {
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return filepath.Join(dir, "config.json")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "config.json"
	}
	return filepath.Join(home, ".docker", "config.json")
}
