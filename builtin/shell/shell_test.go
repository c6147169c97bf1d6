package shell

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

type object = map[string]any

func plan(t *testing.T, at Place, input object) ([]permission.Effect, error) {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return Tools(at)["shell.run"].Plan(text)
}

func has(effects []permission.Effect, kind permission.Kind, target string) bool {
	for _, e := range effects {
		if e.Kind == kind && e.Target == target {
			return true
		}
	}
	return false
}

func TestFolder(t *testing.T) {
	for cwd, want := range map[string]string{
		".": "/p", "sub": "/p/sub", "./sub/": "/p/sub", "/else/where/": "/else/where",
		"link/..": "/p/link/..", "../x": "/p/../x", // where these lead is not known by name
	} {
		dir, err := Place{Root: "/p"}.dir(cwd)
		if err != nil || dir != want {
			t.Errorf("%s: %q, %v, want %q", cwd, dir, err, want)
		}
	}
	if _, err := plan(t, Place{}, object{"command": "ls", "cwd": "."}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a relative folder without a project: %v", err)
	}
	if _, err := plan(t, Place{}, object{"command": "ls", "cwd": "/x"}); err != nil {
		t.Errorf("an absolute folder without a project: %v", err)
	}
}

func TestEffects(t *testing.T) {
	effects, err := plan(t, Place{Root: "/p", Home: "/home/me"}, object{
		"command": "make test > out.txt; cat ~/notes", "cwd": "sub", "env": object{"LD_PRELOAD": "/x.so"}, "stdin": "rm -rf /",
	})
	if err != nil {
		t.Fatal(err)
	}
	if effects[0].Kind != permission.Read || effects[0].Target != "sub" || !effects[0].Folder {
		t.Errorf("the folder comes first: %+v", effects[0])
	}
	for _, want := range []permission.Effect{
		{Kind: permission.Run, Target: "make test"},
		{Kind: permission.Write, Target: "/p/sub/out.txt"},
		{Kind: permission.Read, Target: "/home/me/notes"},
		{Kind: permission.Env, Target: "LD_PRELOAD"},
	} {
		if !has(effects, want.Kind, want.Target) {
			t.Errorf("no %s in %v", want, effects)
		}
	}
	for _, e := range effects {
		if strings.Contains(e.Target, "rm -rf") {
			t.Errorf("standard input became %v", e)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, input := range map[string]object{
		"a broken command":     {"command": "if", "cwd": "."},
		"a hidden character":   {"command": "ls \u202e", "cwd": "."},
		"a variable with =":    {"command": "ls", "cwd": ".", "env": object{"A=B": "c"}},
		"a variable without":   {"command": "ls", "cwd": ".", "env": object{"": "c"}},
		"a NUL in a variable":  {"command": "ls", "cwd": ".", "env": object{"A": "b\x00c"}},
		"a NUL in a command":   {"command": "ls\x00x", "cwd": "."},
		"a carriage return in": {"command": "ls\rx", "cwd": "."},
	} {
		if effects, err := plan(t, Place{Root: "/p"}, input); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v, %v", name, effects, err)
		}
	}
}
