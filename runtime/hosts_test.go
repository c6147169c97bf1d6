package runtime_test

import (
	"context"
	"slices"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime/permission"
)

// The one question about a command is about the hosts too that its program's configuration
// names, and who denies one of them denies the command.
func TestTheQuestionNamesConfiguredHosts(t *testing.T) {
	for _, name := range []string{"GOPROXY", "GOSUMDB", "npm_config_registry", "NPM_CONFIG_REGISTRY"} {
		t.Setenv(name, "")
	}
	var questions [][]string
	deny := rig.Person(func(_ context.Context, q permission.Question) (permission.Answer, error) {
		var asks []string
		for _, d := range q.Asks {
			asks = append(asks, d.Effect.String())
		}
		questions = append(questions, asks)
		return permission.Answer{Choice: permission.Refuse}, nil
	})
	r := rig.New(t, rig.Options{Approver: deny})
	r.Put("web/.npmrc", "registry=https://npm.example/\n")
	r.Put(".git/config", "[remote \"origin\"]\n\turl = https://git.example/x\n")
	for command, want := range map[string][]string{
		"npm install":         {"run(npm install)", "net(https://npm.example:443)"},
		"go mod download":     {"run(go mod download)", "net(https://proxy.golang.org:443)", "net(https://sum.golang.org:443)"},
		"git fetch":           {"run(git fetch)", "net(https://git.example:443)"},
		"curl https://x.test": {"run(curl https://x.test)", "net(https://x.test:443)"},
	} {
		questions = nil
		e := r.Call("shell.run", map[string]any{"command": command, "cwd": "web"})
		if e.Error == nil || e.Error.Kind != fault.PermissionDenied || len(questions) != 1 {
			t.Errorf("%s: %v, %v", command, e.Error, questions)
			continue
		}
		slices.Sort(want)
		if slices.Sort(questions[0]); !slices.Equal(questions[0], want) {
			t.Errorf("%s: asked about %v, want %v", command, questions[0], want)
		}
	}
	rules := "schema_version: 1\nrules:\n  - allow: run(npm install)\n  - deny: net(https://*.example:*)\n"
	r = rig.New(t, rig.Options{Rules: rules})
	r.Put("web/.npmrc", "registry=https://npm.example/\n")
	if e := r.Call("shell.run", map[string]any{"command": "npm install", "cwd": "web"}); e.Error == nil || e.Error.Kind != fault.PermissionDenied {
		t.Errorf("%v", e.Error)
	}
}
