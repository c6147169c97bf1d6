package permission

import (
	"path"
	"testing"
)

func TestMayBeGuarded(t *testing.T) {
	for name, want := range map[string]bool{
		".env": true, ".ENV": true, ".env.local": true, ".e\u200bnv": true, "id_rsa": true, "tls.PEM": true, ".Git": true, ".air": true,
		".claude": true, "CLAUDE.md": true, "workflows": true, "config.toml": true, ".gitattributes": true,
		"env": false, "main.go": false, ".github": false, "pem": false, "environment": false, ".gitignore": false, "README.md": false,
	} {
		if got := MayBeGuarded(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestMayBeGuardedKnowsAllNames: whatever the class of a path in a project depends on, its
// last name or that of a folder above tells.
func TestMayBeGuardedKnowsAllNames(t *testing.T) {
	p := NewPaths(PathsConfig{ProjectRoot: "/srv/project"})
	all := append(GuardedFrom(Overwrite).Names, obeyedPaths...)
	for _, ending := range secretEndings {
		all = append(all, "a"+ending)
	}
	for _, name := range all {
		for _, kind := range []Kind{Read, Overwrite} {
			e, err := p.ByName(Effect{Kind: kind, Target: "/srv/project/sub/" + name})
			if err != nil {
				t.Fatal(err)
			}
			if e.Class != ClassProject && !MayBeGuarded(path.Base(name)) {
				t.Errorf("%s(%s) is %s, and its name says nothing", kind, e.Target, e.Class)
			}
		}
	}
}
