package runtime

import (
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// permits reports whether the effect was decided, or lies below a decided recursive
// read and is allowed when decided by itself. It is asked at the moment of use.
func (r *Registry) permits(c *run, decisions []permission.Decision, e permission.Effect) error {
	var above *permission.Decision
	for i, d := range decisions {
		if d.Verdict != permission.Allow || d.Effect.Kind != e.Kind {
			continue
		}
		if d.Effect.Target == e.Target {
			return nil
		}
		if d.Effect.Recursive && strings.HasPrefix(e.Target, strings.TrimSuffix(d.Effect.Target, "/")+"/") {
			above = &decisions[i]
		}
	}
	if above == nil {
		return fault.New(fault.PermissionDenied, "not_decided", "%s was not part of what was decided for this call", e.AsNamed()).
			WithHint("the path changed between the decision and its use: try again")
	}
	own := r.config.Permission.Decide(c.request(r.config.Session.ID, []permission.Effect{e}))[0]
	if own.Verdict == permission.Allow || approvedWith(*above, own) {
		return nil
	}
	return c.denial(&permission.DeniedError{Decision: own, Unanswered: own.Verdict == permission.Ask})
}

// approvedWith reports whether a person who approved reading a folder with all below it
// thereby approved this entry: one of the same class, that no rule asks about.
func approvedWith(above, own permission.Decision) bool {
	return above.Layer == permission.LayerApproval &&
		own.Verdict == permission.Ask && own.Layer == permission.LayerDefault && !own.NoAlways &&
		own.Effect.Class == above.Effect.Class
}
