package patch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/patch"
)

// one is a patch of the file f: its hunks behind two names.
func one(hunks string) string { return "--- a/f\n+++ b/f\n" + hunks }

// TestParseNames: which files a patch is about, and what happens to them.
func TestParseNames(t *testing.T) {
	const hunk = "@@ -1 +1 @@\n-a\n+b\n"
	for name, c := range map[string]struct {
		text  string
		strip int
		want  string // kind old new mode
	}{
		"git":               {"diff --git a/x/f b/x/f\nindex 7898192..6178079 100644\n--- a/x/f\n+++ b/x/f\n" + hunk, 1, "0 x/f x/f 0"},
		"diff -u":           {"--- f\t2026-01-02 03:04:05.678901234 +0000\n+++ f\t2026-01-02 03:04:06.0 +0000\n" + hunk, 0, "0 f f 0"},
		"blanks, no tab":    {"--- a/f 2026-01-02 03:04:05 +0000\n+++ b/f 2026-01-02 03:04:06 +0000\n" + hunk, 1, "0 f f 0"},
		"a name with blank": {"--- a/f g\t\n+++ b/f g\t\n" + hunk, 1, "0 f g f g 0"},
		"f.orig and f":      {"--- a/f.orig\n+++ a/f\n" + hunk, 1, "0 f f 0"},
		"f and f.new":       {"--- a/f\n+++ a/f.new\n" + hunk, 1, "0 f f 0"},
		"two names":         {"--- a/old\n+++ b/new\n" + hunk, 1, "0 new new 0"},
		"new":               {"--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", 1, "1  f 0"},
		"new by its time":   {"--- a/f\t1970-01-01 00:00:00.000000000 +0000\n+++ b/f\t2026-01-02 03:04:06.0 +0000\n@@ -0,0 +1 @@\n+a\n", 1, "1  f 0"},
		"new, far east":     {"--- a/f\t1970-01-01 09:00:00 +0900\n+++ b/f\t2026-01-02 03:04:06.0 +0900\n@@ -0,0 +1 @@\n+a\n", 1, "1  f 0"},
		"gone":              {"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", 1, "2 f  0"},
		"gone by its time":  {"--- a/f\t2026-01-02 03:04:06.0 +0000\n+++ b/f\t1970-01-01 00:00:00.0 +0000\n@@ -1 +0,0 @@\n-a\n", 1, "2 f  0"},
		"git new":           {"diff --git a/f b/f\nnew file mode 100755\nindex 0000000..7898192\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", 1, "1  f 755"},
		"git new, empty":    {"diff --git a/f b/f\nnew file mode 100644\nindex 0000000..e69de29\n", 1, "1  f 644"},
		"git gone":          {"diff --git a/f b/f\ndeleted file mode 100644\nindex 7898192..0000000\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", 1, "2 f  0"},
		"git gone, empty":   {"diff --git a/f g b/f g\ndeleted file mode 100644\nindex e69de29..0000000\n", 1, "2 f g  0"},
		"mode only":         {"diff --git a/x/run.sh b/x/run.sh\nold mode 100644\nnew mode 100755\n", 1, "0 x/run.sh x/run.sh 755"},
		"rename":            {"diff --git a/f b/x/g\nsimilarity index 100%\nrename from f\nrename to x/g\n", 1, "3 f x/g 0"},
		"rename, edited":    {"diff --git a/f b/g\nsimilarity index 50%\nrename from f\nrename to g\nindex 7898192..6178079 100644\n--- a/f\n+++ b/g\n" + hunk, 1, "3 f g 0"},
		"copy":              {"diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n", 1, "4 f g 0"},
		"octal":             {"diff --git \"a/\\303\\244\\\"\" \"b/\\303\\244\\\"\"\nold mode 100644\nnew mode 100755\n", 1, `0 ä" ä" 755`},
		"quoted rename":     {"diff --git a/f \"b/\\303\\244\"\nsimilarity index 100%\nrename from f\nrename to \"\\303\\244\"\n", 1, "3 f ä 0"},
		"strip 2":           {"--- a/x/f\n+++ b/x/f\n" + hunk, 2, "0 f f 0"},
		"no prefix":         {"diff --git f f\nindex 7898192..6178079 100644\n--- f\n+++ f\n" + hunk, 0, "0 f f 0"},
		"CRLF names":        {"--- a/f\r\n+++ b/f\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", 1, "0 f f 0"},
		"mail":              {"From 123 Mon Sep 17\nSubject: x\n\nText.\n---\n f | 2 +-\n\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n" + hunk + "-- \n2.39.5\n\n", 1, "0 f f 0"},
	} {
		files, err := patch.Parse(c.text, c.strip)
		if err != nil || len(files) != 1 {
			t.Errorf("%s: %d files, %v", name, len(files), err)
			continue
		}
		if got := fmt.Sprintf("%d %s %s %o", files[0].Kind, files[0].Old, files[0].New, files[0].Mode); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestParseRefuses: what is refused, and what the refusal says.
func TestParseRefuses(t *testing.T) {
	const hunk = "@@ -1 +1 @@\n-a\n+b\n"
	const names = "diff --git a/f b/f\n"
	for name, c := range map[string]struct {
		text string
		code string
		says string
	}{
		"nothing":                  {"hello\n", "no_patch", "no unified diff"},
		"empty":                    {"", "no_patch", "no unified diff"},
		"hunk alone":               {hunk, "bad_patch", "line 1"},
		"names alone":              {one(""), "bad_patch", "without a hunk"},
		"count too high":           {one("@@ -1,2 +1 @@\n-a\n+b\n"), "bad_patch", "1 lines of before"},
		"count too low":            {one("@@ -1,2 +1 @@\n-a\n-b\n-c\n+b\n"), "bad_patch", "more lines"},
		"more behind":              {one(hunk + " c\n"), "bad_patch", "more lines"},
		"no change":                {one("@@ -1 +1 @@\n a\n"), "bad_patch", "changes nothing"},
		"no hunk line":             {one("@@ -1,2 +1,2 @@\n-a\n+b\nc\n"), "bad_patch", "no line of a hunk"},
		"header":                   {one("@@ -1 +x @@\n-a\n+b\n"), "bad_patch", "name of a file without a hunk"},
		"huge number":              {one("@@ -99999999999 +1 @@\n-a\n+b\n"), "bad_patch", "name of a file without a hunk"},
		"no newline twice":         {one("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n\\ No newline at end of file\n+b\n"), "bad_patch", "no line end already"},
		"no newline in the middle": {one("@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n-c\n+b\n"), "bad_patch", "follows the one with"},
		"binary":                   {names + "index 1..2 100644\nGIT binary patch\nliteral 1\n", "binary_patch", "f: "},
		"binary, differ":           {names + "index 1..2 100644\nBinary files a/f and b/f differ\n", "binary_patch", "f: "},
		"binary, diff":             {"Binary files a/f and b/f differ\n" + one(hunk), "binary_patch", "a/f and b/f"},
		"combined":                 {"diff --cc dir/f\nindex 1,2..3\n--- a/dir/f\n+++ b/dir/f\n@@@ -1,2 -1,2 +1,2 @@@\n", "combined_patch", "dir/f"},
		"link":                     {names + "new file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n", "file_type", "f: the patch is about a symbolic link"},
		"submodule":                {names + "index 1..2 160000\n--- a/f\n+++ b/f\n" + hunk, "file_type", "submodule"},
		"says nothing":             {names + "index 1..2 100644\n", "bad_patch", "says nothing"},
		"new with old":             {names + "new file mode 100644\n--- /dev/null\n+++ b/f\n" + hunk, "bad_patch", "new file"},
		"gone with rest":           {names + "deleted file mode 100644\n--- a/f\n+++ /dev/null\n" + hunk, "bad_patch", "deleted"},
		"new and renamed":          {"diff --git a/f b/g\nnew file mode 100644\nrename from f\nrename to g\n", "bad_patch", "fit together"},
		"half a rename":            {"diff --git a/f b/g\nrename from f\n", "bad_patch", "missing"},
		"other names":              {"diff --git a/f b/f\n--- a/f\n+++ b/g\n" + hunk, "bad_patch", "differ"},
		"other than the rename":    {"diff --git a/f b/g\nrename from f\nrename to g\n--- a/x\n+++ b/g\n" + hunk, "bad_patch", "calls the file"},
		"renamed to itself":        {names + "rename from f\nrename to f\n", "bad_patch", "itself"},
		"twice":                    {one(hunk) + one(hunk), "duplicate_file", "f twice"},
		"deleted, then new":        {"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\n", "duplicate_file", "f twice"},
		"swapped":                  {"diff --git a/f b/g\nrename from f\nrename to g\ndiff --git a/g b/f\nrename from g\nrename to f\n", "duplicate_file", "twice"},
		"a file becomes a folder":  {"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/f/g\n@@ -0,0 +1 @@\n+b\n", "file_and_folder", "f and f/g"},
		"stripped to nothing":      {"--- f\n+++ f\n" + hunk, "strip", "\"f\" without its first 1 parts"},
		"control character":        {"--- \"a/f\\ng\"\n+++ \"b/f\\ng\"\n" + hunk, "bad_path", "without control characters"},
		"NUL":                      {"--- a/f\x00g\n+++ b/f\x00g\n" + hunk, "bad_path", "without control characters"},
		"no UTF-8":                 {"--- \"a/\\377\"\n+++ \"b/\\377\"\n" + hunk, "bad_path", "without control characters"},
		"a dot":                    {"--- a/./f\n+++ b/./f\n" + hunk, "bad_path", "a plain path"},
		"two slashes":              {"--- a/x//f\n+++ b/x//f\n" + hunk, "bad_path", "a plain path"},
	} {
		_, err := patch.Parse(c.text, 1)
		e := fault.From(err)
		if err == nil || e.Kind != fault.InvalidInput || e.Code != c.code || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v, want %s with %q", name, err, c.code, c.says)
		}
	}
}

// F17: names that lead out of the project are refused by the text alone.
func TestF17Names(t *testing.T) {
	const hunk = "@@ -0,0 +1 @@\n+x\n"
	for _, text := range []string{
		"--- /dev/null\n+++ b/../x\n" + hunk,
		"--- /dev/null\n+++ b/y/../../x\n" + hunk,
		"--- /dev/null\n+++ ../x\n" + hunk,
		"--- /dev/null\n+++ b//etc/x\n" + hunk,
		"--- /dev/null\n+++ /etc/x\n" + hunk,
		"--- /dev/null\n+++ \"b/\\056\\056/x\"\n" + hunk,
		"--- a/../x\n+++ b/f\n" + hunk,
		"diff --git a/f b/../x\nrename from f\nrename to ../x\n",
		"diff --git a/f b/x\nrename from f\nrename to /etc/x\n",
		"diff --git a/f b/x\ncopy from ../../secret\ncopy to x\n",
		"diff --git a/../x b/../x\nold mode 100644\nnew mode 100755\n",
		"diff --git a/../x b/../x\ndeleted file mode 100644\n",
		"diff --git a/../x b/../x\nnew file mode 100644\n",
	} {
		for strip := range 2 {
			_, err := patch.Parse(text, strip)
			if err == nil || strip == 1 && !fault.Is(err, fault.PermissionDenied) {
				t.Errorf("strip %d: %v\n%s", strip, err, text)
			}
		}
	}
}

// TestApply: where hunks apply, and what a reject says.
func TestApply(t *testing.T) {
	const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for name, c := range map[string]struct {
		content, hunks string
		want           string // "" for a reject
		says           string
	}{
		"in place":          {ten, "@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n", ""},
		"further down":      {"0\n" + ten, "@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n", "0\n1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n", ""},
		"the nearest":       {"a\nb\nc\nx\nx\na\nb\nc\nx\n", "@@ -5,3 +5,3 @@\n a\n-b\n+B\n c\n", "a\nb\nc\nx\nx\na\nB\nc\nx\n", ""},
		"drift of its own":  {ten, "@@ -2,2 +2,3 @@\n 2\n+x\n 3\n@@ -8,2 +9,1 @@\n-8\n 9\n", "1\n2\nx\n3\n4\n5\n6\n7\n9\n10\n", ""},
		"new":               {"", "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n", "a\nb", ""},
		"emptied":           {"a", "@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n", "\x00", ""},
		"newline added":     {"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n", ""},
		"newline lost":      {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb", ""},
		"CRLF":              {"a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n", "a\r\nc\r\n", ""},
		"another CRLF":      {"a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "", `line 1 is "a\r", the patch has "a"`},
		"context differs":   {ten, "@@ -4,3 +4,3 @@\n 4\n-5\n+five\n six\n", "", `line 6 is "6", the patch has "six"`},
		"too short":         {"1\n2\n", "@@ -2,2 +2,2 @@\n 2\n-3\n+x\n", "", `the file ends before line 3, where the patch has "3"`},
		"no final newline":  {"1\n2", "@@ -1,2 +1,2 @@\n 1\n-2\n+x\n", "", `line 2 is "2" without a line end, the patch has "2"`},
		"not at the start":  {"0\n" + ten, "@@ -1,2 +1,2 @@\n-1\n+x\n 2\n", "", `line 1 is "0"`},
		"not at the end":    {ten + "11\n", "@@ -9,2 +9,3 @@\n 9\n 10\n+x\n", "", "at the end of the file"},
		"before the last":   {ten, "@@ -7,2 +7,2 @@\n-7\n+x\n 8\n@@ -3,2 +3,2 @@\n-3\n+y\n 4\n", "", `line 9 is "9", the patch has "3"`},
		"empty context":     {"a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nc\n", ""},
		"no line end of it": {"a\n", "@@ -1 +1 @@\n-a\n+b", "b\n", ""},
	} {
		files, err := patch.Parse(one(c.hunks), 1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := patch.Apply(c.content, files[0].Hunks, new(patch.Work))
		if c.want == "" {
			if len(r.Rejects) != 1 || !strings.Contains(r.Rejects[0].Reason, c.says) {
				t.Errorf("%s: %q %+v, want %q", name, r.Content, r.Rejects, c.says)
			}
			continue
		}
		if want := strings.TrimPrefix(c.want, "\x00"); len(r.Rejects) > 0 || r.Content != want {
			t.Errorf("%s: %q %+v, want %q", name, r.Content, r.Rejects, want)
		}
	}
}

// TestPlaced: applied hunks say where they were applied, so that they can be taken back.
func TestPlaced(t *testing.T) {
	content := strings.Repeat("0\n", 5) + "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	files, err := patch.Parse(one("@@ -2,2 +2,3 @@\n 2\n+x\n 3\n@@ -8,2 +9,1 @@\n-8\n 9\n"), 1)
	if err != nil {
		t.Fatal(err)
	}
	r := patch.Apply(content, files[0].Hunks, new(patch.Work))
	got := patch.Format([]patch.File{{Old: "f", New: "f", Hunks: r.Hunks}})
	if want := "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -7,2 +7,3 @@\n 2\n+x\n 3\n@@ -13,2 +14 @@\n-8\n 9\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Work is bounded for all files of a patch together: hunks that could be anywhere in a large
// file end soon, however many times that is copied.
func TestApplyIsBounded(t *testing.T) {
	lines := strings.Repeat("a\n", 250_000)
	text := one("@@ -1000,1002 +1000,1001 @@\n" + strings.Repeat(" a\n", 1000) + "-b\n a\n")
	files, err := patch.Parse(text, 1)
	if err != nil {
		t.Fatal(err)
	}
	var work patch.Work
	started := time.Now()
	for i := range 600 {
		r := patch.Apply(lines, files[0].Hunks, &work)
		if len(r.Rejects) != 1 || i > 0 && !strings.Contains(r.Rejects[0].Reason, "given up") {
			t.Fatalf("%+v", r.Rejects)
		}
	}
	if took := time.Since(started); took > 60*time.Second {
		t.Errorf("it took %v", took)
	}
}

// One renamed file is two that change.
func TestParseBoundsFiles(t *testing.T) {
	var b strings.Builder
	for i := range 501 {
		if i == 500 {
			if _, err := patch.Parse(b.String(), 1); err != nil {
				t.Error(err)
			}
		}
		fmt.Fprintf(&b, "diff --git a/f%d b/g%d\nrename from f%d\nrename to g%d\n", i, i, i, i)
	}
	if _, err := patch.Parse(b.String(), 1); err == nil || !strings.Contains(err.Error(), "more than 1000 files") {
		t.Error(err)
	}
}

// Names that would be misread are written as git does.
func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"f": "f", "a b": "a b", "ä": "ä", "a\"\\\n\x01\u00e4": `"a\"\\\n\001\303\244"`,
	} {
		if got := patch.Quote(name); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	got := patch.Format([]patch.File{{Old: "a b", New: "a b", Hunks: []patch.Hunk{{NewStart: 1, NewCount: 1, Lines: []patch.Line{{Op: '+', Text: "x"}}}}}})
	if want := "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"; got != want {
		t.Errorf("%q", got)
	}
}

// FuzzPatch: nothing panics, what is read is written and read the same again, and what is applied and taken
// back gives what was.
func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		one("@@ -1 +1 @@\n-a\n+b\n"), "diff --git a/f b/g\nsimilarity index 50%\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
		"diff --git \"a/\\303\\244\" \"b/\\303\\244\"\nnew file mode 100755\n--- /dev/null\n+++ \"b/\\303\\244\"\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n",
		"--- a/f\t1970-01-01 00:00:00.0 +0000\n+++ b/f x\t2026-01-02 03:04:06.0 +0000\n@@ -0,0 +1 @@ func\n+a\n", "diff --cc f\n", "Binary files a and b differ\n",
	} {
		f.Add(seed, "a\nb\n", 1)
	}
	f.Fuzz(func(t *testing.T, text, content string, strip int) {
		files, err := patch.Parse(text, strip%8)
		if err != nil {
			return
		}
		written := patch.Format(files)
		again, err := patch.Parse(written, 1)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if twice := patch.Format(again); twice != written {
			t.Fatalf("%s\nbecomes\n%s", written, twice)
		}
		for _, file := range files {
			for _, name := range file.Changed() {
				if name == "" || name[0] == '/' || strings.Contains("/"+name+"/", "/../") {
					t.Fatalf("the name %q passed", name)
				}
			}
			r := patch.Apply(content, file.Hunks, new(patch.Work))
			if len(r.Rejects) > 0 {
				continue
			}
			if back := patch.Apply(r.Content, reversed(r.Hunks), new(patch.Work)); back.Content != content || len(back.Rejects) > 0 {
				t.Fatalf("%q became %q, and back %q %+v", content, r.Content, back.Content, back.Rejects)
			}
		}
	})
}

// reversed are the hunks that take others back.
func reversed(hunks []patch.Hunk) []patch.Hunk {
	all := slices.Clone(hunks)
	for i := range all {
		h := &all[i]
		h.OldStart, h.OldCount, h.NewStart, h.NewCount = h.NewStart, h.NewCount, h.OldStart, h.OldCount
		h.Lines = slices.Clone(h.Lines)
		for j := range h.Lines {
			switch h.Lines[j].Op {
			case '+':
				h.Lines[j].Op = '-'
			case '-':
				h.Lines[j].Op = '+'
			}
		}
	}
	return all
}
