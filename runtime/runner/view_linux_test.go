package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// succeeds runs a launch that has to succeed, and returns what it wrote.
func (g *ground) succeeds(l runtime.Launch) string {
	g.Helper()
	var out bytes.Buffer
	l.Stdout, l.Stderr = &out, &out
	ended, err := g.Launch(g.Context(), l)
	if err != nil || ended.Code != 0 {
		g.Fatalf("%s%q: exit %d, %v\n%s", l.Text, l.Argv, ended.Code, err, out.String())
	}
	return strings.TrimSpace(out.String())
}

// newRepository is a ground whose repository has no settings but git's own.
func newRepository(t *testing.T) *ground {
	g := newGround(t)
	for _, key := range []string{"core.fsmonitor", "diff.evil.textconv", "diff.external"} {
		g.host(g.root, "git", "config", "--unset", key)
	}
	must(t, os.RemoveAll(filepath.Join(g.root, "gitlink")))
	g.put(".gitconfig", "[user]\n\tname = A\n\temail = a@b.c\n")
	g.put("src/project/.gitignore", "*\n!.gitignore\n!*.txt\n")
	g.host(g.root, "git", "add", ".gitignore")
	g.host(g.root, "git", "commit", "-q", "-m", "ignore")
	return g
}

// TestGitCommandsThatWrite: agents commit all day. That the plan has them write is what the
// analysis says of their words.
func TestGitCommandsThatWrite(t *testing.T) {
	needsSandbox(t)
	g := newRepository(t)
	for _, text := range []string{
		"git status --porcelain", "git diff --exit-code -- .gitignore", "git log --oneline",
		"git add a.txt && git commit -q -m second",
		"git switch -q -c topic && echo three > a.txt && git commit -qam third && git switch -q main",
		"echo b > b.txt && git add b.txt && git commit -q -m fourth",
		"git switch -q topic && git rebase -q main && git switch -q main && git merge -q --no-ff -m merged topic",
		"echo four > a.txt && git stash -q && git stash pop -q && git checkout -q -- a.txt",
		"git tag v1 && git branch other && git branch -d other && git cherry-pick --no-commit HEAD~1 || git reset -q --hard",
		"git mv b.txt c.txt && git commit -q -m moved && git revert --no-edit HEAD",
		"git worktree add -q ../../../../work HEAD || git worktree add -q tree HEAD && git -C tree log --oneline",
		"git gc -q",
	} {
		l := g.planned(g.root, text)
		l.Bash, l.Decide = false, func(context.Context, []permission.Effect) error { return nil }
		g.succeeds(l)
	}
	if got := g.host(g.root, "git", "log", "--format=%s", "-3"); got != "Revert \"moved\"\nmoved\nmerged" {
		t.Errorf("the log is %q", got)
	}
	g.host(g.root, "git", "fsck", "--strict")
}

// TestGitWritesOnlyWhenPlanned: a program that nobody planned as git has .git read-only.
func TestGitWritesOnlyWhenPlanned(t *testing.T) {
	needsSandbox(t)
	g := newRepository(t)
	l := g.planned(g.root, "make -f commit.mk")
	g.put("src/project/commit.mk", "all:\n\tgit commit -q --allow-empty -m sneaked\n")
	if ended, err := g.Launch(t.Context(), l); ended.Code == 0 || err != nil {
		t.Errorf("exit %d, %v", ended.Code, err)
	}
	if got := g.host(g.root, "git", "log", "--format=%s", "-1"); got != "ignore" {
		t.Errorf("the last commit is %q", got)
	}
}

// TestRepositoryIsOpenToGitAlone: what else a command line with git in it starts finds .git
// read-only, and so does all of one that bash runs.
func TestRepositoryIsOpenToGitAlone(t *testing.T) {
	needsSandbox(t)
	g := newRepository(t)
	allow := func(context.Context, []permission.Effect) error { return nil }
	l := g.planned(g.root, "git add a.txt; make -f link.mk; git commit -q -m second && git log --format=%s -1")
	g.put("src/project/link.mk", "all:\n\t-ln -sf ../../../x .git/COMMIT_EDITMSG\n\t-mkdir .git/rebase-merge\n")
	l.Bash, l.Decide = false, allow
	if got := g.succeeds(l); !strings.Contains(got, "Read-only") || !strings.HasSuffix(strings.TrimSpace(got), "second") {
		t.Errorf("it shows %q", got)
	}
	for _, name := range []string{".git/rebase-merge"} {
		if _, err := os.Lstat(filepath.Join(g.root, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	if ended, err := g.Launch(t.Context(), g.planned(g.root, "git add a.txt; git commit -q --allow-empty -m third")); ended.Code == 0 || err != nil {
		t.Errorf("under bash: exit %d, %v", ended.Code, err)
	}
}

// TestRepositoryIsOpenToGitByItsName: what runs git among other things, and a file of that name,
// find .git read-only.
func TestRepositoryIsOpenToGitByItsName(t *testing.T) {
	needsSandbox(t)
	g := newRepository(t)
	g.put("src/project/git", "#!/bin/sh\nln -sf x .git/planted\n")
	must(t, os.Chmod(filepath.Join(g.root, "git"), 0o755))
	for _, text := range []string{
		"sh -c 'git add a.txt; sh ./git'", "timeout 5 sh -c 'git add a.txt; sh ./git'", "./git add a.txt", "./git add a.txt; true",
		"find . -maxdepth 0 -exec sh ./git ';' -exec git add a.txt ';'",
	} {
		l := g.planned(g.root, text)
		l.Bash, l.Decide = false, func(context.Context, []permission.Effect) error { return nil }
		if _, err := g.Launch(t.Context(), l); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := os.Lstat(filepath.Join(g.root, ".git/planted")); err == nil {
			t.Errorf("%s: a link was planted", text)
			must(t, os.Remove(filepath.Join(g.root, ".git/planted")))
		}
	}
}

// TestOddNamesInARepository: what a program that git runs, by a setting of the person's, makes in
// a repository is withheld where git would write through it or go on with it.
func TestOddNamesInARepository(t *testing.T) {
	needsSandbox(t)
	g := newRepository(t)
	g.host(g.root, "git", "config", "filter.fmt.clean", "sh fmt.sh")
	g.put("src/project/.gitattributes", "*.txt filter=fmt\n")
	g.put("src/project/fmt.sh", "ln -sf ../x .git/COMMIT_EDITMSG; ln -s .. .git/logs/out; mkdir .git/rebase-merge; cat\n")
	must(t, os.RemoveAll(filepath.Join(g.root, ".git/COMMIT_EDITMSG")))
	g.put("src/project/new.txt", "new\n")
	l := g.planned(g.root, "git add new.txt")
	l.Bash, l.Decide = false, func(context.Context, []permission.Effect) error { return nil }
	_, err := g.Launch(t.Context(), l)
	g.withheld(err, []string{".git/COMMIT_EDITMSG", ".git/logs/out", ".git/rebase-merge"}, l.ID)
}

// TestGitInit: a repository that git makes is what it was planned to be, and one with a
// setting that has git run something is not.
func TestGitInit(t *testing.T) {
	needsSandbox(t)
	g := newRepository(t)
	g.succeeds(g.planned(g.root, "git init -q fresh"))
	g.succeeds(g.planned(g.root, "git clone -q . sub/copy"))
	l := g.planned(g.root, "git init -q worse && make -f spoil.mk")
	g.put("src/project/spoil.mk", "all:\n\tgit -C worse config core.fsmonitor evil\n\techo x > worse/.git/hooks/pre-commit\n")
	_, err := g.Launch(t.Context(), l)
	g.withheld(err, []string{"worse/.git"}, l.ID)
}

func TestAppearedWhereDecided(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	l := g.planned(g.root, "mkdir .husky && echo x > .husky/pre-commit && echo y > .claude/new.json && echo z > .env")
	g.succeeds(l)
	for name, want := range map[string]string{".husky/pre-commit": "x\n", ".claude/new.json": "y\n", ".env": "z\n"} {
		if got, err := os.ReadFile(filepath.Join(g.root, name)); string(got) != want || err != nil {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}

func TestDecidedReadOfASecret(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	if got := g.succeeds(g.planned(g.root, "cat .env")); got != secretText {
		t.Errorf("it shows %q", got)
	}
	l := g.planned(g.root, "cat .env; echo x >> .env; cat sub/.env; true")
	l.Effects = slices.DeleteFunc(l.Effects, func(e permission.Effect) bool {
		return e.Kind != permission.Read || strings.HasSuffix(e.Target, "sub/.env")
	})
	if got := g.succeeds(l); strings.Count(got, secretText) != 1 || !strings.Contains(got, "Read-only") {
		t.Errorf("it shows %q", got)
	}
}

func TestDecidedOutside(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	at := func(name string) string { return filepath.Join(g.outside, name) }
	for _, name := range []string{"read", "written", "tree/a", "tree/.env", "tree/sub/b", "listed/hidden"} {
		g.put("../outside/"+name, "good\n")
	}
	must(t, os.WriteFile(at("tree/.env"), []byte(secretText), 0o600))
	text := strings.ReplaceAll(`cat OUT/read; echo more > OUT/written; echo new > OUT/created; cp -r OUT/tree copied; mkdir OUT/folder; cat ~/notes
		echo bad > OUT/read; echo bad > OUT/other; cat OUT/secret; cat OUT/tree/.env; ls OUT/listed; cat OUT/listed/hidden; true`, "OUT", g.outside)
	g.put("notes", "note\n")
	l := runtime.Launch{ID: ids.New(), Text: text, Bash: true, Dir: g.root}
	for _, e := range []permission.Effect{
		{Kind: permission.Read, Target: at("read")}, {Kind: permission.Write, Target: at("written")}, {Kind: permission.Write, Target: at("created")},
		{Kind: permission.Read, Target: at("tree"), Recursive: true}, {Kind: permission.Read, Target: at("listed")}, {Kind: permission.Write, Target: at("folder")},
		{Kind: permission.Read, Target: filepath.Join(g.home, "notes")},
	} {
		e, err := g.config.Paths.Resolve(e)
		must(t, err)
		l.Effects = append(l.Effects, e)
	}
	l.Effects = append(l.Effects, permission.Effect{Kind: permission.Run, Target: "mkdir " + at("folder")})
	out := g.succeeds(l)
	if strings.Contains(out, secretText) || !strings.HasPrefix(out, "good\n") || !strings.Contains(out, "note\n") {
		t.Errorf("it shows %q", out)
	}
	for name, want := range map[string]string{"read": "good\n", "written": "more\n", "created": "new\n"} {
		if got, err := os.ReadFile(at(name)); string(got) != want || err != nil {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if _, err := os.Lstat(at("other")); err == nil {
		t.Error("a file was made that nobody decided about")
	}
	if _, err := os.Lstat(filepath.Join(g.root, "copied/sub/b")); err != nil {
		t.Error(err)
	}
	if strings.Contains(out, "hidden") && !strings.Contains(out, "No such file") {
		t.Errorf("the folder that was only listed shows what is in it: %q", out)
	}
}

// TestDecidedFromOutside: a command that starts elsewhere has of the project only what was
// decided about.
func TestDecidedFromOutside(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	l := g.planned(g.outside, fmt.Sprintf("cat %[1]s/plain; cat %[1]s/a.txt; echo x > %[1]s/b; pwd; ls", g.root))
	l.Effects = slices.DeleteFunc(l.Effects, func(e permission.Effect) bool { return !strings.HasSuffix(e.Target, "/plain") })
	out := g.succeeds(l)
	if !strings.HasPrefix(out, "good\n") || strings.Contains(out, "two") || !strings.HasSuffix(out, "\n"+g.outside) {
		t.Errorf("it shows %q", out)
	}
}

// TestDecidedForAProgram: a program of a built-in tool writes where an effect says so.
func TestDecidedForAProgram(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	script := "echo x > work/new; echo y > plain; rm -f a.txt; echo z > sub/new; rm work/file; cat .env"
	l := runtime.Launch{ID: ids.New(), Argv: []string{"sh", "-c", script + "; true"}, Dir: g.root}
	for _, e := range []permission.Effect{{Kind: permission.Create, Target: "work/new"}, {Kind: permission.Delete, Target: "work/file"}} {
		e, err := g.config.Paths.Resolve(e)
		must(t, err)
		l.Effects = append(l.Effects, e)
	}
	if out := g.succeeds(l); strings.Contains(out, secretText) {
		t.Errorf("it shows %q", out)
	}
	for name, want := range map[string]bool{"work/new": true, "work/file": false, "a.txt": true, "sub/new": false} {
		if _, err := os.Lstat(filepath.Join(g.root, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(g.root, "plain")); string(got) != "good\n" {
		t.Errorf("plain holds %q", got)
	}
}

func TestGuardsOfSeveralSorts(t *testing.T) {
	g := newGround(t)
	g.put("src/project/node_modules/p/.vscode/x", "good")
	g.put("src/project/node_modules/p/test.pem", secretText)
	must(t, os.Link(filepath.Join(g.root, ".env"), filepath.Join(g.root, "node_modules/p/name")))
	g.put("src/project/.github/workflows/deploy.key", secretText)
	d := decidedFor(runtime.Launch{})
	s := &survey{judge: projectJudge(g.config.Paths, d), root: g.root}
	must(t, s.look(t.Context()))
	defer s.close()
	got := map[string]sandbox.Mode{}
	for _, guard := range s.guards {
		rel, err := filepath.Rel(g.root, guard.path)
		must(t, err)
		got[rel] = guard.mode
		if id, err := sandbox.FileIDOf(guard.path); err != nil || id != guard.id {
			t.Errorf("%s: %v is taken for %v, %v", rel, id, guard.id, err)
		}
	}
	want := map[string]sandbox.Mode{
		".air": sandbox.ReadOnly, ".claude": sandbox.ReadOnly, "sub/.claude": sandbox.ReadOnly, ".mcp.json": sandbox.ReadOnly,
		".vscode": sandbox.ReadOnly, ".envrc": sandbox.ReadOnly, ".github/workflows": sandbox.ReadOnly, ".gitattributes": sandbox.ReadOnly,
		".git": sandbox.ReadOnly, "gitlink/.git": sandbox.ReadOnly, "caps/.Git": sandbox.ReadOnly,
		".env": sandbox.Covered, "sub/.env": sandbox.Covered, "sub/keys/id_rsa": sandbox.Covered, "sub/tls.pem": sandbox.Covered,
		"caps/.ENV": sandbox.Covered, "zero/.e\u200bnv": sandbox.Covered, ".github/workflows/deploy.key": sandbox.Covered,
		"linked": sandbox.Covered, "linked-env": sandbox.Covered, "node_modules/p/name": sandbox.Covered,
		"embedded/config": sandbox.ReadOnly, "embedded/hooks": sandbox.ReadOnly, "embedded/info": sandbox.ReadOnly, "embedded/branches": sandbox.ReadOnly,
	}
	for name, mode := range want {
		if got[name] != mode {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	for name, mode := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is %v", name, mode)
		}
	}
}

// TestGuardsReplacedMeanwhile: the mount lies over what was looked at, or nothing runs.
func TestGuardsReplacedMeanwhile(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	l := g.planned(g.root, "cat sub/.env")
	v, err := g.mounts(t.Context(), runtime.Launch{ID: l.ID, Text: "true", Dir: g.root})
	must(t, err)
	defer v.done()
	must(t, os.Rename(filepath.Join(g.root, "sub/.env"), filepath.Join(g.root, "sub/moved")))
	g.put("src/project/sub/.env", "other")
	_, err = sandbox.Command{Argv: []string{"true"}, Mounts: v.mounts}.Start(t.Context())
	if e := startFault(err); !fault.Is(e, fault.Conflict) {
		t.Errorf("got %v", e)
	}
}

// renames renames a file once something is written to it.
type renames struct {
	from, to string
	err      error
}

func (r *renames) Write(p []byte) (int, error) {
	r.err = os.Rename(r.from, r.to)
	return len(p), nil
}

func TestGuardsLostMeanwhile(t *testing.T) {
	needsSandbox(t)
	g := newGround(t)
	l := g.planned(g.root, "echo go; exec sleep 60")
	r := &renames{from: filepath.Join(g.root, "sub/.env"), to: filepath.Join(g.root, "sub/moved")}
	l.Stdout = r
	ended, err := g.Launch(t.Context(), l)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(fmt.Sprint(err), "sub/.env") || !ended.Killed || r.err != nil {
		t.Errorf("got %v, %+v, %v", err, ended, r.err)
	}
}

func TestGuardsTooMany(t *testing.T) {
	g := newGround(t)
	for i := range maxGuards + 1 {
		must(t, os.WriteFile(filepath.Join(g.root, "work", fmt.Sprintf("%d.pem", i)), nil, 0o600))
	}
	_, err := g.mounts(t.Context(), runtime.Launch{Text: "true", Dir: g.root})
	if !fault.Is(err, fault.ResourceExhausted) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkSurvey(b *testing.B) {
	for _, files := range []int{20_000, 200_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			root := b.TempDir()
			for i := range files {
				dir := filepath.Join(root, fmt.Sprintf("package%d", i/400), fmt.Sprintf("part%d", i/20%20))
				if i%20 == 0 {
					must(b, os.MkdirAll(dir, 0o755))
				}
				must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%d.go", i)), nil, 0o600))
			}
			paths := permission.NewPaths(permission.PathsConfig{ProjectRoot: root})
			b.ReportAllocs()
			for b.Loop() {
				s := &survey{judge: projectJudge(paths, &decided{}), root: root}
				must(b, s.look(b.Context()))
				must(b, s.withhold("x").err)
				s.close()
			}
		})
	}
}
