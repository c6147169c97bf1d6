package runtime

import (
	"context"
	"slices"

	"github.com/aircoding/air/runtime/permission"
)

// configuredHosts adds to the effects of a call the hosts that its programs need and do not
// name: those of package managers and of a repository's remotes stand in configuration. So
// the one question about a command is about its hosts too.
func (r *Registry) configuredHosts(ctx context.Context, c *run, effects []permission.Effect) []permission.Effect {
	if r.config.Hosts == nil {
		return effects
	}
	for _, e := range slices.Clone(effects) {
		if e.Kind != permission.Run || !e.UsesNetwork() {
			continue
		}
		for _, host := range r.config.Hosts(ctx, e, c.folderOr(r.config.Paths.Root())) {
			if !slices.ContainsFunc(effects, func(have permission.Effect) bool { return have.Kind == host.Kind && have.Target == host.Target }) {
				effects = append(effects, host)
			}
		}
	}
	return effects
}

// noteFolder remembers where the command of a call starts.
func (c *run) noteFolder(e permission.Effect) {
	if e.Kind == permission.Read && e.Folder {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.folder = e.Target
	}
}

func (c *run) folderOr(root string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.folder != "" {
		return c.folder
	}
	return root
}
