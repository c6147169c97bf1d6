package gitfile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/gitfile"
)

// What git itself reads is what is read here.
func TestSettingsAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs the package git")
	}
	for name, text := range map[string]string{
		"plain":           "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://a.example/x.git\n",
		"one line":        "[user] name = x y  z  # who\n[user] email=\"a b \" ; c\n",
		"case":            "[Remote \"Up\"]\n URL = x\n PushURL=y\n[BRANCH.Main]\n Remote = o\n",
		"quotes":          "[a]\n b = one \"two  # \" three\n c = \"\\\"\\\\\\n\\t\"\n d = \"\"\n e =\n f\n",
		"goes on":         "[a]\n b = one \\\n two\n c = \"x \\\n y\"\n",
		"subsections":     "[a \"b.c\\\"d\\\\e\\f\"]\n k=v\n[a \"\"]\n k = w\n",
		"crlf":            "[a]\r\n b = c\r\n d = e # f\r\n",
		"no newline":      "[a]\nb=c",
		"digits":          "[a1-b]\n c2-d = 1\n",
		"no section":      "a = b\n",
		"bad escape":      "[a]\n b = \\q\n",
		"open quote":      "[a]\n b = \"c\n d = e\n",
		"bad key":         "[a]\n 1b = c\n",
		"no end":          "[a\nb = c\n",
		"no quote":        "[a b]\nc = d\n",
		"word behind key": "[a]\n b c = d\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			want, gitErr := exec.Command("git", "config", "-z", "-f", file, "--list").Output()
			all, err := gitfile.Settings(text)
			if (err == nil) != (gitErr == nil) {
				t.Fatalf("%v, and git: %v", err, gitErr)
			}
			if got := list(all); err == nil && got != string(want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// list is what git config -z --list writes.
func list(all []gitfile.Setting) string {
	var b strings.Builder
	for _, s := range all {
		name := s.Key
		switch {
		case s.HasSub:
			name = s.Section + "." + s.Sub + "." + s.Key
		case s.Section != "":
			name = s.Section + "." + s.Key
		}
		b.WriteString(name)
		if !s.Bare {
			fmt.Fprintf(&b, "\n%s", s.Value)
		}
		b.WriteByte(0)
	}
	return b.String()
}

func TestDirAndCommon(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".git/config", "")
	put(".git/modules/sub/config", "")
	put("sub/.git", "gitdir: ../.git/modules/sub\n")
	put(".git/worktrees/w/commondir", "../..\n")
	put("w/.git", "gitdir: "+top+"/.git/worktrees/w\n")
	put("no/.git", "something else\n")
	put("gone/.git", "gitdir: nowhere\n")
	put("large/.git", "gitdir: "+strings.Repeat("./", 5000)+"\n")
	for entry, want := range map[string][2]string{
		".git": {".git", ".git"}, "sub/.git": {".git/modules/sub", ".git/modules/sub"}, "w/.git": {".git/worktrees/w", ".git"},
		"no/.git": {}, "gone/.git": {}, "large/.git": {}, "none/.git": {},
	} {
		dir, err := gitfile.Dir(filepath.Join(top, entry))
		if want[0] == "" {
			if err == nil {
				t.Errorf("%s leads to %s", entry, dir)
			}
			continue
		}
		common, commonErr := gitfile.Common(dir)
		if err != nil || commonErr != nil || dir != filepath.Join(top, want[0]) || common != filepath.Join(top, want[1]) {
			t.Errorf("%s: %s and %s, %v, %v", entry, dir, common, err, commonErr)
		}
	}
}

// FuzzSettings: whatever it reads has a plain key, and a line that is written of it is read
// as the same again.
func FuzzSettings(f *testing.F) {
	f.Add("[a \"b\\\"\"]\n c = \"d\\n\" # e\n f\n")
	f.Add("[A.b] c=\\\n d")
	f.Fuzz(func(t *testing.T, text string) {
		all, _ := gitfile.Settings(text)
		for _, s := range all {
			quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
			line := s.Key
			if !s.Bare {
				line += ` = "` + quote.Replace(s.Value) + `"`
			}
			again, err := gitfile.Settings(line + "\n")
			if err != nil || len(again) != 1 || again[0].Key != s.Key || again[0].Value != s.Value || again[0].Bare != s.Bare {
				t.Errorf("%q of %q: %+v, %v", line, text, again, err)
			}
		}
	})
}
