package fs_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

type writeOutput struct {
	Path             string
	BytesWritten     int `json:"bytes_written"`
	SHA256           string
	BackupArtifactID string `json:"backup_artifact_id"`
}

const (
	sumABC   = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // sha256 of "abc", FIPS 180-2
	sumEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

func TestWriteCreates(t *testing.T) {
	r := rig.New(t, rig.Options{})
	var got writeOutput
	e := r.Must("fs.write", object{"path": "sub/deep/a.txt", "content": "abc", "create_parent_dirs": true}, &got)
	if want := (writeOutput{"sub/deep/a.txt", 3, sumABC, ""}); got != want || len(e.Artifacts) != 0 {
		t.Errorf("%+v, artifacts %v", got, e.Artifacts)
	}
	if content(t, filepath.Join(r.Root, "sub/deep/a.txt")) != "abc" {
		t.Error("wrong content")
	}
	r.Must("fs.write", object{"path": "empty", "content": ""}, &got)
	if got.SHA256 != sumEmpty {
		t.Errorf("%+v", got)
	}
	clean(t, r.Root)
}

func TestWriteOverwrites(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	path := r.Put("run.sh", "abc")
	must(t, os.Chmod(path, 0o4751|os.ModeSetuid))
	var got writeOutput
	e := r.Must("fs.write", object{"path": "run.sh", "content": "", "expected_existing_sha256": sumABC}, &got)
	if got.BackupArtifactID == "" || len(e.Artifacts) != 1 || e.Artifacts[0] != got.BackupArtifactID {
		t.Errorf("%+v, artifacts %v", got, e.Artifacts)
	}
	record, err := r.Session.Artifacts.Get(r.Context(), got.BackupArtifactID)
	must(t, err)
	if record.Type != "backup" || record.SHA256 != sumABC || record.Capability != "" || record.EntityID != "run.sh" || record.RunID != e.RunID {
		t.Errorf("%+v", record)
	}
	if content(t, record.Path) != "abc" || content(t, path) != "" {
		t.Error("wrong content")
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode() != 0o751 { // less the set-id bit
		t.Errorf("mode %v", info.Mode())
	}
	clean(t, r.Root)
}

func TestWriteThroughLinkInside(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	r.Put("sub/a.txt", "abc")
	link := filepath.Join(r.Root, "link")
	must(t, os.Symlink("sub/a.txt", link))
	var got writeOutput
	r.Must("fs.write", object{"path": "link", "content": "new"}, &got)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if got.Path != "sub/a.txt" || content(t, filepath.Join(r.Root, "sub/a.txt")) != "new" {
		t.Errorf("%+v", got)
	}
}

func TestWriteRefuses(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	r.Put("a.txt", "abc")
	must(t, os.Mkdir(filepath.Join(r.Root, "sub"), 0o755))
	before := r.Types("")
	for _, c := range []struct {
		input object
		kind  fault.Kind
		code  string
	}{
		{object{"path": "none/a.txt", "content": ""}, fault.NotFound, "no_parent"},
		{object{"path": "a.txt/b", "content": ""}, fault.NotFound, "not_a_directory"},
		{object{"path": "a.txt/b/c", "content": "", "create_parent_dirs": true}, fault.NotFound, "not_a_directory"},
		{object{"path": "sub", "content": ""}, fault.InvalidInput, "is_a_directory"},
		{object{"path": "sub/new/", "content": ""}, fault.InvalidInput, "is_a_directory"},
		{object{"path": ".", "content": ""}, fault.PermissionDenied, ""},
		{object{"path": "a.txt", "content": "", "expected_existing_sha256": sumEmpty}, fault.Conflict, "stale"},
		{object{"path": "new.txt", "content": "", "expected_existing_sha256": sumABC}, fault.Conflict, "stale"},
		{object{"path": "d1/d2/new.txt", "content": "", "create_parent_dirs": true, "expected_existing_sha256": sumABC}, fault.Conflict, "stale"},
		{object{"path": "a.txt", "content": "", "expected_existing_sha256": "abc"}, fault.InvalidInput, "schema"},
		{object{"path": "a.txt"}, fault.InvalidInput, "schema"},
	} {
		e := r.Call("fs.write", c.input)
		if e.OK || e.Error.Kind != c.kind || c.code != "" && e.Error.Code != c.code {
			t.Errorf("%v: %+v", c.input, e.Error)
		}
		if text, _ := json.Marshal(e); c.code == "stale" && strings.Contains(string(text), sumABC) { // who may write may not read
			t.Errorf("%v: the answer tells the digest of what is there: %s", c.input, text)
		}
	}
	if content(t, filepath.Join(r.Root, "a.txt")) != "abc" {
		t.Error("a.txt was changed")
	}
	for _, path := range []string{"new.txt", "d1", "none"} {
		missing(t, filepath.Join(r.Root, path))
	}
	for _, kind := range r.Types("")[len(before):] {
		if kind == "artifact.created" {
			t.Error("a refused write made a backup")
		}
	}
	clean(t, r.Root)
}

// A file too large for a backup stays, and the refusal speaks of the file.
func TestBackupTooLarge(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	path := r.Put("large", "")
	must(t, os.Truncate(path, 256<<20+1))
	e := r.Call("fs.write", object{"path": "large", "content": "new"})
	failed(t, e, fault.ResourceExhausted, "artifact_size")
	if !strings.HasPrefix(e.Error.Message, "backing up large: ") || !strings.Contains(e.Error.Hint, "not replaced") {
		t.Errorf("%s\nhint: %s", e.Error.Message, e.Error.Hint)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 256<<20+1 {
		t.Errorf("%v %v", info, err)
	}
	clean(t, r.Root)
}

// Without a person, replacing a file is refused and creating one is not.
func TestWriteWithoutPerson(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Put("a.txt", "abc")
	e := r.Call("fs.write", object{"path": "a.txt", "content": ""})
	if e.OK || e.Error.Kind != fault.ApprovalRequired || e.Error.Hint == "" {
		t.Errorf("%+v", e.Error)
	}
	r.Must("fs.write", object{"path": "b.txt", "content": ""}, nil)
	allowed := rig.New(t, rig.Options{Rules: "schema_version: 1\nrules:\n  - allow: overwrite(docs/**)\n"})
	allowed.Put("docs/a.md", "abc")
	allowed.Must("fs.write", object{"path": "docs/a.md", "content": "new"}, nil)
}

// Another's change in the last moment is kept, whatever times the file has.
func TestWriteLosesNoWrite(t *testing.T) {
	var path string
	r := rig.New(t, rig.Options{Approver: rig.Yes, Backups: meddler(1, func() error {
		info, err := os.Stat(path)
		return errors.Join(err, os.WriteFile(path, []byte("MINE"), 0o600), os.Chtimes(path, info.ModTime(), info.ModTime()))
	})})
	path = r.Put("f", "aaaa")
	failed(t, r.Call("fs.write", object{"path": "f", "content": "bbbb"}), fault.Conflict, "stale")
	if got := content(t, path); got != "MINE" {
		t.Errorf("%q", got)
	}
	clean(t, r.Root)
}

// Of writers at once one wins; the others learn that the file changed, and nothing is
// lost without a backup.
func TestWritersAtOnce(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	path := r.Put("f", "0")
	var wait sync.WaitGroup
	var won atomic.Int32
	for i := range 8 {
		wait.Go(func() {
			text := strings.Repeat(strconv.Itoa(i), 1000)
			e := r.Call("fs.write", object{"path": "f", "content": text})
			if e.OK {
				won.Add(1)
			} else if e.Error.Code != "stale" && e.Error.Code != "not_decided" {
				t.Errorf("%+v", e.Error)
			}
		})
	}
	wait.Wait()
	text := content(t, path)
	if won.Load() == 0 || len(text) != 1000 || strings.Count(text, text[:1]) != 1000 {
		t.Errorf("%d won, %d bytes", won.Load(), len(text))
	}
	clean(t, r.Root)
}

// Of two that create the same file one gets a conflict.
func TestCreateAtOnce(t *testing.T) {
	r := rig.New(t, rig.Options{})
	var wait sync.WaitGroup
	var won atomic.Int32
	for i := range 8 {
		wait.Go(func() {
			if e := r.Call("fs.write", object{"path": "d/f", "content": strconv.Itoa(i), "create_parent_dirs": true}); e.OK {
				won.Add(1)
			}
		})
	}
	wait.Wait()
	if won.Load() != 1 || len(content(t, filepath.Join(r.Root, "d", "f"))) != 1 {
		t.Errorf("%d created the file", won.Load())
	}
	clean(t, r.Root)
}

func TestWriteKeepsOwnerAndAttributes(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	path := r.Put("f", "old")
	if os.Geteuid() == 0 {
		must(t, os.Chown(path, 12345, 23456))
	}
	attributes := setAttribute(path)
	r.Must("fs.write", object{"path": "f", "content": "new"}, nil)
	info, err := os.Stat(path)
	must(t, err)
	if st := info.Sys().(*syscall.Stat_t); os.Geteuid() == 0 && (st.Uid != 12345 || st.Gid != 23456) {
		t.Errorf("owner %d:%d", st.Uid, st.Gid)
	}
	if attributes && !hasAttribute(path) {
		t.Error("the attribute is lost")
	}
}
