package runtime

import (
	"testing"

	"github.com/aircoding/air/runtime/permission"
)

// TestDecidedBefore: what was decided holds as long as it is as much: a link, or the rest of
// a repository, may have come to be there since.
func TestDecidedBefore(t *testing.T) {
	of := func(class permission.Class, led bool) permission.Effect {
		return permission.Effect{Kind: permission.Create, Target: "/p/x", Class: class, Led: led}
	}
	for _, c := range []struct {
		before, now permission.Effect
		want        bool
	}{
		{of(permission.ClassProject, false), of(permission.ClassProject, false), true},
		{of(permission.ClassProject, false), of(permission.ClassObeyed, true), false},
		{of(permission.ClassProject, false), of(permission.ClassProtected, true), false},
		{of(permission.ClassObeyed, true), of(permission.ClassProject, false), true},
		{of(permission.ClassObeyed, true), of(permission.ClassProtected, true), true}, // the other files of it are there now
		{of(permission.ClassObeyed, false), of(permission.ClassProtected, true), false},
		{of(permission.ClassOutside, false), of(permission.ClassDangerous, false), false},
		{of("", false), of(permission.ClassPrivate, false), false},
		{of(permission.ClassPrivate, false), of("", false), true},
	} {
		commands := Commands{decisions: []permission.Decision{{Verdict: permission.Allow, Effect: c.before}}}
		if got := commands.decided(c.now); got != c.want {
			t.Errorf("decided as %q, %v, now %q, %v: %v", c.before.Class, c.before.Led, c.now.Class, c.now.Led, got)
		}
	}
}
