package interpret

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/permission"
)

// judge decides as the runtime does where there is nobody to ask.
type judge struct {
	paths   *permission.Paths
	engine  *permission.Engine
	subject permission.Subject
}

func newJudge(t *testing.T, at command.Place) judge {
	t.Helper()
	paths := permission.NewPaths(permission.PathsConfig{ProjectRoot: at.Root, Home: at.Home, AirHome: at.Home + "/.air"})
	engine, err := permission.Load(permission.Options{Paths: paths, Mode: permission.ModeWorkspaceWrite})
	if err != nil {
		t.Fatal(err)
	}
	return judge{paths, engine, permission.Subject{Tool: "shell.run", BuiltIn: true, Permissions: permission.Permissions{Execute: true}}}
}

func (j judge) decide(_ context.Context, effects []permission.Effect) error {
	var resolved []permission.Effect
	for _, e := range effects {
		r, err := j.paths.Resolve(e)
		if err != nil {
			return fault.New(fault.PermissionDenied, "unresolved", "%w", err)
		}
		resolved = append(resolved, r)
	}
	for _, d := range j.engine.Decide(permission.Request{Subject: j.subject, Effects: resolved, SessionID: "s"}) {
		if d.Verdict != permission.Allow {
			return fault.New(fault.PermissionDenied, "not_allowed", "%s: %s", d.Effect, d.Reason)
		}
	}
	return nil
}

// hunting is a folder with what the attempts are after.
func hunting(t *testing.T) command.Place {
	t.Helper()
	at := place(t)
	for name, text := range map[string]string{"x": "x\n", "keep/file": "kept\n", ".env": "SECRET\n", ".git/config": "[core]\n", "evil": "rm -rf keep\n", "../victim": "VICTIM\n"} {
		file := filepath.Join(at.Dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// kept are the files that an attempt is after, with what they hold.
func kept(t *testing.T, at command.Place) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{"x", "keep", ".env", ".git", "evil", "../victim"} {
		err := filepath.WalkDir(filepath.Join(at.Dir, name), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(file)
			all.WriteString(file + "=" + string(text))
			return err
		})
		if err != nil {
			all.WriteString(err.Error())
		}
	}
	return all.String()
}

// TestHostile has attempts that the analysis lets pass: the interpreter refuses them when it
// comes to it. What is asked about, or left to bash, before it runs is caught there.
func TestHostile(t *testing.T) {
	before, during := 0, 0
	for _, s := range scripts(t, "hostile.txt") {
		at := hunting(t)
		j := newJudge(t, at)
		effects, err := command.Analyse(s.text, at)
		if err != nil || j.decide(t.Context(), effects) != nil {
			before++
			continue
		}
		during++
		was := kept(t, at)
		o := interpreted(t, at, s.text, j.decide)
		if now := kept(t, at); now != was {
			t.Errorf("%s, line %d: %s\nchanged %s\ninto %s", s.area, s.line, s.text, was, now)
		}
		if strings.Contains(o.stdout, "SECRET") || strings.Contains(o.stdout, "VICTIM") {
			t.Errorf("%s, line %d: %s\nshows %q", s.area, s.line, s.text, o.stdout)
		}
		unsupported := o.code == exitUnsupported && strings.Contains(o.stderr, "does not support")
		if !unsupported && (o.code != exitRefused || !fault.Is(o.err, fault.PermissionDenied)) {
			t.Errorf("%s, line %d: %s\nends with %d, %v: %s%s", s.area, s.line, s.text, o.code, o.err, o.stdout, o.stderr)
		}
	}
	if during < 40 {
		t.Errorf("only %d attempts came to the interpreter: the test says little", during)
	}
	t.Logf("%d attempts are caught before they run, %d by the interpreter", before, during)
}

// TestRefusal: the first refusal ends all of it, and is what the host gets.
func TestRefusal(t *testing.T) {
	denied := errors.New("not that")
	asked := 0
	o := interpreted(t, place(t), "cat a; sort a & wc -l list; echo on; cat b.txt", func(_ context.Context, effects []permission.Effect) error {
		asked++
		for _, e := range effects {
			if e.Target == "wc -l list" {
				return denied
			}
		}
		return nil
	})
	if o.code != exitRefused || !errors.Is(o.err, denied) || o.err.Error() != denied.Error() || strings.Contains(o.stdout, "on\n") || !strings.Contains(o.stderr, "air: not that") || asked > 3 {
		t.Errorf("%+v, asked %d times", o, asked)
	}
}
