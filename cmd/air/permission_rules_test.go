package main

import (
	"slices"
	"testing"

	"github.com/aircoding/air/runtime/permission"
)

func TestShortIDs(t *testing.T) {
	grants := func(ids ...string) (list []permission.Grant) {
		for _, id := range ids {
			list = append(list, permission.Grant{ID: id})
		}
		return list
	}
	for _, c := range []struct{ ids, want []string }{
		{nil, []string{}},
		{[]string{"01a22d61-9cc0-7ab4"}, []string{"01a22d61"}},
		{[]string{"01a22d61-9cc0-7ab4", "01a22d62-9cc0-7ab4"}, []string{"01a22d61", "01a22d62"}},
		{[]string{"01a22d61-9cc0-7ab4", "01a22d61-9cd0-7ab4", "01b"}, []string{"01a22d61-9cc", "01a22d61-9cd", "01b"}},
		{[]string{"01a22d61-9cc0", "01a22d61-9cc0-7"}, []string{"01a22d61-9cc0", "01a22d61-9cc0-"}},
	} {
		if got := shortIDs(grants(c.ids...)); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.ids, got, c.want)
		}
	}
}

// TestGrantTextCoversItsEffectAlone grants each text to an engine that would ask.
func TestGrantTextCoversItsEffectAlone(t *testing.T) {
	root := t.TempDir()
	paths := permission.NewPaths(permission.PathsConfig{ProjectRoot: root, AirHome: t.TempDir()})
	root = paths.Root()
	overwrite := func(target string) permission.Effect {
		return permission.Effect{Kind: permission.Overwrite, Target: target, Class: permission.ClassProject}
	}
	read := func(target string) permission.Effect {
		return permission.Effect{Kind: permission.Read, Target: target, Class: permission.ClassOutside, Recursive: true}
	}
	run := func(argv ...string) permission.Effect {
		return permission.Effect{Kind: permission.Run, Target: permission.JoinArgv(argv), Risk: permission.RiskNetwork}
	}
	for _, c := range []struct {
		effect, other permission.Effect
		want          string
	}{
		{overwrite(root + "/a b.txt"), overwrite(root + "/a.txt"), "overwrite(a b.txt)"},
		{overwrite(root + "/*.txt"), overwrite(root + "/a.txt"), `overwrite(\*.txt)`},
		{overwrite(root + "/[a]{b}?"), overwrite(root + "/abc"), `overwrite(\[a\]\{b\}\?)`},
		{overwrite(root + "/~/x"), overwrite(root + "/x"), `overwrite(\~/x)`},
		{read("/srv/data"), read("/srv/database"), "read(/srv/data/**)"},
		{run("git", "push", "a b", "*"), run("git", "push", "a", "b", "c"), "run(git push 'a b' '*')"},
		{permission.Effect{Kind: permission.Net, Target: "https://example.com:443"}, permission.Effect{Kind: permission.Net, Target: "https://example.com:444"}, "net(https://example.com:443)"},
		{permission.Effect{Kind: permission.Env, Target: "GOFLAGS"}, permission.Effect{Kind: permission.Env, Target: "GOFLAG"}, "env(GOFLAGS)"},
	} {
		text, ok := grantText(paths, &c.effect)
		if !ok || text != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.effect, text, ok, c.want)
			continue
		}
		engine, err := permission.Load(permission.Options{Paths: paths})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.AddGrant(t.Context(), permission.Grant{Rule: "allow: " + text}); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		request := permission.Request{Subject: permission.Subject{Tool: "t", BuiltIn: true}, Effects: []permission.Effect{c.effect, c.other}}
		decided := engine.Decide(request)
		if decided[0].Verdict != permission.Allow || decided[1].Verdict != permission.Ask {
			t.Errorf("%s: got %s for %s and %s for %s", text, decided[0].Verdict, c.effect, decided[1].Verdict, c.other)
		}
	}
	hidden := overwrite(root + "/a\u202e.txt")
	if text, ok := grantText(paths, &hidden); ok {
		t.Errorf("got %q", text)
	}
}
