package runtime

import (
	"slices"

	"github.com/aircoding/air/runtime/permission"
)

// configuredHosts adds to the effects of a call the hosts that its programs need and do not
// name, where configuration does: that of package managers, and of a repository for its
// remotes. So the one question about a command is about these too. Others are decided when
// they are asked for.
func (r *Registry) configuredHosts(effects []permission.Effect) []permission.Effect {
	if r.config.Hosts == nil {
		return effects
	}
	for _, e := range slices.Clone(effects) {
		if e.Kind != permission.Run || !e.UsesNetwork() {
			continue
		}
		for _, host := range r.config.Hosts(e) {
			if !slices.ContainsFunc(effects, func(have permission.Effect) bool { return have.Kind == host.Kind && have.Target == host.Target }) {
				effects = append(effects, host)
			}
		}
	}
	return effects
}
