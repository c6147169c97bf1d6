package patch_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/patch"
)

// node is a file of a tree; only whether it is executable counts of its mode.
type node struct {
	content    string
	executable bool
}

// tree is files by name, without their folders.
type tree map[string]node

func (t tree) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&b, "%s %v %q\n", name, t[name].executable, t[name].content)
	}
	return b.String()
}

// patched is what applying a patch makes of a tree: all of it or an error.
func (t tree) patched(text string, strip int) (tree, error) {
	files, err := patch.Parse(text, strip)
	if err != nil {
		return nil, err
	}
	after := maps.Clone(t)
	for _, f := range files {
		if f.Kind == patch.Delete || f.Kind == patch.Rename {
			delete(after, f.Old)
		}
	}
	for _, f := range files {
		made, err := t.patchedFile(&f)
		if err != nil {
			return nil, err
		}
		if f.Kind == patch.Delete {
			continue
		}
		if _, there := t[f.New]; there && f.Kind != patch.Modify {
			return nil, fmt.Errorf("%s is there", f.New)
		}
		after[f.New] = made
	}
	return after, nil
}

func (t tree) patchedFile(f *patch.File) (node, error) {
	made, there := t[f.Old]
	if !there && f.Kind != patch.Create && !f.MayCreate {
		return made, fmt.Errorf("%s is not there", f.Old)
	}
	r := patch.Apply(made.content, f.Hunks, new(patch.Work))
	if len(r.Rejects) > 0 {
		return made, fmt.Errorf("%s: %s", f.Name(), r.Rejects[0].Reason)
	}
	made.content = r.Content
	if f.Kind == patch.Delete && r.Content != "" {
		return made, fmt.Errorf("%s: something is left of it", f.Old)
	}
	if yes, told := f.Executable(); told {
		made.executable = yes
	}
	return made, nil
}

func (t tree) write(tb testing.TB, dir string) {
	tb.Helper()
	must(tb, os.MkdirAll(dir, 0o755))
	for name, n := range t {
		path := filepath.Join(dir, name)
		mode := fs.FileMode(0o644)
		if n.executable {
			mode = 0o755
		}
		must(tb, os.MkdirAll(filepath.Dir(path), 0o755))
		must(tb, os.WriteFile(path, []byte(n.content), mode))
	}
}

func readTree(tb testing.TB, dir string) tree {
	tb.Helper()
	t := tree{}
	must(tb, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		t[filepath.ToSlash(name)] = node{string(content), info.Mode()&0o100 != 0}
		return err
	}))
	return t
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// program finds a peer, or skips.
func program(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		tb.Skipf("%s is not here: apt-get install %s", name, name)
	}
	return path
}

// run runs a peer in a folder, with nothing of a person's configuration.
func run(tb testing.TB, dir, stdin string, argv ...string) (string, error) {
	tb.Helper()
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = dir
	c.Stdin = strings.NewReader(stdin)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + tb.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "LC_ALL=C", "TZ=UTC"}
	var out, diag strings.Builder
	c.Stdout, c.Stderr = &out, &diag
	err := c.Run()
	if err != nil {
		err = fmt.Errorf("%w: %s %s", err, out.String(), diag.String())
	}
	return out.String(), err
}

// difference makes the patch that git makes of two trees.
func difference(tb testing.TB, before, after tree, options ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	before.write(tb, filepath.Join(dir, "a"))
	after.write(tb, filepath.Join(dir, "b"))
	argv := append([]string{program(tb, "git"), "diff", "--no-index", "--no-prefix", "--no-color"}, options...)
	text, err := run(tb, dir, "", append(argv, "a", "b")...)
	if text == "" && err != nil {
		tb.Fatal(err)
	}
	return moved.ReplaceAllString(text, "$1")
}

// moved has the folder that a rename or a copy is in, which takes no prefix: to git a and b
// are folders here.
var moved = regexp.MustCompile(`(?m)^((?:rename|copy) (?:from |to )"?)[ab]/`)

// byGit is what git apply makes of the tree.
func (t tree) byGit(tb testing.TB, text string) (tree, error) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "t")
	t.write(tb, dir)
	_, err := run(tb, dir, text, program(tb, "git"), "apply", "--whitespace=nowarn", "-")
	return readTree(tb, dir), err
}

// byPatch is what GNU patch makes of it, without fuzz.
func (t tree) byPatch(tb testing.TB, text string) (tree, error) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "t")
	t.write(tb, dir)
	_, err := run(tb, dir, text, program(tb, "patch"), "-p1", "-F0", "-s", "-f", "--no-backup-if-mismatch", "-r", "-")
	return readTree(tb, dir), err
}
