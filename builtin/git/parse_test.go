package git

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/runtime"
)

// TestBranchNames against git check-ref-format, which also lets through what no branch may
// be called.
func TestBranchNames(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: apt-get install git")
	}
	stricter := []string{"HEAD", "@"}
	for _, name := range []string{
		"main", "a/b", "a//b", "/a", "a/", ".a", "a/.b", "a.lock", "a.lock/b", "a..b", "a b", "a~b", "a^", "a:b", "a?b", "a*b", "a[b", `a\b`, "a@{b", "@", "a@b",
		"a.", "-a", "a-", "HEAD", "ü", "a\x01b", "a\x7fb", "a\tb", "", "a\nb", "refs/heads/x", "a.b", "{a}", "a\xffb", "(detached)",
	} {
		wanted := exec.Command("git", "check-ref-format", "--branch", name).Run() == nil && !slices.Contains(stricter, name)
		if got := isBranchName(name); got != wanted {
			t.Errorf("%q: %v, git says %v", name, got, wanted)
		}
	}
}

func TestOverrides(t *testing.T) {
	got := overrides([]string{"core.bare", "filter.a=b.c.clean", "filter.a=b.c.clean", "merge.m.driver", "diff.x.textconv", "merge.tool", "filter.f.required", "remote.o.url", "remote.o.promisor", "x", "hook.h.command", "hook.h.event"})
	want := []string{"filter.a=b.c.clean", "", "merge.m.driver", "false", "diff.x.textconv", "false", "filter.f.required", "false", "remote.o.promisor", "false", "hook.h.command", "false", "hook.h.event", ""}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// The environment of a command holds no more than 1,000 settings: beyond, those of a call
	// would not count.
	if n := len(settings)/2 + maxPrograms; n >= 1000 {
		t.Errorf("%d settings", n)
	}
}

func TestWorkspaceNames(t *testing.T) {
	at := Place{Workspaces: runtime.Workspaces{Dir: "/air/workspaces"}}
	for name, want := range map[string]string{
		"a": "/air/workspaces/a", "./a": "/air/workspaces/a", "a/": "/air/workspaces/a", "/air/workspaces/a-b_c.1": "/air/workspaces/a-b_c.1",
		"": "", ".": "", "..": "", "a/b": "", "/air/workspaces": "", "/air/workspaces/": "", "/air/workspaces2/a": "", "/air/workspaces/../x": "", ".git": "", "-a": "", "a b": "",
		strings.Repeat("a", 65): "", "a.LOCK": "",
	} {
		got, err := at.workspacePath(name)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q %v", name, got, err)
		}
	}
}

func TestParseMergeTree(t *testing.T) { // as git merge-tree(1) shows it
	id := strings.Repeat("a", 40)
	out := id + "\x00100644 " + id + " 1\ta\nb\x00100644 " + id + " 2\ta\nb\x00100644 " + id + " 3\tc\x00\x001\x00a\nb\x00CONFLICT (contents)\x00CONFLICT (content): Merge conflict\n\x002\x00c\x00d\x00x\x00second\n\x00"
	m, err := parseMergeTree([]byte(out))
	if err != nil || m.id != id || !slices.Equal(m.paths, []string{"a\nb", "c"}) || !slices.Equal(m.messages, []string{"CONFLICT (content): Merge conflict", "second"}) {
		t.Errorf("%+v %v", m, err)
	}
}

// FuzzParse: what git writes is taken apart without a panic, whatever it is.
func FuzzParse(f *testing.F) {
	f.Add([]byte("# branch.head main\x001 M. N... 100644 100644 100644 a b name\x002 R. N... 1 2 3 a b R100 new\x00old\x00? x\x00u UU N... 1 2 3 4 a b c name\x00"))
	f.Add([]byte("A\x00name\x00\x00diff --git"))
	f.Add([]byte(fmt.Sprint(strings.Repeat("b", 40), "\x00100644 x 1\tn\x00\x001\x00p\x00k\x00m\x00")))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = parseStatus(text)
		_, _ = parseMergeTree(text)
		_, _, _ = parseSnapshot(text)
		_, _ = parseChanges(text)
	})
}
