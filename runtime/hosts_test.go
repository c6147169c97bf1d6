package runtime_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	hosts "github.com/aircoding/air/runtime/network"
	"github.com/aircoding/air/runtime/permission"
)

// The one question about a command is about the hosts too that its program's configuration
// names, and who denies one of them denies the command.
func TestTheQuestionNamesConfiguredHosts(t *testing.T) {
	for _, name := range []string{"GOSUMDB", "npm_config_registry", "NPM_CONFIG_REGISTRY"} {
		t.Setenv(name, "")
	}
	t.Setenv("GOPROXY", "https://modules.example,direct")
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
	r.Put("web/app/.npmrc", "registry=https://app.example/\n")
	for command, want := range map[string][]string{
		"npm install":         {"run(npm install)", "net(https://npm.example:443)"},
		"cd app && npm ci":    {"run(npm ci)", "net(https://app.example:443)"},
		"go mod download":     {"run(go mod download)", "net(https://modules.example:443)"},
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

// A host that only turns up while a command runs is asked about once, while the program
// waits: the command's time does not pass meanwhile. Without a person it is refused.
func TestHostsAskedAboutLate(t *testing.T) {
	rig.NeedsSandbox(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl here: apt-get install curl")
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") }))
	defer page.Close()
	_, pagePort, _ := net.SplitHostPort(page.Listener.Addr().String())
	elsewhere := "http://elsewhere.internal:" + pagePort
	start := httptest.NewServer(http.RedirectHandler(elsewhere, http.StatusFound))
	defer start.Close()
	_, port, _ := net.SplitHostPort(start.Listener.Addr().String())
	here := "http://start.internal:" + port
	local := hosts.Fetcher{Dialer: hosts.Dialer{Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}}
	rules := "schema_version: 1\nrules:\n  - allow: run(curl **)\n  - allow: net(" + here + ")\n"
	command := map[string]any{"command": "for i in 1 2; do curl -sSfL " + here + "; done", "cwd": ".", "timeout_ms": 3000}
	for _, c := range []struct {
		choice permission.Choice
		stdout string
	}{{permission.Once, "reachedreached"}, {permission.Refuse, ""}, {"", ""}} {
		var asked []string
		var approver permission.Approver
		if c.choice != "" {
			approver = rig.Person(func(_ context.Context, q permission.Question) (permission.Answer, error) {
				for _, d := range q.Asks {
					asked = append(asked, d.Effect.Target)
				}
				if c.choice == permission.Once {
					time.Sleep(3500 * time.Millisecond)
				}
				return permission.Answer{Choice: c.choice}, nil
			})
		}
		var output struct {
			ExitCode int    `json:"exit_code"`
			Stdout   string `json:"stdout_preview"`
			Stderr   string `json:"stderr_preview"`
		}
		r := rig.New(t, rig.Options{Rules: rules, Approver: approver, Network: local})
		e := r.Must("shell.run", command, &output)
		if output.Stdout != c.stdout || (output.ExitCode == 0) != (c.stdout != "") {
			t.Errorf("%q: %d %q %q", c.choice, output.ExitCode, output.Stdout, output.Stderr)
		}
		if want := map[bool]int{true: 1}[c.choice != ""]; len(asked) != want || want > 0 && asked[0] != elsewhere {
			t.Errorf("%q: asked about %v", c.choice, asked)
		}
		if c.stdout == "" && !strings.Contains(output.Stderr, elsewhere+" is not reached") {
			t.Errorf("%q: %q", c.choice, output.Stderr)
		}
		decided := 0
		for _, event := range r.Events(e.RunID) {
			if event.Type == "permission.decided" && strings.Contains(string(event.Payload), elsewhere) {
				decided++
			}
		}
		if decided != 1 {
			t.Errorf("%q: %d decisions are recorded", c.choice, decided)
		}
	}
}

// Who allows any public host is asked about no other one in the run, but still about what
// turns out to be private, and what a rule denies stays denied.
func TestAnyHostForThisRun(t *testing.T) {
	rig.NeedsSandbox(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl here: apt-get install curl")
	}
	var asked []string
	person := rig.Person(func(_ context.Context, q permission.Question) (permission.Answer, error) {
		for _, d := range q.Asks {
			asked = append(asked, strings.TrimSpace(d.Effect.Target+" "+string(d.Effect.Class)))
		}
		if q.AnyHost {
			return permission.Answer{Choice: permission.AnyHost}, nil
		}
		return permission.Answer{Choice: permission.Refuse}, nil
	})
	local := hosts.Fetcher{Dialer: hosts.Dialer{Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}}
	rules := "schema_version: 1\nrules:\n  - allow: run(curl **)\n  - deny: net(http://denied.example:80)\n"
	r := rig.New(t, rig.Options{Rules: rules, Approver: person, Network: local})
	text := `for h in one two denied; do curl -sS --config - <<<"url = http://$h.example"; done`
	r.Call("shell.run", map[string]any{"command": text, "cwd": "."})
	want := []string{"http://one.example:80", "http://one.example:80 private", "http://two.example:80 private"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
}
