package fs_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime/artifact"
)

type editOutput struct {
	Path           string
	Replacements   int
	SHA256         string `json:"sha256"`
	DiffArtifactID string `json:"diff_artifact_id"`
}

// seen writes a file and reads it with fs.read.
func seen(t *testing.T, r *rig.Rig, name, content string) string {
	t.Helper()
	path := r.Put(name, content)
	r.Must("fs.read", object{"path": name, "limit_lines": 1}, nil)
	return path
}

func TestEdit(t *testing.T) {
	r := rig.New(t, rig.Options{})
	for _, c := range []struct {
		name, before, old, new, after string
		all                           bool
		count                         int
	}{
		{"one place", "a\nb\nc\n", "b", "B", "a\nB\nc\n", false, 1},
		{"all places", "a b a\na\n", "a", "xy", "xy b xy\nxy\n", true, 3},
		{"all, of those that overlap the first", "aaaaa", "aa", "b", "bba", true, 2},
		{"removed", "a\nb\nc\n", "b\n", "", "a\nc\n", false, 1},
		{"CRLF stays", "a\r\nb\r\nc\r\n", "b\r\nc", "B\r\nC", "a\r\nB\r\nC\r\n", false, 1},
		{"a BOM stays", "\ufeffa\nb", "a", "A", "\ufeffA\nb", false, 1},
		{"no final newline", "a\nb", "b", "c", "a\nc", false, 1},
		{"beside bytes that are no text", "gr\xfcn\nx\xff\n", "x", "y", "gr\xfcn\ny\xff\n", false, 1},
		{"beside NUL", "a\x00b\x00", "b", "c", "a\x00c\x00", false, 1},
		{"to nothing", "a", "a", "", "", false, 1},
		{"whole lines in characters", "ä€😀\n", "€", "ß", "äß😀\n", false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := seen(t, r, "f.txt", c.before)
			var got editOutput
			e := r.Must("fs.edit", object{"path": "f.txt", "old_string": c.old, "new_string": c.new, "replace_all": c.all}, &got)
			if after := content(t, path); after != c.after || got.Replacements != c.count || got.Path != "f.txt" {
				t.Errorf("%q, %d replaced in %s; want %q, %d", after, got.Replacements, got.Path, c.after, c.count)
			}
			noted(t, r, path, got.SHA256)
			if diff := diffOf(t, r, got.DiffArtifactID); patched(t, c.before, diff) != c.after {
				t.Errorf("the diff says something else: %q", diff)
			}
			r.Must("air.undo", object{"run_id": e.RunID}, nil)
			if back := content(t, path); back != c.before {
				t.Errorf("undone: %q", back)
			}
		})
	}
}

func diffOf(t *testing.T, r *rig.Rig, id string) string {
	t.Helper()
	record, err := r.Session.Artifacts.Get(t.Context(), id)
	must(t, err)
	if record.Type != "diff" || record.MediaType != "text/x-diff" {
		t.Errorf("%+v", record)
	}
	return stored(t, r, record)
}

// stored is the content of an artifact.
func stored(t *testing.T, r *rig.Rig, record artifact.Record) string {
	t.Helper()
	file, err := r.Session.Artifacts.Open(record)
	must(t, err)
	defer file.Close()
	text, err := io.ReadAll(file)
	must(t, err)
	return string(text)
}

// patched is what GNU patch makes of a content.
func patched(t *testing.T, before, diff string) string {
	t.Helper()
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("needs the Debian package patch")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f.txt")
	must(t, os.WriteFile(path, []byte(before), 0o600))
	command := exec.Command("patch", "--binary", "-s", "-p1", "--fuzz=0")
	command.Dir, command.Stdin = dir, strings.NewReader(diff)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, diff)
	}
	after, err := os.ReadFile(path)
	if os.IsNotExist(err) { // patch removes what became empty
		return ""
	}
	must(t, err)
	return string(after)
}

// An edit needs the file as it was read: its own edits count as read, another task's reads
// do not.
func TestEditFollowsEdit(t *testing.T) {
	r := rig.New(t, rig.Options{})
	seen(t, r, "f.txt", "1")
	for i := range 3 {
		r.Must("fs.edit", object{"path": "f.txt", "old_string": fmt.Sprint(i + 1), "new_string": fmt.Sprint(i + 2)}, nil)
	}
	r.Session.Task = "another"
	failed(t, r.Call("fs.edit", object{"path": "f.txt", "old_string": "4", "new_string": "5"}), fault.Conflict, "not_read")
}

// Mode and attributes of the file stay.
func TestEditKeepsModeAndAttributes(t *testing.T) {
	r := rig.New(t, rig.Options{})
	path := seen(t, r, "f.sh", "a\n")
	must(t, os.Chmod(path, 0o751))
	attributes := unix.Setxattr(path, "user.air.test", []byte("kept"), 0)
	r.Must("fs.edit", object{"path": "f.sh", "old_string": "a", "new_string": "b"}, nil)
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v", info.Mode())
	}
	if attributes != nil {
		t.Skipf("attributes are not looked at: %v", attributes)
	}
	value := make([]byte, 16)
	if n, err := unix.Getxattr(path, "user.air.test", value); err != nil || string(value[:n]) != "kept" {
		t.Errorf("attribute %q %v", value[:max(n, 0)], err)
	}
}

// Random contents and edits against a replacement made byte by byte.
func TestEditProperty(t *testing.T) {
	r := rig.New(t, rig.Options{})
	random := rand.New(rand.NewPCG(7, 8))
	text := func(most int) string {
		b := make([]byte, random.IntN(most))
		for i := range b {
			b[i] = "ab\n\r \t"[random.IntN(6)]
		}
		return string(b)
	}
	for i := range 100 {
		before, old, replacement := text(60), "a"+text(3), text(6)
		if i%3 == 0 {
			before = "\xff" + before + "\xfe"
		}
		if old == replacement {
			continue
		}
		all := random.IntN(2) == 0
		path := seen(t, r, "f.txt", before)
		e := r.Call("fs.edit", object{"path": "f.txt", "old_string": old, "new_string": replacement, "replace_all": all})
		after, count, overlapping := replaced(before, old, replacement)
		switch {
		case count == 0:
			failed(t, e, fault.Conflict, "no_match")
			after = before
		case overlapping > 1 && !all:
			failed(t, e, fault.Conflict, "not_unique")
			after = before
		case e.Error != nil:
			t.Fatalf("%q, %q to %q: %v", before, old, replacement, e.Error)
		}
		if got := content(t, path); got != after {
			t.Fatalf("%q, %q to %q: got %q, want %q", before, old, replacement, got, after)
		}
		if e.Error == nil {
			r.Must("air.undo", object{"run_id": e.RunID}, nil)
			if got := content(t, path); got != before {
				t.Fatalf("undone: %q, want %q", got, before)
			}
		}
	}
}

// replaced goes through a text byte by byte. overlapping counts every place where old
// begins.
func replaced(text, old, replacement string) (after string, count, overlapping int) {
	var b strings.Builder
	for free, i := 0, 0; i < len(text); i++ {
		here := i+len(old) <= len(text) && text[i:i+len(old)] == old
		if here {
			overlapping++
		}
		switch {
		case i < free:
		case here:
			b.WriteString(replacement)
			count++
			free = i + len(old)
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), count, overlapping
}
