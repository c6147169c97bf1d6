package runtime

import (
	"context"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// permits reports whether the effect was decided, or lies below a decided recursive one
// and is allowed when decided by itself. It is asked at the moment of use.
func (r *Registry) permits(c *run, decisions []permission.Decision, e permission.Effect) error {
	var above *permission.Decision
	for i, d := range decisions {
		switch {
		case d.Verdict != permission.Allow:
		case d.Effect.Kind == e.Kind && d.Effect.Target == e.Target && !d.Effect.Below:
			return nil
		case covers(d.Effect, e) && (above == nil || above.Layer != permission.LayerApproval):
			above = &decisions[i]
		}
	}
	if above == nil {
		return fault.New(fault.PermissionDenied, "not_decided", "%s was not part of what was decided for this call", e.AsNamed()).
			WithHint("the path changed between the decision and its use: try again")
	}
	own := r.config.Permission.Decide(c.request(r.config.Session.ID, []permission.Effect{e}))[0]
	if own.Verdict != permission.Allow && !approvedWith(*above, own) {
		return c.denial(&permission.DeniedError{Decision: own, Unanswered: own.Verdict == permission.Ask})
	}
	own.Verdict = permission.Allow
	return r.noteCredentials(context.Background(), c, []permission.Decision{own}) // opening a file takes no context
}

// covers reports whether an entry lies below a recursive effect that includes its kind:
// who may replace all files in a folder may also make new ones there.
func covers(above, entry permission.Effect) bool {
	return above.Recursive && strings.HasPrefix(entry.Target, strings.TrimSuffix(above.Target, "/")+"/") &&
		(above.Kind == entry.Kind || above.Kind == permission.Overwrite && entry.Kind == permission.Create)
}

// approvedWith reports whether a person who approved an effect on a folder with all below
// it thereby approved this entry: one of the same class, that no rule asks about.
func approvedWith(above, own permission.Decision) bool {
	return above.Layer == permission.LayerApproval &&
		own.Verdict == permission.Ask && own.Layer == permission.LayerDefault && !own.NoAlways &&
		own.Effect.Class == above.Effect.Class
}
