package git

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// configParts are what files are made of: what git writes, and what looks like it.
var configParts = []string{
	"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n", "[user]\nname = A Person", "[remote \"origin\"]", "[ReMote \"Ori Gin\"]",
	"\turl = https://example.com/x.git\n", "fetch = +refs/heads/*:refs/remotes/origin/*", "[branch \"a.b\"]", "[filter \"a=b.c\"]", "[filter.x]",
	"clean = rm -rf /\n", "CLEAN=x", "process", "[include]", "path = other", "[includeIf \"onbranch:**\"]", "[extensions]", "worktreeConfig = true",
	"[a \"\"]", "[a\"b\"]", "[a]", "[ a]", "[a ]", "[a] key = value", "[a][filter \"y\"]", "[a \"b] c\"]", "[a \"b\\\" c\"]", "[a-b]", "[a_b]", "[]",
	" # [filter \"z\"]", "; x \\", "key = \"a", "key = a\\", "key = a # b", "key # b", "key = \"; \" ; [c]", "1key = x", "k_y = x", "-k = x", "k1-y",
	"\n", "\n", "\n", "\n", " ", "\t", "\r\n", "\r", "\x00", "\v", "\x7f", "\xff", "\ufeff", "ü", "\\", "\"", "]", "=",
}

// TestPlainNames: where a file is taken for plain, the names are what git lists, in its order.
func TestPlainNames(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: apt-get install git")
	}
	random, plain := rand.New(rand.NewPCG(1, 2)), 0
	path := filepath.Join(t.TempDir(), "config")
	for range 1500 {
		var text strings.Builder
		for range 1 + random.IntN(10) {
			text.WriteString(configParts[random.IntN(len(configParts))] + []string{"\n", "\n", "\n", ""}[random.IntN(4)])
		}
		names, ok := plainNames(text.String())
		if !ok {
			continue
		}
		plain++
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("git", "config", "--file", path, "--list", "--null", "--name-only", "--includes").Output()
		if err != nil { // git has no use for the file, and so does nothing with it
			continue
		}
		if listed := fields(out); !slices.Equal(names, listed) {
			t.Errorf("%q: %q, git lists %q", text.String(), names, listed)
		}
	}
	if plain < 50 {
		t.Errorf("only %d files were plain", plain)
	}
}

func TestPlainNamesOfCommonFiles(t *testing.T) {
	cloned := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n" +
		"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
	want := []string{"core.repositoryformatversion", "core.bare", "remote.origin.url", "remote.origin.fetch", "branch.main.remote", "branch.main.merge"}
	if names, ok := plainNames(cloned); !ok || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, ok)
	}
	for _, more := range []string{
		"[include]\npath = x\n", "[Include]\npath = x\n", "[includeIf \"gitdir:/\"]\npath = x\n", "[extensions]\nworktreeConfig = true\n",
		"[a] b = c\n", "[a][filter \"x\"]\n", "[filter.x]\nclean = c\n", "b = c \\\n", "b = c\r\n", "\x00", "b = c\n[filter \"x\\y\"]\nclean = c\n",
	} {
		if _, ok := plainNames(cloned + more); ok {
			t.Errorf("%q counts as plain", more)
		}
	}
	if _, ok := plainNames("clean = x\n"); ok {
		t.Error("a setting in no section counts as plain")
	}
}
