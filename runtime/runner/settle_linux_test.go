package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// undecided is a script that bash runs, as a program would do the same.
func (g *ground) undecided(script string) runtime.Launch {
	return runtime.Launch{ID: ids.New(), Text: script, Bash: true, Dir: g.root}
}

// TestAppeared: what a command made that others obey is taken away, wherever it lies.
func TestAppeared(t *testing.T) {
	needsSandbox(t)
	for name, c := range map[string]struct {
		script   string
		withheld []string
	}{
		"embedded repository": {
			"mkdir -p p/objects p/refs; echo 'ref: refs/heads/m' > p/HEAD; printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = evil\n' > p/config",
			[]string{"p/HEAD"}},
		"worktree of another repository": {"mkdir p; echo ../x > p/commondir; echo 'ref: refs/heads/m' > p/HEAD", []string{"p/HEAD"}},
		"completed repository":           {"mkdir sub/objects sub/refs; echo x > sub/HEAD", []string{"sub/HEAD"}},
		"bare repository":                {"git init -q --bare p; mkdir q; git init -q --bare q/r", nil},
		"in what was downloaded": {
			"mkdir -p node_modules/new/deep; git init -q node_modules/new/deep; git init -q node_modules/p; git -C node_modules/p config core.fsmonitor evil; mkdir -p lib/site-packages/x/.git/hooks; touch lib/site-packages/x/.git/hooks/post-index-change",
			[]string{"lib/site-packages/x/.git", "node_modules/p/.git"}},
		"obeyed below the top": {
			"mkdir -p a/b/.vscode sub/.husky vendor/x/.vscode; echo x > a/b/.vscode/tasks.json; echo x > sub/CLAUDE.md; echo x > sub/.envrc; echo x > a/server.pem",
			[]string{"a/b/.vscode", "sub/.envrc", "sub/.husky", "sub/CLAUDE.md"}},
		"a path too long":  {"mkdir .cursor; cd sub; n=$(printf 'a%.0s' {1..200}); for i in {1..25}; do mkdir $n; cd $n; done; mkdir .husky", nil},
		"folders closed":   {"mkdir .cursor; mkdir -p sub/deep/.git/hooks work/.idea; echo x > sub/deep/.git/config; chmod 0 sub/deep; chmod 0 sub work; chmod 555 .", []string{".cursor", "sub/deep/.git", "work/.idea"}},
		"a name too long":  {"touch $(printf 'a%.0s' {1..250}).pem", nil},
		"undecided folder": {"mkdir .github/workflows.d; mkdir -p x/.github/workflows; touch x/.github/workflows/ci.yml", []string{"x/.github/workflows"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			g.put("src/project/node_modules/p/index.js", "")
			t.Cleanup(func() { g.unlockAll() })
			l := g.undecided(c.script)
			_, err := g.Launch(t.Context(), l)
			g.unlockAll()
			if c.withheld == nil && !strings.Contains(name, "too long") {
				must(t, err)
				return
			}
			if !fault.Is(err, fault.PermissionDenied) {
				t.Fatalf("got %v", err)
			}
			if c.withheld != nil {
				g.withheld(err, c.withheld, l.ID)
			}
			if _, err := os.Lstat(filepath.Join(g.root, ".cursor")); err == nil {
				t.Error(".cursor is there")
			}
			_, err = g.Launch(t.Context(), g.undecided("true"))
			must(t, err)
		})
	}
}

// unlockAll opens the folders that a script closed.
func (g *ground) unlockAll() {
	_ = exec.Command("chmod", "-R", "u+rwx", g.root).Run()
}

// TestGitInitInTheRoot: a project becomes a repository, and nothing that git makes of itself
// is taken away.
func TestGitInitInTheRoot(t *testing.T) {
	needsSandbox(t)
	for _, text := range []string{"git init -q -b main", "git init -q -b main . && git add -A && git commit -q -m first", "git clone -q --no-local sub/from . && ls"} {
		g := &ground{rig: newRig(t, nil)}
		if _, err := exec.LookPath("git"); err != nil {
			t.Skip("git is missing: apt-get install git")
		}
		g.put(".gitconfig", "[user]\n\tname = A\n\temail = a@b.c\n")
		if strings.Contains(text, "add") {
			g.put("src/project/a", "")
		}
		if strings.Contains(text, "clone") {
			g.host(g.root, "git", "init", "-q", "../from")
			g.host(filepath.Join(g.root, "../from"), "git", "commit", "-q", "--allow-empty", "-m", "x")
			text = strings.ReplaceAll(text, "sub/from", filepath.Join(g.home, "src/from"))
		}
		l := g.planned(g.root, text)
		l.Bash, l.Decide = false, func(context.Context, []permission.Effect) error { return nil }
		g.succeeds(l)
		if _, err := os.Stat(filepath.Join(g.root, ".git/config")); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		g.host(g.root, "git", "status")
	}
}

// TestGitAccepted: what git brings from another branch or a clone is the person's.
func TestGitAccepted(t *testing.T) {
	needsSandbox(t)
	g := newRepository(t)
	g.host(g.root, "git", "switch", "-q", "-c", "topic")
	g.put("src/project/inner/CLAUDE.md", "x")
	g.put("src/project/inner/.vscode/tasks.json", "x")
	g.host(g.root, "git", "add", "-f", "inner")
	g.host(g.root, "git", "commit", "-q", "-m", "inner")
	g.host(g.root, "git", "switch", "-q", "main")
	for _, text := range []string{"git switch -q topic", "git switch -q main && git switch -q topic && true", "git clone -q . copy && ls copy"} {
		l := g.planned(g.root, text)
		l.Bash, l.Decide = false, func(context.Context, []permission.Effect) error { return nil }
		g.succeeds(l)
	}
	if _, err := os.Lstat(filepath.Join(g.root, "inner/CLAUDE.md")); err != nil {
		t.Error(err)
	}
}

// TestAppearedForAnother: what was decided for a run is not taken away by another that runs
// at the same time, and what nobody decided about is.
func TestAppearedForAnother(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	done := make(chan error)
	started := make(chan int, 1)
	slow := g.undecided("while [ ! -e go ]; do sleep 0.05; done; mkdir .cursor")
	slow.Started = func(pid int) { started <- pid }
	go func() {
		_, err := g.Launch(t.Context(), slow)
		done <- err
	}()
	<-started
	other := g.another("s2")
	l := g.planned(g.root, "mkdir .husky && echo x > .husky/pre-commit")
	if _, err := other.Launch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	g.put("src/project/go", "")
	g.withheld(<-done, []string{".cursor"}, slow.ID)
	if _, err := os.Lstat(filepath.Join(g.root, ".husky/pre-commit")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(g.state, "state/unsettled")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestAppearedUnsettled: what a command made whose air was killed is taken away before the
// next one runs.
func TestAppearedUnsettled(t *testing.T) {
	needsSandbox(t)
	if at := os.Getenv("AIR_TEST_DIES"); at != "" {
		dies(t, at)
		return
	}
	g := newGround(t)
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestAppearedUnsettled$")
	cmd.Env = append(os.Environ(), "AIR_TEST_DIES="+g.home)
	must(t, cmd.Start())
	until(t, func() bool { _, err := os.Lstat(filepath.Join(g.root, "ready")); return err == nil })
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	_, err := g.Launch(t.Context(), g.undecided("touch ran"))
	g.withheld(err, []string{".cursor", "sub/.git"}, "killed")
	if _, err := os.Lstat(filepath.Join(g.root, "ran")); err == nil {
		t.Error("the next command ran without a word")
	}
	must(t, os.Mkdir(filepath.Join(g.root, ".cursor"), 0o700))
	_, err = g.Launch(t.Context(), g.undecided("touch ran"))
	must(t, err)
	if _, err := os.Lstat(filepath.Join(g.root, ".cursor")); err != nil {
		t.Error("what a person makes afterwards is taken away")
	}
}

// dies runs a command in the project of another test process, and is killed.
func dies(t *testing.T, home string) {
	r := &rig{TB: t, home: home, root: filepath.Join(home, "src/project"), state: filepath.Join(home, ".air/projects/x"), env: map[string]string{"PATH": os.Getenv("PATH")}}
	l := runtime.Launch{ID: "killed", Bash: true, Dir: r.root, Text: "mkdir .cursor; mkdir -p sub/.git; echo x > sub/.git/config; touch ready; sleep 60"}
	_, err := r.another("s9").Launch(t.Context(), l)
	must(t, err)
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}

// TestAppearedStuck: while something cannot be renamed, nothing runs.
func TestAppearedStuck(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	l := g.undecided("mkdir .cursor")
	for try := range maxTries {
		name := ".cursor" + withheldMark + l.ID
		if try > 0 {
			name += fmt.Sprintf("-%d", try)
		}
		must(t, os.Mkdir(filepath.Join(g.root, name), 0o700))
	}
	for _, run := range []runtime.Launch{l, g.undecided("touch ran"), g.undecided("touch ran")} {
		_, err := g.Launch(t.Context(), run)
		if !fault.Is(err, fault.PermissionDenied) || !strings.Contains(err.Error(), ".cursor could not be renamed") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := os.Lstat(filepath.Join(g.root, "ran")); err == nil {
		t.Error("a command ran")
	}
	must(t, os.Remove(filepath.Join(g.root, ".cursor")))
	_, err := g.Launch(t.Context(), g.undecided("true"))
	must(t, err)
}

// TestAppearedTooMuch: a command that makes more than can be looked through does not keep the
// next one from running.
func TestAppearedTooMuch(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	l := g.undecided(fmt.Sprintf("mkdir .cursor many; cd many; for i in {1..%d}; do echo > $i.pem; done", maxGuards+1))
	_, err := g.Launch(t.Context(), l)
	g.withheld(err, []string{".cursor", "many"}, l.ID)
	_, err = g.Launch(t.Context(), g.undecided("ls many* | grep 77.pem && exit 1; true"))
	must(t, err)
}

// TestDecidedPlaces: what was to be made outside and was not is not left there empty.
func TestDecidedPlaces(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	text := strings.ReplaceAll("touch OUT/touched; : > OUT/emptied; false && touch OUT/never; mkdir -p 'OUT/c d' && echo x > 'OUT/c d/file'", "OUT", g.outside)
	l := g.planned(g.root, text)
	var out bytes.Buffer
	l.Stdout, l.Stderr = &out, &out
	if ended, err := g.Launch(t.Context(), l); err != nil || ended.Code != 0 {
		t.Fatalf("%+v, %v, %s", ended, err, out.String())
	}
	for name, want := range map[string]bool{"touched": true, "emptied": true, "never": false, "c d/file": true} {
		if _, err := os.Lstat(filepath.Join(g.outside, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	l = g.planned(g.root, "false && mkdir "+g.outside+"/none")
	if _, err := g.Launch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(g.outside, "none")); err == nil {
		t.Error("a folder is left")
	}
}
