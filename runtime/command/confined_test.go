package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/runtime/permission"
)

// analysedAt are the effects of a command line.
func analysedAt(t *testing.T, text string, at Place) []permission.Effect {
	t.Helper()
	effects, err := Analyse(text, at)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return effects
}

// TestConfigures: what changes the settings of a repository says so before it runs.
func TestConfigures(t *testing.T) {
	for want, texts := range map[string]string{
		"/p/.git/config": `git config core.autocrlf false; git config --add user.name x; git config --unset user.name; git config set user.name x
			git remote add origin https://h.example/x; git remote remove x; git remote rename x y; git remote set-url origin https://h.example/x
			git branch -m x; git branch -M main; git branch -u origin/x; git branch --set-upstream-to=origin/x; git branch --unset-upstream
			git branch --edit-description; git switch -c t --track main; git switch -t origin/x; git checkout -b x origin/x
			git checkout --track origin/x; git push -u origin x; git pull --set-upstream origin x; git submodule add https://h.example/x y
			git submodule init; git submodule update --init; git submodule deinit x; git sparse-checkout set x`,
		"/p/.git/config.worktree": "git config --worktree user.name x",
		"/p/sub/.git/config":      "git -C sub config user.name x",
		"": `git config --get user.name; git config user.name; git config -l; git config --global user.name x; git config -f x a.b c; git remote -v
			git remote get-url origin; git branch; git branch x; git branch -d x; git switch -c x; git switch --detach origin/x; git switch main
			git checkout -b x; git checkout origin/x; git push origin x; git fetch; git submodule update; git submodule status; git commit -m origin/x`,
	} {
		for text := range strings.FieldsFuncSeq(texts, func(r rune) bool { return r == ';' || r == '\n' }) {
			got := ""
			for _, e := range analysedAt(t, text, Place{Dir: "/p/src", Root: "/p"}) {
				if e.Kind == permission.Write && strings.Contains(e.Target, ".git/config") {
					got += strings.Replace(e.Target, "/p/src/sub", "/p/sub", 1)
				}
			}
			if got != want {
				t.Errorf("%s: writes %q, want %q", text, got, want)
			}
		}
	}
}

// TestConfined: where no process is seen but its own, a command line signals what it likes, and
// gives words that it reads to what only reads.
func TestConfined(t *testing.T) {
	at := testPlace
	at.Confined = true
	for text, want := range map[string]string{
		"kill 99999; kill -0 1; kill $$; pkill -f server; sleep 9 & kill $!; kill %1; wait $!": "",
		"./kill 1":               "read(/p/kill) signal(1)",
		"ls | xargs grep -l one": "read(/p/.)", "ls | xargs -I% grep % /etc/x": "read(/etc/x) read(/p)",
	} {
		var got []string
		for _, e := range analysedAt(t, text, at) {
			switch {
			case e.Kind != permission.Run:
				got = append(got, e.String())
			case rank(e.Risk) > rank(permission.RiskWorkspace):
				t.Errorf("%s: %s is %s", text, e, e.Risk)
			}
		}
		slices.Sort(got)
		if all := strings.Join(slices.Compact(got), " "); strings.ReplaceAll(all, "/.", "") != strings.ReplaceAll(want, "/.", "") {
			t.Errorf("%s: %s, want %s", text, all, want)
		}
	}
	for _, text := range []string{"ls | xargs rm", "ls | xargs sort", "ls | xargs ./cat"} {
		if got := lines(t, text, at); got[0] != opaque(text) {
			t.Errorf("%s: %q", text, got)
		}
	}
	if got := lines(t, "ls | xargs cat", testPlace); got[0] != opaque("ls | xargs cat") {
		t.Errorf("not confined: %q", got)
	}
}

// TestAgain: a script that air's own shell runs is decided again when it comes to it; one that
// another shell runs is not.
func TestAgain(t *testing.T) {
	for text, want := range map[string]bool{
		"go build -o app && ./app": true, "printf x > r.sh && sh r.sh": true, "python3 -m venv v && v/bin/python -V": true, "timeout 5 ./app": true,
		"sh -c './app'": false, "./app; eval x": false,
	} {
		scripts, again := 0, 0
		for _, e := range analysedAt(t, text, testPlace) {
			if e.Kind == permission.Run && e.Script != "" {
				scripts++
				if e.Again {
					again++
				}
			}
		}
		if scripts == 0 || want != (again == scripts) {
			t.Errorf("%s: %d scripts, %d again", text, scripts, again)
		}
	}
	if effects, err := AnalyseProgram(Program{Argv: []string{"./app"}}, testPlace); err != nil || !effects[0].Again {
		t.Errorf("%+v, %v", effects, err)
	}
}

func TestBuildIntoFolder(t *testing.T) {
	if all := analysedAt(t, "go build -o bin/ ./cmd/app", testPlace); !slices.ContainsFunc(all, func(e permission.Effect) bool { return e.Target == "/p/bin" && e.Known }) {
		t.Errorf("%+v", all)
	}
}
