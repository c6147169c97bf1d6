package runtime

import (
	"context"
	"slices"

	"github.com/aircoding/air/runtime/permission"
)

// addCredentials tells a request that would use the network which credentials its
// chain of callers has used in this session, those of the same plan included: what is
// read first can be sent after. Other requests do not pay for the look-up.
func (r *Registry) addCredentials(ctx context.Context, c *run, request *permission.Request) error {
	if !slices.ContainsFunc(request.Effects, permission.Effect.UsesNetwork) {
		return nil
	}
	noted, err := r.config.Session.Credentials(ctx, c.callers())
	if err != nil {
		return err
	}
	for _, used := range credentials(request.Effects) {
		if !slices.Contains(noted, used) {
			noted = append(noted, used)
		}
	}
	request.Credentials = noted
	return nil
}

// noteCredentials records, before the call acts, the credentials that it was allowed.
func (r *Registry) noteCredentials(ctx context.Context, c *run, decisions []permission.Decision) error {
	effects := make([]permission.Effect, 0, len(decisions))
	for _, d := range decisions {
		if d.Verdict == permission.Allow {
			effects = append(effects, d.Effect)
		}
	}
	for _, used := range credentials(effects) {
		if err := r.config.Session.NoteCredentials(ctx, c.tainted(), used); err != nil {
			return err
		}
	}
	return nil
}

// credentials are those whose bytes a plan can get hold of. A secret that the runtime
// itself puts into a request is not: only a command gets to see one.
func credentials(plan []permission.Effect) (used []string) {
	hidden := slices.ContainsFunc(plan, func(e permission.Effect) bool { return e.Kind == permission.Net }) &&
		!slices.ContainsFunc(plan, func(e permission.Effect) bool { return e.Kind == permission.Run })
	for _, e := range plan {
		switch {
		case e.Kind == permission.Read && e.Class == permission.ClassCredentials:
			used = append(used, e.Target)
		case e.Kind == permission.Secret && !hidden:
			used = append(used, string(permission.Secret)+"("+e.Target+")")
		}
	}
	return used
}

// callers are the capabilities above the call, outermost first.
func (c *run) callers() []string {
	all := make([]string, 0, len(c.chain))
	for _, caller := range c.chain {
		all = append(all, caller.Capability)
	}
	return all
}

// tainted is the chain that a credential is noted for: what a capability gets, those that
// called it get as its result, up to the outermost. Those below are covered with it.
func (c *run) tainted() []string {
	callers := c.callers()
	return callers[:min(1, len(callers))]
}
