package fs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

// secret is what no refused call may show.
const secret = "SECRET-7f3a"

type object = map[string]any

// refused fails the test unless the call ended in a denial or an open question, with a
// reason, and showed nothing.
func refused(t *testing.T, e runtime.Envelope) {
	t.Helper()
	if e.OK || e.Error == nil {
		t.Fatalf("%s is allowed: %s", e.Tool, e.Output)
	}
	switch e.Error.Kind {
	case fault.PermissionDenied, fault.ApprovalRequired:
	default:
		t.Errorf("%s ends with %s/%s: %v", e.Tool, e.Error.Kind, e.Error.Code, e.Error)
	}
	if e.Error.Message == "" || e.Error.Code == "" {
		t.Errorf("no reason: %+v", e.Error)
	}
	if text, _ := json.Marshal(e); strings.Contains(string(text), secret) {
		t.Errorf("the refusal shows the secret: %s", text)
	}
}

// failed fails the test unless the call ended with the kind and code.
func failed(t *testing.T, e runtime.Envelope, kind fault.Kind, code string) {
	t.Helper()
	if e.Error == nil {
		t.Fatalf("%s is allowed: %s", e.Tool, e.Output)
	}
	if e.Error.Kind != kind || e.Error.Code != code {
		t.Errorf("%s ends with %s/%s, want %s/%s: %v", e.Tool, e.Error.Kind, e.Error.Code, kind, code, e.Error)
	}
}

// attempts tries to list, read, describe and write a path.
func attempts(t *testing.T, r *rig.Rig, path string) {
	t.Helper()
	refused(t, r.Call("fs.read", object{"path": path}))
	refused(t, r.Call("fs.read", object{"path": path, "encoding": "base64"}))
	refused(t, r.Call("fs.stat", object{"path": path}))
	writeAttempt(t, r, path)
}

func writeAttempt(t *testing.T, r *rig.Rig, path string) {
	t.Helper()
	refused(t, r.Call("fs.write", object{"path": path, "content": "x"}))
	refused(t, r.Call("fs.write", object{"path": path, "content": "x", "create_parent_dirs": true}))
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// missing fails the test if there is something at the path.
func missing(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); err == nil {
		t.Errorf("%s exists", path)
	}
}

// clean fails the test if a temporary file was left below the folder.
func clean(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".air-tmp-") {
			t.Errorf("%s was left behind", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
