package fs_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/rig"
)

// oddNames are what people and programs name files, and what they do not.
var oddNames = []string{
	"a", "b.go", "main.go", ".hidden", "..two", "...", "with blank", " leading", "trailing ", "new\nline", "tab\t", `quote"'`, `back\slash`,
	"-rf", "*", "[a-z]", "{a,b}", "$(x)", "ä€😀", "e\u0301", "%s", "~", "con", "a:b", "a;b", "\x01", "\x7f", strings.Repeat("n", 255),
}

// grow makes a random tree: files, folders, links to what is there and what is not, pipes.
func grow(t *testing.T, random *rand.Rand, dir string, depth int) {
	t.Helper()
	for _, name := range oddNames {
		path := filepath.Join(dir, name)
		switch random.IntN(9) {
		case 0, 1:
			must(t, os.WriteFile(path, make([]byte, random.IntN(5000)), 0o644))
			must(t, os.Chtimes(path, time.Time{}, time.Unix(random.Int64N(2e9), random.Int64N(1e9))))
		case 2:
			must(t, os.Symlink(oddNames[random.IntN(len(oddNames))], path))
		case 3:
			must(t, os.Symlink([]string{"..", "/etc", "nowhere/at/all", path}[random.IntN(4)], path))
		case 4:
			must(t, unix.Mkfifo(path, 0o600))
		case 5, 6:
			if depth > 0 {
				must(t, os.Mkdir(path, 0o755))
				grow(t, random, path, depth-1)
			}
		}
	}
}

// find lists a tree as fs.list does, with the same facts on each line.
func find(t *testing.T, top, shown string, argv ...string) []string {
	t.Helper()
	argv = append([]string{top, "-mindepth", "1"}, argv...)
	out, err := exec.Command("find", append(argv, "-printf", `%P\0%y\0%s\0%T@\0%l\0`)...).Output()
	must(t, err)
	fields := strings.Split(string(out), "\x00")
	var lines []string
	for f := range slices.Chunk(fields[:len(fields)-1], 5) {
		if led, err := os.Stat(filepath.Join(top, f[0])); f[1] == "l" && err == nil && !led.IsDir() && !led.Mode().IsRegular() {
			continue // nobody may read where it leads
		}
		kind := map[string]string{"f": "file", "d": "directory", "l": "symlink"}[f[1]]
		if kind == "" {
			kind = "other"
		}
		size := ""
		if kind == "file" {
			size = f[2]
		}
		second, fraction, _ := strings.Cut(f[3], ".")
		s, _ := strconv.ParseInt(second, 10, 64)
		n, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
		lines = append(lines, fmt.Sprintf("%q %s %s %s %q", shown+"/"+f[0], kind, size, time.Unix(s, n).UTC().Format(time.RFC3339Nano), f[4]))
	}
	slices.Sort(lines)
	return lines
}

func listed(r *rig.Rig, input object) (lines []string, truncated bool) {
	var got listOutput
	r.Must("fs.list", input, &got)
	for _, e := range got.Entries {
		size := ""
		if e.SizeBytes != nil {
			size = fmt.Sprint(*e.SizeBytes)
		}
		lines = append(lines, fmt.Sprintf("%q %s %s %s %q", e.Path, e.Type, size, e.ModifiedAt, e.TargetPath))
	}
	slices.Sort(lines)
	return lines, got.Truncated
}

// fs.list and find see the same in random trees.
func TestListAsFind(t *testing.T) {
	if out, err := exec.Command("find", ".", "-maxdepth", "0", "-printf", "%T@").Output(); err != nil || len(out) == 0 {
		t.Skip("needs the Debian package findutils")
	}
	r := rig.New(t, rig.Options{})
	random := rand.New(rand.NewPCG(9, 10))
	visible := []string{"-name", ".*", "-prune", "-o"}
	for i := range 3 {
		tree := fmt.Sprintf("tree%d", i)
		top := filepath.Join(r.Root, tree)
		must(t, os.Mkdir(top, 0o755))
		grow(t, random, top, 2)
		for _, c := range []struct {
			input object
			find  []string
		}{
			{object{"include_hidden": true}, []string{"-maxdepth", "1"}},
			{object{"include_hidden": true, "recursive": true}, nil},
			{object{"include_hidden": true, "recursive": true, "max_depth": 2}, []string{"-maxdepth", "2"}},
			{object{"recursive": true}, visible},
			{object{"recursive": true, "glob": "*.go"}, append(visible, "-name", "*.go")},
			{object{"recursive": true, "include_hidden": true, "glob": "*a*"}, []string{"-name", "*a*"}},
		} {
			c.input["path"] = tree
			want := find(t, top, tree, c.find...)
			got, truncated := listed(r, c.input)
			if !slices.Equal(got, want) || truncated {
				t.Errorf("%s: %d entries, truncated %v; find has %d\n%s", r.JSON(c.input), len(got), truncated, len(want), differing(got, want))
			}
		}
	}
}

// differing are lines that only one of the two has.
func differing(got, want []string) string {
	var out []string
	for _, line := range got {
		if !slices.Contains(want, line) {
			out = append(out, "+ "+line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			out = append(out, "- "+line)
		}
	}
	return strings.Join(out[:min(len(out), 10)], "\n")
}

// A name that is no UTF-8 is shown as near as JSON comes, and its neighbours as they are.
func TestListNameWithoutUTF8(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Put("d/b", "")
	if err := os.WriteFile(filepath.Join(r.Root, "d", "gr\xfcn"), nil, 0o600); err != nil {
		t.Skipf("this file system has no such names: %v", err)
	}
	var got listOutput
	r.Must("fs.list", object{"path": "d"}, &got)
	if want := []string{"d/b", "d/gr\ufffdn"}; !slices.Equal(got.paths(), want) {
		t.Errorf("%q", got.paths())
	}
}
