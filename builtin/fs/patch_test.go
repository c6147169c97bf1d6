package fs_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

type patchOutput struct {
	ChangedFiles            []string `json:"changed_files"`
	DiffArtifactID          string   `json:"diff_artifact_id"`
	RejectedHunksArtifactID string   `json:"rejected_hunks_artifact_id"`
}

// haveRead puts files into the project and has the task read them.
func haveRead(t *testing.T, r *rig.Rig, files map[string]string) {
	t.Helper()
	for name, text := range files {
		r.Put(name, text)
		r.Must("fs.read", object{"path": name}, nil)
	}
}

// artifactText is what an artifact holds.
func artifactText(t *testing.T, r *rig.Rig, id string) string {
	t.Helper()
	record, err := r.Session.Artifacts.Get(r.Context(), id)
	must(t, err)
	if record.Type != "diff" {
		t.Errorf("artifact %s is a %s", id, record.Type)
	}
	return content(t, record.Path)
}

const manyPatch = `diff --git a/edit.txt b/edit.txt
--- a/edit.txt
+++ b/edit.txt
@@ -1,2 +1,2 @@
 one
-two
+TWO
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/from.txt b/sub/to.txt
similarity index 100%
rename from from.txt
rename to sub/to.txt
diff --git a/new/deep/made.sh b/new/deep/made.sh
new file mode 100755
--- /dev/null
+++ b/new/deep/made.sh
@@ -0,0 +1 @@
+made
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`

func manyFiles(t *testing.T, r *rig.Rig) {
	t.Helper()
	haveRead(t, r, map[string]string{"edit.txt": "one\ntwo\n", "gone.txt": "gone\n", "from.txt": "moved\n", "run.sh": "run\n"})
	must(t, os.Chmod(filepath.Join(r.Root, "from.txt"), 0o640))
}

// TestPatchManyFiles: all kinds of changes in one patch; then the undo of it.
func TestPatchManyFiles(t *testing.T) {
	r := rig.New(t, rig.Options{})
	manyFiles(t, r)
	before := treeOf(t, r.Root)
	var got patchOutput
	e := r.Must("fs.patch", object{"patch": manyPatch, "expected_paths": []string{"edit.txt", "gone.txt", "from.txt", "./sub/to.txt", "new/deep/made.sh", "run.sh"}}, &got)
	if want := []string{"edit.txt", "gone.txt", "from.txt", "sub/to.txt", "new/deep/made.sh", "run.sh"}; !slices.Equal(got.ChangedFiles, want) || got.RejectedHunksArtifactID != "" {
		t.Errorf("%+v", got)
	}
	after := treeOf(t, r.Root)
	if want := "edit.txt -rw-r--r-- one\nTWO\n|new/deep/made.sh -rwxr-xr-x made\n|run.sh -rwxr-xr-x run\n|sub/to.txt -rw-r----- moved\n|"; after != want {
		t.Errorf("%q\nwant\n%q", after, want)
	}
	if text := artifactText(t, r, got.DiffArtifactID); text != strings.Replace(manyPatch, "similarity index 100%\n", "", 1) {
		t.Errorf("the diff is\n%s", text)
	}
	if len(e.Artifacts) != 1 {
		t.Errorf("artifacts %v", e.Artifacts)
	}
	r.Must("air.undo", object{}, nil)
	if now := treeOf(t, r.Root); now != before {
		t.Errorf("after the undo\n%s\nbefore\n%s", now, before)
	}
	missing(t, filepath.Join(r.Root, "new"))
	clean(t, r.Root)
}

// treeOf describes the files below a folder with their modes.
func treeOf(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".air":
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		name, _ := filepath.Rel(root, path)
		b.WriteString(name + " " + info.Mode().String() + " " + content(t, path) + "|")
		return err
	}))
	return b.String()
}

// A patch goes by what the task has read, as edits do, and what it wrote the task knows.
func TestPatchKnowsTheFile(t *testing.T) {
	r := rig.New(t, rig.Options{})
	path := r.Put("a.txt", "1\n")
	to := func(from, to string) object {
		return object{"patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-" + from + "\n+" + to + "\n"}
	}
	failed(t, r.Call("fs.patch", to("1", "2")), fault.Conflict, "not_read")
	r.Must("fs.read", object{"path": "a.txt"}, nil)
	r.Must("fs.patch", to("1", "2"), nil)
	r.Must("fs.patch", to("2", "3"), nil)
	must(t, os.WriteFile(path, []byte("4\n"), 0o644))
	failed(t, r.Call("fs.patch", to("4", "5")), fault.Conflict, "stale")
	if content(t, path) != "4\n" {
		t.Error("the file was changed")
	}
	for _, text := range []string{
		"diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-4\n",
		"diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n",
		"diff --git a/a.txt b/b.txt\ncopy from a.txt\ncopy to b.txt\n",
		"diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n",
	} {
		failed(t, r.Call("fs.patch", object{"patch": text}), fault.Conflict, "stale")
	}
	if after := treeOf(t, r.Root); after != "a.txt -rw-r--r-- 4\n|" {
		t.Errorf("%q", after)
	}
}

// Rejected hunks leave everything as it was, with a reason and the hunks as an artifact.
func TestPatchRejects(t *testing.T) {
	r := rig.New(t, rig.Options{})
	haveRead(t, r, map[string]string{"a.txt": "one\n", "b.txt": "1\n2\n3\n"})
	e := r.Call("fs.patch", object{"patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+ONE\n" +
		"--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n 1\n-zwei\n+TWO\n@@ -3 +3 @@\n-drei\n+THREE\n"})
	failed(t, e, fault.Conflict, "rejected_hunks")
	if want := `b.txt: hunk 1, line 8 of the patch, does not apply: line 2 is "2", the patch has "zwei"; nothing was changed`; e.Error.Message != want {
		t.Errorf("%s\nwant\n%s", e.Error.Message, want)
	}
	var got patchOutput
	must(t, json.Unmarshal(e.Output, &got))
	if got.ChangedFiles == nil || len(got.ChangedFiles) != 0 || got.DiffArtifactID != "" {
		t.Errorf("%s", e.Output)
	}
	rejected := artifactText(t, r, got.RejectedHunksArtifactID)
	if strings.Contains(rejected, "a.txt") || !strings.Contains(rejected, "-zwei\n") || !strings.Contains(rejected, "-drei\n") {
		t.Errorf("%s", rejected)
	}
	if after := treeOf(t, r.Root); after != "a.txt -rw-r--r-- one\n|b.txt -rw-r--r-- 1\n2\n3\n|" {
		t.Errorf("%q", after)
	}
}

func TestPatchRefuses(t *testing.T) {
	r := rig.New(t, rig.Options{})
	haveRead(t, r, map[string]string{"a.txt": "one\n", "b.txt": "two\n", "dir/c.txt": "three\n"})
	must(t, os.Symlink("a.txt", filepath.Join(r.Root, "link")))
	before := treeOf(t, r.Root)
	const edit = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+ONE\n"
	for name, c := range map[string]struct {
		input object
		kind  fault.Kind
		code  string
	}{
		"no patch":               {object{"patch": "hello"}, fault.InvalidInput, "no_patch"},
		"binary":                 {object{"patch": "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\n"}, fault.InvalidInput, "binary_patch"},
		"more than expected":     {object{"patch": edit, "expected_paths": []string{}}, fault.InvalidInput, "unexpected_paths"},
		"less than expected":     {object{"patch": edit, "expected_paths": []string{"a.txt", "b.txt"}}, fault.InvalidInput, "unexpected_paths"},
		"other than expected":    {object{"patch": edit, "expected_paths": []string{"b.txt"}}, fault.InvalidInput, "unexpected_paths"},
		"strip":                  {object{"patch": edit, "strip": 2}, fault.InvalidInput, "strip"},
		"a file of that name":    {object{"patch": edit + "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+new\n"}, fault.Conflict, "exists"},
		"rename onto a file":     {object{"patch": edit + "diff --git a/dir/c.txt b/b.txt\nrename from dir/c.txt\nrename to b.txt\n"}, fault.Conflict, "exists"},
		"a folder of that name":  {object{"patch": edit + "--- /dev/null\n+++ b/dir\n@@ -0,0 +1 @@\n+new\n"}, fault.Conflict, "exists"},
		"below a file":           {object{"patch": "--- /dev/null\n+++ b/a.txt/x\n@@ -0,0 +1 @@\n+new\n"}, fault.NotFound, "not_a_directory"},
		"no such file":           {object{"patch": "diff --git a/none b/none\n--- a/none\n+++ b/none\n@@ -1 +1 @@\n-1\n+2\n"}, fault.NotFound, "no_such_file"},
		"more than it takes out": {object{"patch": "--- a/dir/c.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"}, fault.Conflict, "rejected_hunks"},
		"empty, and is not":      {object{"patch": "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\nindex e69de29..0000000\n"}, fault.Conflict, "not_emptied"},
		"two names of a file":    {object{"patch": edit + "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-one\n+eins\n"}, fault.InvalidInput, "duplicate_file"},
		"a link deleted":         {object{"patch": "--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"}, fault.InvalidInput, "file_type"},
	} {
		e := r.Call("fs.patch", c.input)
		if e.Error == nil || e.Error.Kind != c.kind || e.Error.Code != c.code {
			t.Errorf("%s: %+v, want %s/%s", name, e.Error, c.kind, c.code)
		}
		if after := treeOf(t, r.Root); after != before {
			t.Fatalf("%s: changed\n%s\nto\n%s", name, before, after)
		}
	}
	clean(t, r.Root)
}

// A patch on a fresh file, one of diff -u that does not say that the file is new, and one
// that empties a file.
func TestPatchPlain(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Must("fs.patch", object{"patch": "--- x/new.txt\n+++ x/new.txt\n@@ -0,0 +1,2 @@\n+a\r\n+b\n\\ No newline at end of file", "strip": 0}, nil)
	if got := content(t, filepath.Join(r.Root, "x/new.txt")); got != "a\r\nb" {
		t.Errorf("%q", got)
	}
	r.Must("fs.patch", object{"patch": "--- a/x/new.txt\n+++ b/x/new.txt\n@@ -1,2 +0,0 @@\n-a\r\n-b\n\\ No newline at end of file\n"}, nil)
	if got := content(t, filepath.Join(r.Root, "x/new.txt")); got != "" {
		t.Errorf("%q", got)
	}
	clean(t, r.Root)
}

// A patch is allowed in the project without a question, and asks where a write asks.
func TestPatchAsks(t *testing.T) {
	r := rig.New(t, rig.Options{})
	haveRead(t, r, map[string]string{".vscode/tasks.json": "{}\n"})
	patch := "--- a/.vscode/tasks.json\n+++ b/.vscode/tasks.json\n@@ -1 +1 @@\n-{}\n+[]\n"
	refused(t, r.Call("fs.patch", object{"patch": patch}))
	denied := rig.New(t, rig.Options{Rules: "schema_version: 1\nrules:\n  - deny: delete(docs/**)\n"})
	haveRead(t, denied, map[string]string{"docs/a": "a\n"})
	refused(t, denied.Call("fs.patch", object{"patch": "diff --git a/docs/a b/b\nrename from docs/a\nrename to b\n"}))
	if content(t, filepath.Join(denied.Root, "docs/a")) != "a\n" {
		t.Error("it was renamed")
	}
}

// patches is a capability that reads f.txt and passes on the patch that it is given.
func patches(nested *runtime.Envelope) rig.Guest {
	return func(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error) {
		if e := rig.Call(ctx, access, "fs.read", object{"path": "f.txt"}); e.Error != nil {
			return nil, e.Error
		}
		*nested = access.Call(ctx, "fs.patch", input)
		return object{}, nil
	}
}

// A capability patches what it may read and write, and has read in its call.
func TestPatchFromGuest(t *testing.T) {
	var nested runtime.Envelope
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": patches(&nested)}})
	haveRead(t, r, map[string]string{"f.txt": "f\n", "g.txt": "g\n"})
	r.Must("a.run", object{"patch": "--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-f\n+F\n"}, nil)
	if nested.Error != nil || content(t, filepath.Join(r.Root, "f.txt")) != "F\n" {
		t.Errorf("%+v", nested.Error)
	}
	r.Must("a.run", object{"patch": "--- a/g.txt\n+++ b/g.txt\n@@ -1 +1 @@\n-g\n+G\n"}, nil)
	failed(t, nested, fault.Conflict, "not_read")
}

// F17: a patch whose header names ../x, an absolute path or a rename out, from a person's
// agent and from a guest.
func TestF17(t *testing.T) {
	const hunk = "@@ -0,0 +1 @@\n+x\n"
	for name, text := range map[string]func(r *rig.Rig) string{
		"up":            func(*rig.Rig) string { return "--- /dev/null\n+++ b/../x\n" + hunk },
		"up without a/": func(*rig.Rig) string { return "--- /dev/null\n+++ ../x\n" + hunk },
		"up in between": func(*rig.Rig) string { return "--- /dev/null\n+++ b/sub/../../x\n" + hunk },
		"up, in octal":  func(*rig.Rig) string { return "--- /dev/null\n+++ \"b/\\056\\056/x\"\n" + hunk },
		"absolute":      func(r *rig.Rig) string { return "--- /dev/null\n+++ " + r.Outside + "/x\n" + hunk },
		"absolute, b/":  func(r *rig.Rig) string { return "--- /dev/null\n+++ b/" + r.Outside + "/x\n" + hunk },
		"old name":      func(*rig.Rig) string { return "--- a/../x\n+++ b/f.txt\n@@ -1 +1 @@\n-f\n+g\n" },
		"rename out":    func(*rig.Rig) string { return "diff --git a/f.txt b/../x\nrename from f.txt\nrename to ../x\n" },
		"rename absolute": func(r *rig.Rig) string {
			return "diff --git a/f.txt b/x\nrename from f.txt\nrename to " + r.Outside + "/x\n"
		},
		"copy in": func(*rig.Rig) string { return "diff --git a/x b/x\ncopy from ../outside/secret\ncopy to x\n" },
		"delete": func(*rig.Rig) string {
			return "diff --git a/../outside/secret b/../outside/secret\ndeleted file mode 100644\n"
		},
		"mode": func(*rig.Rig) string {
			return "diff --git a/../outside/secret b/../outside/secret\nold mode 100644\nnew mode 100755\n"
		},
		"through a link":   func(*rig.Rig) string { return "--- /dev/null\n+++ b/out/x\n" + hunk },
		"to a hook":        func(*rig.Rig) string { return "--- /dev/null\n+++ b/.git/hooks/pre-commit\n" + hunk },
		"renamed to .env":  func(*rig.Rig) string { return "diff --git a/f.txt b/.env\nrename from f.txt\nrename to .env\n" },
		"copy of .env":     func(*rig.Rig) string { return "diff --git a/.env b/x\ncopy from .env\ncopy to x\n" },
		"rename of .git/x": func(*rig.Rig) string { return "diff --git a/.git/config b/x\nrename from .git/config\nrename to x\n" },
	} {
		t.Run(name, func(t *testing.T) {
			var nested runtime.Envelope
			r := rig.New(t, rig.Options{Provider: rig.Guests{"a": patches(&nested)}})
			haveRead(t, r, map[string]string{"f.txt": "f\n"})
			r.Put(filepath.Join(r.Outside, "secret"), secret)
			r.Put(".env", secret)
			r.Put(".git/config", secret)
			must(t, os.Symlink(r.Outside, filepath.Join(r.Root, "out")))
			refused(t, r.Call("fs.patch", object{"patch": text(r)}))
			r.Call("a.run", object{"patch": text(r)})
			refused(t, nested)
			for _, path := range []string{r.Outside + "/x", filepath.Dir(r.Root) + "/x", r.Root + "/x", r.Root + "/.git/hooks"} {
				missing(t, path)
			}
			if content(t, filepath.Join(r.Root, "f.txt")) != "f\n" || content(t, filepath.Join(r.Outside, "secret")) != secret {
				t.Error("a file was changed")
			}
		})
	}
}
