package linediff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestUnified(t *testing.T) {
	numbers := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, oldName, newName, old, new, want string }{
		{"same", "f", "f", "a\n", "a\n", ""},
		{"one line", "f", "f", "a\nb\nc\n", "a\nB\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"new file", "", "f", "", "a\n", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"},
		{"gone", "f", "", "a\nb\n", "", "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{"newline lost", "f", "f", "a\n", "a", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		{"none on both sides", "f", "f", "x\na", "y\na", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n"},
		{"line ends", "f", "f", "a\r\n", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\r\n+a\n"},
		{"context", "f", "f", numbers(1, 20), strings.Replace(numbers(1, 20), "10\n", "", 1),
			"--- a/f\n+++ b/f\n@@ -7,7 +7,6 @@\n 7\n 8\n 9\n-10\n 11\n 12\n 13\n"},
		{"six lines between: one hunk", "f", "f", "x\n" + numbers(1, 6) + "x\n", "y\n" + numbers(1, 6) + "y\n",
			"--- a/f\n+++ b/f\n@@ -1,8 +1,8 @@\n-x\n+y\n 1\n 2\n 3\n 4\n 5\n 6\n-x\n+y\n"},
		{"seven: two", "f", "f", "x\n" + numbers(1, 7) + "x\n", "y\n" + numbers(1, 7) + "y\n",
			"--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-x\n+y\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-x\n+y\n"},
		{"blank in the name", "a b", "ä", "", "x\n", "--- a/a b\t\n+++ b/ä\n@@ -0,0 +1 @@\n+x\n"},
		{"odd name", "a\"\\\n\u00e4", "f", "", "x\n", "--- \"a/a\\\"\\\\\\012\\303\\244\"\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"},
	} {
		if got := string(Unified(c.oldName, c.newName, []byte(c.old), []byte(c.new))); got != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
}

// The script is a smallest one where that takes few steps: a line of difference for each
// line that an independent table of common subsequences leaves over.
func TestSmallest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := randomLines(random, 12, 3), randomLines(random, 12, 3)
		changed := 0
		s := texts{old: split(a), new: split(b)}
		for _, c := range s.changes() {
			changed += c.oldEnd - c.old + c.newEnd - c.new
		}
		if want := len(s.old) + len(s.new) - 2*common(s.old, s.new); changed != want {
			t.Fatalf("%q to %q: %d lines changed, want %d", a, b, changed, want)
		}
	}
}

// common is the length of a longest common subsequence.
func common(a, b [][]byte) int {
	row := make([]int, len(b)+1)
	for i := range a {
		above := 0
		for j := range b {
			diagonal := above
			above = row[j+1]
			if bytes.Equal(a[i], b[j]) {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
		}
	}
	return row[len(b)]
}

func randomLines(random *rand.Rand, most, words int) []byte {
	var b bytes.Buffer
	for range random.IntN(most + 1) {
		fmt.Fprintf(&b, "%c%s", 'a'+random.IntN(words), []string{"\n", "\n", "\n", "\r\n", " \n"}[random.IntN(5)])
	}
	if random.IntN(4) == 0 {
		b.WriteString("end")
	}
	return b.Bytes()
}

// edited makes a few changes to a content.
func edited(random *rand.Rand, content []byte) []byte {
	lines := split(content)
	for range random.IntN(6) {
		at := random.IntN(len(lines) + 1)
		end := min(len(lines), at+random.IntN(4))
		more := split(randomLines(random, 3, 20))
		lines = append(lines[:at:at], append(more, lines[end:]...)...)
	}
	return bytes.Join(lines, nil)
}

// git and GNU patch make the new content of the old one.
func TestPeersApply(t *testing.T) {
	for _, program := range []string{"git", "patch"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs the Debian package %s", program)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	for i := range 300 {
		old := randomLines(random, 60, 20)
		next := edited(random, old)
		if i%5 == 0 {
			next = randomLines(random, 60, 20)
		}
		if len(old) == 0 || len(next) == 0 || bytes.Equal(old, next) {
			continue // an empty one is a file that is made or removed, which the table has
		}
		diff := Unified("f x", "f x", old, next)
		for name, apply := range map[string][]string{
			"git":   {"git", "apply", "--whitespace=nowarn", "-"},
			"patch": {"patch", "--binary", "-s", "-p1", "--fuzz=0"},
		} {
			if got := applied(t, dir, apply, old, diff); !bytes.Equal(got, next) {
				t.Fatalf("%s makes %q of %q, want %q\n%s", name, got, old, next, diff)
			}
		}
	}
}

func applied(t *testing.T, dir string, argv []string, old, diff []byte) []byte {
	t.Helper()
	file := filepath.Join(dir, "f x")
	if err := os.WriteFile(file, old, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(argv[0], argv[1:]...)
	command.Dir, command.Stdin = dir, bytes.NewReader(diff)
	command.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s\n%s", argv, err, out, diff)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Large contents: many searches in a row give a correct diff in bounded time.
func TestLarge(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("needs the Debian package patch")
	}
	random := rand.New(rand.NewPCG(5, 6))
	line := func() string { return fmt.Sprintf("%d\n", random.IntN(1000)) }
	var a, b, c strings.Builder
	for i := range 10_000 {
		old := line()
		a.WriteString(old)
		if i%9 == 0 {
			old = line()
		}
		b.WriteString(old)
		c.WriteString(line())
	}
	same := strings.Repeat("x\n", 40_000)
	for name, pair := range map[string][2]string{
		"every ninth line":  {a.String(), b.String()},
		"another content":   {a.String(), c.String()},
		"repeated lines":    {"a\n" + same + "b\n", "b\n" + same + same + "c\n"},
		"no line in common": {a.String(), strings.ReplaceAll(a.String(), "\n", "!\n")},
	} {
		started := time.Now()
		diff := Unified("f x", "f x", []byte(pair[0]), []byte(pair[1]))
		took := time.Since(started)
		if got := applied(t, t.TempDir(), []string{"patch", "--binary", "-s", "-p1", "--fuzz=0"}, []byte(pair[0]), diff); string(got) != pair[1] {
			t.Errorf("%s: patch makes something else of it", name)
		}
		if t.Logf("%s: %v", name, took); took > 30*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func FuzzUnified(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("a\nc"))
	f.Fuzz(func(t *testing.T, old, next []byte) {
		diff := Unified("f", "f", old, next)
		if got := undiff(old, diff); !bytes.Equal(got, next) {
			t.Errorf("%q and %q make %q\n%s", old, next, got, diff)
		}
	})
}

// undiff applies a diff by its signs and counts alone.
func undiff(old, diff []byte) []byte {
	if diff == nil {
		return old
	}
	lines, at := split(old), 0
	var out [][]byte
	var last byte
	for _, line := range split(diff)[2:] {
		switch line[0] {
		case '@':
			var start, count int
			if n, _ := fmt.Sscanf(string(line), "@@ -%d,%d", &start, &count); n == 1 {
				count = 1
			}
			if count == 0 {
				start++
			}
			out = append(out, lines[at:start-1]...)
			at = start - 1
		case ' ':
			out, at = append(out, lines[at]), at+1
		case '-':
			at++
		case '+':
			out = append(out, line[1:])
		case '\\':
			if last == '+' {
				out[len(out)-1] = bytes.TrimSuffix(out[len(out)-1], []byte("\n"))
			}
		}
		last = line[0]
	}
	return bytes.Join(append(out, lines[at:]...), nil)
}
