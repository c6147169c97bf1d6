package git_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

func want(t testing.TB, name string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", name, got, want)
	}
}

func TestStatus(t *testing.T) {
	p := newProject(t, rig.Options{})
	s := p.status(".")
	if s.Branch != "main" || s.Clean {
		t.Errorf("an unborn branch: %+v", s)
	}
	want(t, "untracked at first", s.Untracked, []string{".gitignore"})
	for _, name := range []string{"a.txt", "b.txt", "sub/c.txt", "gone.txt", "old name.txt"} {
		p.Put(name, strings.Repeat("line of "+name+"\n", 20))
	}
	p.commit(p.Root, "one")
	if s := p.status("."); !s.Clean || s.Branch != "main" {
		t.Errorf("after a commit: %+v", s)
	}
	p.Put("a.txt", "changed\n")
	p.Put("b.txt", "staged\n")
	p.git("add", "b.txt")
	p.Put("b.txt", "and changed\n")
	p.git("mv", "old name.txt", "sub/new name.txt")
	p.git("rm", "-q", "gone.txt")
	p.Put("new/deep/file.txt", "x")
	p.Put("sub/untracked.txt", "x")
	for _, cwd := range []string{".", "sub", p.Root + "/sub"} {
		s = p.status(cwd)
		want(t, "staged", s.Staged, []string{"b.txt", "sub/new name.txt", "gone.txt"})
		want(t, "modified", s.Modified, []string{"a.txt", "b.txt"})
		want(t, "untracked", s.Untracked, []string{"new/", "sub/untracked.txt"})
	}
	p.git("checkout", "-q", "--detach")
	if s := p.status("."); s.Branch != "" {
		t.Errorf("a detached head: %+v", s)
	}
}

func TestStatusConflict(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("a.txt", "base\n")
	p.commit(p.Root, "base")
	p.git("checkout", "-q", "-b", "other")
	p.Put("a.txt", "other\n")
	p.commit(p.Root, "other")
	p.git("checkout", "-q", "main")
	p.Put("a.txt", "main\n")
	p.commit(p.Root, "main")
	if out, err := p.tryGit(p.Root, "merge", "other"); err == nil {
		t.Fatal(out)
	}
	s := p.status(".")
	want(t, "conflicted", s.Conflicted, []string{"a.txt"})
	if s.Clean || len(s.Staged)+len(s.Modified) > 0 {
		t.Errorf("%+v", s)
	}
}

func TestStatusOddNames(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.commit(p.Root, "one")
	names := []string{"a b", "new\nline", "tab\tx", `back\slash`, "-rf", "ünï", "--output=x", ":(top)x", " lead"}
	for _, name := range names {
		p.Put(name, "x")
	}
	p.Put("lat\xe9in", "x")
	p.Put(`"quoted"`, "x")
	s := p.status(".")
	want(t, "untracked", s.Untracked, append(names, `"lat\351in"`, `"\"quoted\""`))
}

func TestStatusWithSecret(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put(".env", "KEY=1\n")
	p.Put("deep/.env.local", "KEY=1\n")
	p.commit(p.Root, "with a secret")
	if s := p.status("."); !s.Clean {
		t.Errorf("tracked secrets look changed: %+v", s)
	}
	p.Put(".env", "KEY=2\n")
	want(t, "modified", p.status(".").Modified, []string{".env"})
}

func TestStatusSubmodule(t *testing.T) {
	p := newProject(t, rig.Options{})
	other := filepath.Join(p.Outside, "lib")
	p.gitIn(p.Outside, "init", "-q", "-b", "main", "lib")
	p.gitIn(other, "config", "user.name", "x")
	p.gitIn(other, "config", "user.email", "x@example.com")
	p.Put(other+"/f", "1")
	p.commit(other, "one")
	p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "lib")
	p.commit(p.Root, "with a submodule")
	p.Put("lib/f", "dirty")
	if s := p.status("."); !s.Clean {
		t.Errorf("a dirty submodule is no change of this repository: %+v", s)
	}
	p.gitIn(p.Root+"/lib", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-am", "two")
	want(t, "modified", p.status(".").Modified, []string{"lib"})
	if s := p.status("lib"); s.Branch == "" || !s.Clean {
		t.Errorf("the submodule itself: %+v", s)
	}
}

func TestStatusTooMany(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.commit(p.Root, "one")
	for i := range 10_001 {
		p.Put(fmt.Sprintf("f%05d", i), "")
	}
	e := p.Call("git.status", object{"cwd": "."})
	p.fails(e, fault.ResourceExhausted, "too_many_paths")
	if !strings.Contains(string(e.Output), `"f00000"`) || fmt.Sprint(e.Error.Details["untracked"]) != "10001" {
		t.Errorf("%v %.200s", e.Error.Details, e.Output)
	}
}

func TestNoRepository(t *testing.T) {
	r := rig.New(t, rig.Options{})
	p := project{r}
	p.fails(r.Call("git.status", object{"cwd": "."}), fault.NotFound, "no_repository")
	p.gitIn(filepath.Dir(r.Root), "init", "-q", ".")
	e := r.Call("git.status", object{"cwd": "."})
	p.fails(e, fault.NotFound, "repository_outside")
	if !strings.Contains(e.Error.Message, r.Root) || e.Error.Hint == "" {
		t.Errorf("%+v", e.Error)
	}
}

// TestStatusAgainstPorcelain compares with the first porcelain format of git itself, over a
// few hundred random steps.
func TestStatusAgainstPorcelain(t *testing.T) {
	steps := 60
	if testing.Short() {
		steps = 10
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newProject(t, rig.Options{})
			p.commit(p.Root, "one")
			rnd := rand.New(rand.NewPCG(seed, 1))
			for range steps {
				for range 3 {
					p.randomStep(rnd)
				}
				if rnd.IntN(3) == 0 {
					p.compareStatus()
				}
			}
		})
	}
}

// randomStep changes something; what git refuses is no step.
func (p project) randomStep(rnd *rand.Rand) {
	name := func() string {
		return []string{"a", "b c", "d/e", "d/f\ng", "h/i/j", "ü", `k"l`, "m\xff"}[rnd.IntN(8)]
	}
	switch n := name(); rnd.IntN(9) {
	case 0, 1, 2:
		if info, err := os.Stat(filepath.Join(p.Root, n)); err != nil || !info.IsDir() {
			_ = os.MkdirAll(filepath.Dir(filepath.Join(p.Root, n)), 0o755)
			_ = os.WriteFile(filepath.Join(p.Root, n), []byte(strings.Repeat(fmt.Sprintln(rnd.IntN(3)), 10+rnd.IntN(3))), 0o644)
		}
	case 3:
		_ = os.Remove(filepath.Join(p.Root, n))
	case 4:
		_, _ = p.tryGit(p.Root, "add", "--", n)
	case 5:
		_, _ = p.tryGit(p.Root, "add", "-A")
	case 6:
		_, _ = p.tryGit(p.Root, "mv", "-f", "--", n, name())
	case 7:
		_, _ = p.tryGit(p.Root, "rm", "-q", "--cached", "--", n)
	case 8:
		_, _ = p.tryGit(p.Root, "commit", "-q", "-m", "x")
	}
}

// compareStatus has the lists made of the first format by its own definition: X for the
// index, Y for the files, ?? untracked.
func (p project) compareStatus() {
	p.Helper()
	var staged, modified, untracked []string
	parts := strings.Split(p.git("-c", "status.renames=true", "status", "--porcelain=v1", "-z"), "\x00")
	for i := 0; i < len(parts); i++ {
		if len(parts[i]) < 4 {
			continue
		}
		x, y, name := parts[i][0], parts[i][1], quoteOdd(parts[i][3:])
		switch {
		case x == '?':
			untracked = append(untracked, name)
			continue
		case x == 'R' || x == 'C' || y == 'R' || y == 'C':
			i++
		}
		if x != ' ' {
			staged = append(staged, name)
		}
		if y != ' ' {
			modified = append(modified, name)
		}
	}
	s := p.status(".")
	want(p.TB, "staged", s.Staged, staged)
	want(p.TB, "modified", s.Modified, modified)
	want(p.TB, "untracked", s.Untracked, untracked)
	if s.Clean != (len(parts) == 1) {
		p.Errorf("clean is %v with %q", s.Clean, parts)
	}
}

func quoteOdd(name string) string {
	if name == "m\xff" {
		return `"m\377"`
	}
	return name
}
