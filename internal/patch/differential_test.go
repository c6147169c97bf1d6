package patch_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// change is a tree before and after.
type change struct {
	from          string
	before, after tree
}

const changesWanted = 160

// histories are changes between neighbouring versions of modules, as far as the cache of
// modules holds several, and made-up ones of this project's own files.
func histories(t *testing.T, random *rand.Rand) (all []change) {
	t.Helper()
	for _, pair := range neighbours(t) {
		all = append(all, between(t, pair[0], pair[1])...)
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), changesWanted*3/4)]
	t.Logf("%d real changes", len(all))
	own := ownFiles(t)
	for len(all) < changesWanted {
		name := own[random.IntN(len(own))]
		content, err := os.ReadFile(name)
		must(t, err)
		before := node{content: string(content)}
		all = append(all, change{"made up of " + name, tree{"f/x.go": before}, tree{"f/x.go": {content: madeUp(before.content, random)}}})
	}
	return all
}

var version = regexp.MustCompile(`^(.*)@v[^@]*$`)

// neighbours are pairs of folders with versions of one module, one after the other.
func neighbours(t *testing.T) (pairs [][2]string) {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return nil
	}
	for _, pattern := range []string{"golang.org/x/*@*", "github.com/*/*@*", "modernc.org/*@*"} {
		found, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(cache)), pattern)) // the pattern is sound
		slices.Sort(found)
		for i := 1; i < len(found); i++ {
			a, b := version.FindStringSubmatch(found[i-1]), version.FindStringSubmatch(found[i])
			if a != nil && b != nil && a[1] == b[1] {
				pairs = append(pairs, [2]string{found[i-1], found[i]})
			}
		}
	}
	return pairs
}

// between are the changes of single files and, now and then, of several together.
func between(t *testing.T, older, newer string) (all []change) {
	t.Helper()
	before, after := smallFiles(t, older), smallFiles(t, newer)
	var names []string
	for name := range after {
		if before[name] != after[name] {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, stays := after[name]; !stays {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = names[:min(len(names), 60)]
	for len(names) > 0 {
		n := min(1+len(names)%3, len(names))
		c := change{older + " " + names[0], tree{}, tree{}}
		for _, name := range names[:n] {
			if f, ok := before[name]; ok {
				c.before[name] = f
			}
			if f, ok := after[name]; ok {
				c.after[name] = f
			}
		}
		all, names = append(all, c), names[n:]
	}
	return all
}

func smallFiles(t *testing.T, root string) tree {
	t.Helper()
	files := tree{}
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || len(files) > 600 {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Size() > 60_000 {
			return err
		}
		content, err := os.ReadFile(path)
		if utf8.Valid(content) && !strings.Contains(string(content), "\x00") {
			name, _ := filepath.Rel(root, path)
			files[filepath.ToSlash(name)] = node{content: string(content)}
		}
		return err
	}))
	return files
}

func ownFiles(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"../*/*.go", "../../runtime/*.go"} {
		found, err := filepath.Glob(pattern)
		must(t, err)
		names = append(names, found...)
	}
	return names
}

// madeUp edits a text here and there.
func madeUp(content string, random *rand.Rand) string {
	lines := strings.SplitAfter(content, "\n")
	for range 1 + random.IntN(6) {
		at := random.IntN(len(lines))
		switch random.IntN(4) {
		case 0:
			lines = slices.Insert(lines, at, fmt.Sprintf("new %d\n", random.IntN(9)))
		case 1:
			lines = slices.Delete(lines, at, min(at+1+random.IntN(4), len(lines)))
			lines = append(lines, "")
		case 2:
			lines[at] = "changed\n"
		default:
			lines = slices.Insert(lines, at, lines[random.IntN(len(lines))])
		}
	}
	return strings.Join(lines, "")
}

// TestAgainstGitAndPatch: on what versions of modules really differ by, and on that with
// something spoilt, the verdict is that of git apply and the bytes are the same. Where git
// apply takes a patch that is refused here, it is one of the differences that the package
// names. What is applied here GNU patch applies too, to the same bytes.
func TestAgainstGitAndPatch(t *testing.T) {
	program(t, "git")
	program(t, "patch")
	random := rand.New(rand.NewPCG(5, 2026))
	counts := map[string]int{}
	for _, c := range histories(t, random) {
		text := difference(t, c.before, c.after, [][]string{{}, {"-U1"}, {"-M"}, {"-U8"}}[random.IntN(4)]...)
		if text == "" || strings.Contains(text, "\nBinary files ") {
			continue
		}
		got, err := c.before.patched(text, 1)
		if err != nil || got.String() != c.after.String() {
			t.Errorf("%s: a real patch: %v\n%s", c.from, err, text)
			continue
		}
		compare(t, c.from, c.before, text, counts, true)
		for range 2 {
			m := mutations[random.IntN(len(mutations))]
			before, spoilt := m.spoil(maps.Clone(c.before), text, random)
			compare(t, m.name+" in "+c.from, before, spoilt, counts, !m.own)
		}
	}
	t.Logf("%v", counts)
	if counts["applied"] < changesWanted || counts["refused"] < changesWanted/3 {
		t.Errorf("too few patches: %v", counts)
	}
}

// stricter are the reasons for which a patch is refused that git apply takes: it passes over
// lines that a hunk has too many, and over a header that does not get to its end.
var stricter = []string{
	"it has more lines than its header says", "the name of a file without a hunk", "the patch says nothing",
	"a hunk without the name of a file before it", "something of the mode", "the name of the file is missing",
}

func compare(t *testing.T, from string, before tree, text string, counts map[string]int, gnuToo bool) {
	t.Helper()
	got, err := before.patched(text, 1)
	git, gitErr := before.byGit(t, text)
	switch {
	case err == nil && gitErr != nil && !strings.HasSuffix(text, "\n"):
		counts["without its last line end"]++
	case err == nil && gitErr != nil:
		t.Errorf("%s: applied, and git: %v\n%s", from, gitErr, text)
	case err == nil && got.String() != git.String():
		t.Errorf("%s: other bytes than git\n%s", from, text)
	case err != nil && gitErr == nil && !slices.ContainsFunc(stricter, func(s string) bool { return strings.Contains(err.Error(), s) }):
		t.Errorf("%s: git applies it: %v\n%s", from, err, text)
	case err != nil && gitErr == nil:
		counts["stricter than git"]++
	}
	if err != nil {
		counts["refused"]++
		return
	}
	counts["applied"]++
	if !gnuToo || !strings.HasSuffix(text, "\n") {
		return
	}
	gnu, gnuErr := before.byPatch(t, text)
	if gnuErr != nil || gnu.String() != git.String() {
		t.Errorf("%s: GNU patch: %v\n%s", from, gnuErr, text)
	}
}

// mutation spoils a tree or a patch.
type mutation struct {
	name  string
	spoil func(before tree, text string, random *rand.Rand) (tree, string)
	// own is true where GNU patch has its own rules. It holds a hunk with less context
	// behind than before for one at the end of the file, has later hunks follow the drift of
	// those before, and takes the CR off a patch that has it everywhere.
	own bool
}

var mutations = []mutation{
	{name: "context edited", spoil: inPatch(func(lines []string, random *rand.Rand) []string { return edit(lines, " ", random) })},
	{name: "removed line edited", spoil: inPatch(func(lines []string, random *rand.Rand) []string { return edit(lines, "-", random) })},
	{name: "added line edited", spoil: inPatch(func(lines []string, random *rand.Rand) []string { return edit(lines, "+", random) })},
	{name: "header edited", spoil: inPatch(func(lines []string, random *rand.Rand) []string { return edit(lines, "@@ ", random) })},
	{name: "counts changed", spoil: inPatch(counted)},
	{name: "lines of the hunk shifted", spoil: inPatch(drifted), own: true},
	{name: "a line lost", spoil: inPatch(func(lines []string, random *rand.Rand) []string {
		at := random.IntN(len(lines))
		return slices.Delete(lines, at, at+1)
	})},
	{name: "a line twice", spoil: inPatch(func(lines []string, random *rand.Rand) []string {
		at := random.IntN(len(lines))
		return slices.Insert(lines, at, lines[at])
	})},
	{name: "the end lost", spoil: func(before tree, text string, random *rand.Rand) (tree, string) {
		return before, text[:len(text)-random.IntN(len(text)/3+1)]
	}},
	{name: "CRLF in the patch", spoil: func(before tree, text string, _ *rand.Rand) (tree, string) {
		return before, strings.ReplaceAll(text, "\n", "\r\n")
	}, own: true},
	{name: "CRLF in the file", spoil: inFile(func(s string, _ *rand.Rand) string { return strings.ReplaceAll(s, "\n", "\r\n") })},
	{name: "CRLF in both", spoil: func(before tree, text string, random *rand.Rand) (tree, string) {
		crlf, _ := inFile(func(s string, _ *rand.Rand) string { return strings.ReplaceAll(s, "\n", "\r\n") })(before, text, random)
		return crlf, regexp.MustCompile(`(?m)^([-+ ](?:[^-+].*)?)$\n`).ReplaceAllString(text, "$1\r\n")
	}},
	{name: "no final newline", spoil: inFile(func(s string, _ *rand.Rand) string { return strings.TrimSuffix(s, "\n") })},
	{name: "lines put before", spoil: inFile(func(s string, random *rand.Rand) string { return strings.Repeat("before\n", 1+random.IntN(9)) + s }), own: true},
	{name: "lines put behind", spoil: inFile(func(s string, random *rand.Rand) string { return s + strings.Repeat("behind\n", 1+random.IntN(9)) }), own: true},
	{name: "lines put in between", spoil: inFile(func(s string, random *rand.Rand) string {
		lines := strings.SplitAfter(s, "\n")
		return strings.Join(slices.Insert(lines, random.IntN(len(lines)), "x\n", "y\n"), "")
	}), own: true},
	{name: "the text twice", spoil: inFile(func(s string, _ *rand.Rand) string { return s + s }), own: true},
	{name: "file gone", spoil: func(before tree, text string, _ *rand.Rand) (tree, string) {
		for name := range before {
			delete(before, name)
			break
		}
		return before, text
	}},
	{name: "applied already", spoil: func(before tree, text string, _ *rand.Rand) (tree, string) {
		after, err := before.patched(text, 1)
		if err != nil {
			return before, text
		}
		return after, text
	}},
	{name: "an empty line lost its blank", spoil: func(before tree, text string, _ *rand.Rand) (tree, string) {
		return before, strings.ReplaceAll(text, "\n \n", "\n\n")
	}},
}

func inPatch(f func(lines []string, random *rand.Rand) []string) func(tree, string, *rand.Rand) (tree, string) {
	return func(before tree, text string, random *rand.Rand) (tree, string) {
		return before, strings.Join(f(strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n"), random), "") + "\n"
	}
}

func inFile(f func(content string, random *rand.Rand) string) func(tree, string, *rand.Rand) (tree, string) {
	return func(before tree, text string, random *rand.Rand) (tree, string) {
		for _, name := range slices.Sorted(maps.Keys(before)) {
			before[name] = node{f(before[name].content, random), before[name].executable}
		}
		return before, text
	}
}

// edit changes one of the lines with a prefix.
func edit(lines []string, prefix string, random *rand.Rand) []string {
	var at []int
	for i, line := range lines {
		if strings.HasPrefix(line, prefix) && !strings.HasPrefix(line, prefix+prefix) {
			at = append(at, i)
		}
	}
	if len(at) > 0 {
		i := at[random.IntN(len(at))]
		cut := len(prefix) + random.IntN(max(len(lines[i])-len(prefix), 1))
		lines[i] = lines[i][:cut] + "~" + lines[i][cut:]
	}
	return lines
}

var numbers = regexp.MustCompile(`^@@ -(\d+),(\d+) \+(\d+),(\d+) @@`)

func counted(lines []string, random *rand.Rand) []string {
	return inHeader(lines, random, func(n []int) { n[1+2*random.IntN(2)] += 1 - 2*random.IntN(2) })
}

func drifted(lines []string, random *rand.Rand) []string {
	return inHeader(lines, random, func(n []int) {
		by := random.IntN(9) - 4
		n[0], n[2] = max(n[0]+by, 2), max(n[2]+by, 2)
	})
}

func inHeader(lines []string, random *rand.Rand, f func(n []int)) []string {
	start := random.IntN(len(lines))
	for i := range lines {
		at := (start + i) % len(lines)
		if !numbers.MatchString(lines[at]) {
			continue
		}
		n := make([]int, 4)
		_, _ = fmt.Sscanf(lines[at], "@@ -%d,%d +%d,%d @@", &n[0], &n[1], &n[2], &n[3]) // it matches
		f(n)
		if n[1] >= 0 && n[3] >= 0 {
			lines[at] = numbers.ReplaceAllString(lines[at], fmt.Sprintf("@@ -%d,%d +%d,%d @@", n[0], n[1], n[2], n[3]))
		}
		break
	}
	return lines
}
