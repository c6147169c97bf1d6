package runner

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// rig is a person with a home and a project in it.
type rig struct {
	testing.TB
	*Runner
	home, root, state string
	env               map[string]string
}

// newRig makes a person's home with a project in it, and a runner whose environment is env
// over PATH.
func newRig(t testing.TB, env map[string]string) *rig {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	r := &rig{TB: t, home: filepath.Join(top, "person"), env: map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin"}}
	r.root, r.state = filepath.Join(r.home, "src", "project"), filepath.Join(r.home, ".air", "projects", "x")
	for name, value := range env {
		r.env[name] = strings.ReplaceAll(value, "~", r.home)
	}
	for _, dir := range []string{r.root, r.state} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	r.Runner = r.another("s1")
	return r
}

// another is a runner of another air process for the same project.
func (r *rig) another(session string) *Runner {
	paths := permission.NewPaths(permission.PathsConfig{
		ProjectRoot: r.root, Home: r.home, AirHome: filepath.Join(r.home, ".air"), Path: r.env["PATH"],
	})
	return New(Config{Paths: paths, Root: r.root, Home: r.home, State: r.state, Session: session, Getenv: func(name string) string { return r.env[name] }})
}

// put writes a file below the home.
func (r *rig) put(name, content string) string {
	r.Helper()
	file := filepath.Join(r.home, name)
	must(r, os.MkdirAll(filepath.Dir(file), 0o755))
	must(r, os.WriteFile(file, []byte(content), 0o755))
	return file
}

// needsSandbox skips where the machine has none.
func needsSandbox(t testing.TB) {
	t.Helper()
	if tier := sandbox.CommandTier(t.Context()); !tier.Held {
		t.Skip(tier.Reason)
	}
}

// line is a command line in the project that may do anything.
func (r *rig) line(text string) runtime.Launch {
	return runtime.Launch{ID: ids.New(), Text: text, Dir: r.root, Repository: true, Decide: func(context.Context, []permission.Effect) error { return nil }}
}

// run runs a launch, and returns what it wrote.
func (r *rig) run(l runtime.Launch) (runtime.Ended, string) {
	r.Helper()
	var out bytes.Buffer
	l.Stdout, l.Stderr = &out, &out
	ended, err := r.Launch(r.Context(), l)
	if err != nil {
		r.Fatalf("%s%q: %v\n%s", l.Text, l.Argv, err, out.String())
	}
	return ended, strings.TrimSpace(out.String())
}

// bash runs a script by bash, as a person allowed it, and expects that it succeeds.
func (r *rig) bash(script string) string {
	r.Helper()
	l := r.line(script)
	l.Bash = true
	ended, out := r.run(l)
	if ended.Code != 0 {
		r.Fatalf("%s: exit %d\n%s", script, ended.Code, out)
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
