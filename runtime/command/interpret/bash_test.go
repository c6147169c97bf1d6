package interpret

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/permission"
)

// script is a line of testdata/scripts.txt or testdata/differences.txt, in which ␤ stands
// for the end of a line.
type script struct {
	area, why, text string
	line            int
}

func scripts(t *testing.T, file string) (all []script) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	area, why := "", ""
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			area = line[3:]
		case strings.HasPrefix(line, "# "):
			why = line[2:]
		case line != "":
			all = append(all, script{area, why, strings.ReplaceAll(line, "␤", "\n"), i + 1})
		}
	}
	return all
}

func needBash(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("/bin/bash"); err != nil {
		t.Skip("there is no /bin/bash: apt-get install bash")
	}
}

func sameOutcome(t *testing.T, text string) (mine, theirs outcome, same bool) {
	t.Helper()
	first, second := place(t), place(t)
	mine, theirs = interpreted(t, first, text, allow), underBash(t, second, text)
	theirs.stdout = strings.ReplaceAll(theirs.stdout, filepath.Dir(second.Dir), filepath.Dir(first.Dir))
	return mine, theirs, mine.stdout == theirs.stdout && mine.code == theirs.code
}

// TestLikeBash runs scripts here and under bash: they print the same and end alike.
func TestLikeBash(t *testing.T) {
	needBash(t)
	all := scripts(t, "scripts.txt")
	if len(all) < 300 {
		t.Errorf("%d scripts, at least 300 are wanted", len(all))
	}
	opaque := 0
	for i, s := range all {
		if cannotKnow(t, s.text) {
			opaque++
		}
		if underRace && i%8 != 0 { // make test runs all of them without
			continue
		}
		t.Run(s.area, func(t *testing.T) {
			t.Parallel()
			if mine, theirs, same := sameOutcome(t, s.text); !same {
				t.Errorf("line %d: %s\nprints %q and ends with %d, under bash %q and %d\nsaying %s\nand %s", s.line, s.text, mine.stdout, mine.code, theirs.stdout, theirs.code, mine.stderr, theirs.stderr)
			}
		})
	}
	t.Logf("%d scripts, of which air's analysis leaves %d to bash", len(all), opaque)
	if len(all) < 400 || opaque > 20 {
		t.Errorf("%d scripts, of which %d are left to bash: more are wanted, and fewer", len(all), opaque)
	}
}

// cannotKnow reports whether the analysis leaves a text to bash.
func cannotKnow(t *testing.T, text string) bool {
	t.Helper()
	effects, err := command.Analyse(text, command.Place{Dir: "/p", Root: "/p", Home: "/h"})
	if err != nil {
		return true
	}
	return len(effects) > 0 && effects[0].Target == permission.JoinArgv([]string{"bash", "-c", text})
}

// TestDifferences: what is known to differ from bash does, and what is dangerous in it is
// left to bash.
func TestDifferences(t *testing.T) {
	needBash(t)
	for _, s := range scripts(t, "differences.txt") {
		switch s.area {
		case "left to bash":
			if !cannotKnow(t, s.text) {
				t.Errorf("line %d: %s\nis not left to bash: %s", s.line, s.text, s.why)
			}
		case "harmless":
			if _, _, same := sameOutcome(t, s.text); same {
				t.Errorf("line %d: %s\nis as under bash: it does not belong here", s.line, s.text)
			}
		default:
			t.Errorf("line %d: no such section: %q", s.line, s.area)
		}
	}
}
