package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// scoped is a project with files for scopes, and a launch whose callers have them.
func scoped(t *testing.T, text string, scopes ...permission.Scopes) (*rig, runtime.Launch) {
	needsSandbox(t)
	r := newRig(t, nil)
	for _, name := range []string{"secret.txt", "src.txt", "data/in.csv", "data/out/old", "data/.env", "README.md", "docs/a.md", ".vscode/tasks.json", "data/out/.claude/x"} {
		r.put("src/project/"+name, name+"\n")
	}
	must(t, os.Link(filepath.Join(r.root, "data/.env"), filepath.Join(r.root, "env.md")))
	must(t, os.Symlink("secret.txt", filepath.Join(r.root, "link.md")))
	var chain []permission.Caller
	for _, s := range scopes {
		chain = append(chain, permission.Caller{Capability: "x", Permissions: permission.Permissions{Read: true, Write: true}, Scopes: s})
	}
	l := r.line(text)
	l.Bash, l.Bounds = true, r.config.Paths.BoundsOf(chain)
	return r, l
}

// see lists the files of the project that a launch sees, with those marked that it can
// write, and its working folder.
const see = `find "$PROJECT" \( -type f -o -type l \) -printf '%P\n' 2> /dev/null | LC_ALL=C sort | while read f; do
	if { true >> "$PROJECT/$f"; } 2> /dev/null; then echo "$f +"; else cat "$PROJECT/$f" > /dev/null 2>&1 && echo "$f"; fi; done
	for d in . data data/out docs; do touch "$PROJECT/$d/new" 2> /dev/null && echo "new in $d"; done; true`

// TestBoundsOfCapabilities: a program sees what every capability that led to it declared, and
// nothing else of the project.
func TestBoundsOfCapabilities(t *testing.T) {
	data := permission.Scopes{Read: []string{"data", "data/**"}, Write: []string{"data/out/**"}}
	for _, c := range []struct {
		name   string
		dir    string
		scopes []permission.Scopes
		want   []string
	}{
		{"a folder", "data/out", []permission.Scopes{data}, []string{"data/in.csv", "data/out/.claude/x", "data/out/old +", "new in data/out"}},
		{"two folders", "docs", []permission.Scopes{data, {Read: []string{"data/out/**", "README.md"}, Write: []string{"data/**"}}},
			[]string{"data/out/.claude/x", "data/out/old +", "new in data/out"}},
		{"files by a wildcard", ".", []permission.Scopes{{Read: []string{"*.md", ".vscode/**"}, Write: []string{"README.md", ".vscode/**"}}},
			[]string{".vscode/tasks.json", "README.md +"}},
		{"all to read", ".", []permission.Scopes{{Read: []string{"**"}, Write: []string{"data/out/**", "docs/*.md"}}},
			[]string{".vscode/tasks.json", "README.md", "data/in.csv", "data/out/.claude/x", "data/out/old +", "docs/a.md +", "link.md", "secret.txt", "src.txt", "new in data/out"}},
		{"nothing to read", "data", []permission.Scopes{{Read: []string{}, Write: []string{"data/**"}}}, nil},
		{"what is protected", "data", []permission.Scopes{{Read: []string{".env", "data/.env", "data/none"}}}, nil},
		{"the whole project", ".", []permission.Scopes{{}},
			[]string{".vscode/tasks.json", "README.md +", "data/in.csv +", "data/out/.claude/x", "data/out/old +", "docs/a.md +", "link.md +", "secret.txt +", "src.txt +",
				"new in .", "new in data", "new in data/out", "new in docs"}},
	} {
		r, l := scoped(t, "test -d . && test \"$PWD\" = \"$START\" && "+see, c.scopes...)
		l.Dir = filepath.Join(r.root, c.dir)
		l.Env = map[string]string{"PROJECT": r.root, "START": l.Dir}
		ended, out := r.run(l)
		if want := strings.Join(c.want, "\n"); out != want || ended.Code != 0 {
			t.Errorf("%s: exit %d, it sees\n%s\nwant\n%s", c.name, ended.Code, out, want)
		}
		if left, err := filepath.Glob(filepath.Join(r.state, "state", "bounded-*")); len(left) > 0 || err != nil {
			t.Errorf("%s left %s, %v", c.name, left, err)
		}
	}
}

// TestDeniedByRule: what a rule denies stays closed to programs.
func TestDeniedByRule(t *testing.T) {
	r, l := scoped(t, see)
	l.Env = map[string]string{"PROJECT": r.root}
	l.Denied = func(kind permission.Kind, path string) bool {
		rel, _ := filepath.Rel(r.root, path)
		switch {
		case kind == permission.Read:
			return strings.HasPrefix(rel, "docs") || rel == "secret.txt"
		case kind == permission.Delete:
			return rel == "README.md"
		}
		return strings.HasPrefix(rel, "data/out")
	}
	want := []string{".vscode/tasks.json", "README.md", "data/in.csv +", "data/out/.claude/x", "data/out/old", "src.txt +", "new in .", "new in data"}
	if _, out := r.run(l); out != strings.Join(want, "\n") {
		t.Errorf("it sees\n%s\nwant\n%s", out, strings.Join(want, "\n"))
	}
	program := runtime.Launch{ID: "x", Argv: []string{"cat", "docs/a.md"}, Dir: r.root, Whole: true, Denied: l.Denied}
	if ended, out := r.run(program); ended.Code != 0 {
		t.Errorf("a tool that has to do with all files: %s", out)
	}
	l.Denied = func(kind permission.Kind, path string) bool { return kind == permission.Create }
	if _, out := r.run(l); strings.Contains(out, "+") || strings.Contains(out, "new in") {
		t.Errorf("of a project that is denied to be written it writes\n%s", out)
	}
}

// TestGuardedLinks: a guarded name that is a link guards what it leads to.
func TestGuardedLinks(t *testing.T) {
	r, l := scoped(t, see)
	l.Env = map[string]string{"PROJECT": r.root}
	must(t, os.Symlink("data/in.csv", filepath.Join(r.root, ".env")))
	must(t, os.Symlink("docs", filepath.Join(r.root, ".idea")))
	must(t, os.Symlink("missing", filepath.Join(r.root, ".envrc")))
	want := []string{".vscode/tasks.json", "README.md +", "data/out/.claude/x", "data/out/old +", "docs/a.md", "link.md +", "secret.txt +", "src.txt +", "new in .", "new in data", "new in data/out"}
	l.Text = strings.ReplaceAll(see, "-type l", "-name link.md")
	if _, out := r.run(l); out != strings.Join(want, "\n") {
		t.Errorf("it sees\n%s\nwant\n%s", out, strings.Join(want, "\n"))
	}
	l = r.line("cat data/in.csv && echo x >> data/in.csv; cat data/in.csv")
	l.Bash = true
	l.Effects = []permission.Effect{{Kind: permission.Read, Target: filepath.Join(r.root, "data/in.csv"), Class: permission.ClassProject}}
	if _, out := r.run(l); !strings.HasPrefix(out, "data/in.csv\n") || !strings.Contains(out, "Read-only") {
		t.Errorf("decided by its own name it shows %q", out)
	}
}

// TestS19EmbeddedRepository: what git obeys in a repository without the name of one is
// read-only for programs.
func TestS19EmbeddedRepository(t *testing.T) {
	r, l := scoped(t, see)
	for _, name := range []string{"bare/HEAD", "bare/config", "bare/objects/x", "bare/refs/x", "bare/hooks/pre-push", "src/HEAD", "src/config"} {
		r.put("src/project/"+name, "")
	}
	l.Env = map[string]string{"PROJECT": r.root}
	_, out := r.run(l)
	for _, name := range []string{"bare/config", "bare/hooks/pre-push", "bare/objects/x +", "src/HEAD +", "src/config +"} {
		if !strings.Contains(out+"\n", name+"\n") {
			t.Errorf("there is no %q in\n%s", name, out)
		}
	}
}

// TestBoundsWithoutSandbox: where nothing bounds what a command sees, it does not run.
func TestBoundsWithoutSandbox(t *testing.T) {
	r, l := scoped(t, "true", permission.Scopes{Read: []string{"data/**"}})
	r.config.Bare = true
	r.confined = new(bool)
	var f *fault.Error
	if ended, err := r.Launch(t.Context(), l); !errors.As(err, &f) || f.Code != "capability_ceiling" || ended.Ran() {
		t.Errorf("it ends with %v, %+v", err, ended)
	}
}
