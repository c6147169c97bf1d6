package linediff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/patch"
)

func TestUnified(t *testing.T) {
	numbers := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"same", "a\n", "a\n", ""},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"new file", "", "a\n", "@@ -0,0 +1 @@\n+a\n"},
		{"gone", "a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{"newline lost", "a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		{"none on both sides", "x\na", "y\na", "@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n"},
		{"line ends", "a\r\n", "a\n", "@@ -1 +1 @@\n-a\r\n+a\n"},
		{"context", numbers(1, 20), strings.Replace(numbers(1, 20), "10\n", "", 1),
			"@@ -7,7 +7,6 @@\n 7\n 8\n 9\n-10\n 11\n 12\n 13\n"},
		{"six lines between: one hunk", "x\n" + numbers(1, 6) + "x\n", "y\n" + numbers(1, 6) + "y\n",
			"@@ -1,8 +1,8 @@\n-x\n+y\n 1\n 2\n 3\n 4\n 5\n 6\n-x\n+y\n"},
		{"seven: two", "x\n" + numbers(1, 7) + "x\n", "y\n" + numbers(1, 7) + "y\n",
			"@@ -1,4 +1,4 @@\n-x\n+y\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-x\n+y\n"},
	} {
		if got := string(unified(t, []byte(c.old), []byte(c.new))); got != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
}

// unified is a diff without the names of a file.
func unified(t testing.TB, old, new []byte) []byte {
	t.Helper()
	hunks, err := Hunks(t.Context(), old, new)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(patch.FormatHunks(hunks))
}

// What is too large or takes too long is refused, or is not the smallest; its cost is bounded.
func TestBounds(t *testing.T) {
	lines := bytes.Repeat([]byte("a\n"), 1_500_000)
	more := bytes.Repeat([]byte("\n\n\n\n"), 1_500_000)
	if _, err := Hunks(t.Context(), lines, more); err != ErrTooLarge {
		t.Error(err)
	}
	if _, err := Hunks(t.Context(), make([]byte, 70<<20), bytes.Repeat([]byte{1}, 70<<20)); err != ErrTooLarge {
		t.Error(err)
	}
	if _, err := Hunks(t.Context(), lines, append(lines, 'b')); err != nil { // almost the same
		t.Error(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Hunks(stopped, []byte("a\n"), []byte("b\n")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	random := rand.New(rand.NewPCG(7, 8))
	var a, b bytes.Buffer
	for range 400_000 {
		fmt.Fprintf(&a, "%d\n", random.IntN(50))
		fmt.Fprintf(&b, "%d\n", random.IntN(50))
	}
	started := time.Now()
	diff := unified(t, a.Bytes(), b.Bytes())
	if took := time.Since(started); took > 60*time.Second {
		t.Errorf("it took %v", took)
	} else {
		t.Log(took)
	}
	if !bytes.Equal(undiff(a.Bytes(), diff), b.Bytes()) {
		t.Error("the diff makes something else")
	}
}

// The script is a smallest one where that takes few steps: a line of difference for each
// line that an independent table of common subsequences leaves over.
func TestSmallest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := randomLines(random, 12, 3), randomLines(random, 12, 3)
		changed := 0
		s := texts{old: split(string(a)), new: split(string(b))}
		changes, err := s.changes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			changed += c.oldEnd - c.old + c.newEnd - c.new
		}
		if want := len(s.old) + len(s.new) - 2*common(s.old, s.new); changed != want {
			t.Fatalf("%q to %q: %d lines changed, want %d", a, b, changed, want)
		}
	}
}

// common is the length of a longest common subsequence.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		above := 0
		for j := range b {
			diagonal := above
			above = row[j+1]
			if a[i] == b[j] {
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
	lines := split(string(content))
	for range random.IntN(6) {
		at := random.IntN(len(lines) + 1)
		end := min(len(lines), at+random.IntN(4))
		more := split(string(randomLines(random, 3, 20)))
		lines = append(lines[:at:at], append(more, lines[end:]...)...)
	}
	return []byte(strings.Join(lines, ""))
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
		diff := append([]byte("--- a/f x\t\n+++ b/f x\t\n"), unified(t, old, next)...)
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
		diff := append([]byte("--- a/f x\t\n+++ b/f x\t\n"), unified(t, []byte(pair[0]), []byte(pair[1]))...)
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
		diff := unified(t, old, next)
		if got := undiff(old, diff); !bytes.Equal(got, next) {
			t.Errorf("%q and %q make %q\n%s", old, next, got, diff)
		}
	})
}

// undiff applies a diff by its signs and counts alone.
func undiff(old, diff []byte) []byte {
	lines, at := split(string(old)), 0
	var out []string
	var last byte
	for _, line := range split(string(diff)) {
		switch line[0] {
		case '@':
			var start, count int
			if n, _ := fmt.Sscanf(line, "@@ -%d,%d", &start, &count); n == 1 {
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
				out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "\n")
			}
		}
		last = line[0]
	}
	return []byte(strings.Join(append(out, lines[at:]...), ""))
}
