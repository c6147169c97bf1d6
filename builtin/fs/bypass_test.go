package fs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

func TestF1DotDotAndAbsolute(t *testing.T) {
	r := rig.New(t, rig.Options{})
	outside := r.Put(filepath.Join(r.Outside, "secret.txt"), secret)
	r.Put("sub/x", "")
	for _, path := range []string{"../outside/secret.txt", "sub/../../outside/secret.txt", "./sub/.././../outside/secret.txt", outside} {
		attempts(t, r, path)
	}
	refused(t, r.Call("fs.list", object{"path": ".."}))
	refused(t, r.Call("fs.list", object{"path": r.Outside, "recursive": true}))
	if content(t, outside) != secret {
		t.Error("the file was changed")
	}
}

func TestF2SymlinkedFolder(t *testing.T) {
	r := rig.New(t, rig.Options{})
	outside := r.Put(filepath.Join(r.Outside, "secret.txt"), secret)
	must(t, os.Symlink(r.Outside, filepath.Join(r.Root, "link")))
	must(t, os.Symlink("../outside", filepath.Join(r.Root, "relative")))
	attempts(t, r, "link/secret.txt")
	attempts(t, r, "relative/secret.txt")
	refused(t, r.Call("fs.list", object{"path": "link"}))
	refused(t, r.Call("fs.write", object{"path": "link/new.txt", "content": "x"}))
	missing(t, filepath.Join(r.Outside, "new.txt"))
	if content(t, outside) != secret {
		t.Error("the file was changed")
	}
	e := r.Must("fs.list", object{"path": ".", "recursive": true}, nil)
	if strings.Contains(string(e.Output), "secret.txt") {
		t.Errorf("a recursive list follows a link: %s", e.Output)
	}
}

func TestF3DanglingLink(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	must(t, os.Symlink(filepath.Join(r.Outside, "new.txt"), filepath.Join(r.Root, "dangling")))
	must(t, os.Symlink("nowhere", filepath.Join(r.Root, "inside")))
	writeAttempt(t, r, "dangling")
	writeAttempt(t, r, "inside")
	missing(t, filepath.Join(r.Outside, "new.txt"))
	missing(t, filepath.Join(r.Root, "nowhere"))
}

func TestF4MissingParentBelowLink(t *testing.T) {
	r := rig.New(t, rig.Options{})
	must(t, os.Symlink(r.Outside, filepath.Join(r.Root, "link")))
	writeAttempt(t, r, "link/a/b/c.txt")
	missing(t, filepath.Join(r.Outside, "a"))
}

func TestF6HardLink(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	for i, protected := range []string{
		r.Put(".env", secret),
		r.Put("sub/.git/config", secret),
		r.Put(filepath.Join(filepath.Dir(r.Home.Dir), ".ssh", "id_ed25519"), secret),
		r.Put(r.Home.Path("keys", "events.key"), secret),
	} {
		name := fmt.Sprintf("harmless%d.txt", i)
		must(t, os.Link(protected, filepath.Join(r.Root, name)))
		failed(t, r.Call("fs.read", object{"path": name}), fault.PermissionDenied, "protected_path")
		failed(t, r.Call("fs.write", object{"path": name, "content": "x"}), fault.PermissionDenied, "protected_path")
		failed(t, r.Call("artifact.create", object{"type": "report", "source_path": name}), fault.PermissionDenied, "protected_path")
		if content(t, protected) != secret {
			t.Errorf("%s was changed", protected)
		}
	}
}

// Writing to one name of a file leaves its other names alone.
func TestF6OverwriteReplacesTheName(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	other := r.Put(filepath.Join(r.Outside, "other.txt"), "old")
	must(t, os.Link(other, filepath.Join(r.Root, "name.txt")))
	r.Must("fs.write", object{"path": "name.txt", "content": "new"}, nil)
	if content(t, other) != "old" || content(t, filepath.Join(r.Root, "name.txt")) != "new" {
		t.Error("the write went through the hard link")
	}
}

func TestF7Proc(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	file, err := os.Open(r.Put(".env", secret))
	must(t, err)
	defer file.Close()
	for _, path := range []string{
		"/proc/self/root/etc/shadow", "/proc/self/environ", "/proc/self/mem", "/proc/self/cwd/x",
		fmt.Sprintf("/proc/self/fd/%d", file.Fd()), fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd()),
		fmt.Sprintf("/dev/fd/%d", file.Fd()), "/proc/thread-self/root" + r.Root + "/.env",
	} {
		attempts(t, r, path)
	}
}

func TestF8PipeAndDevice(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	must(t, syscall.Mkfifo(filepath.Join(r.Root, "pipe"), 0o644))
	must(t, os.Symlink("/dev/zero", filepath.Join(r.Root, "zero")))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, path := range []string{"pipe", "/dev/zero", "zero", "/dev/tty"} {
			refused(t, r.Call("fs.read", object{"path": path}))
			refused(t, r.Call("fs.write", object{"path": path, "content": "x"}))
			refused(t, r.Call("artifact.create", object{"type": "report", "source_path": path}))
		}
		r.Must("fs.list", object{"path": "."}, nil)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it hangs")
	}
}

func TestF9CaseAndUnicode(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	r.Put(".ENV", secret)
	r.Put(".Git/config", secret)
	r.Put(".e\u200dnv", secret)
	r.Put("sub/.Env.Local", secret)
	for _, path := range []string{".ENV", ".Git/config", ".e\u200dnv", "sub/.Env.Local", ".GIT/hooks/pre-commit", ".env\u200b"} {
		attempts(t, r, path)
	}
}

// A folder with a protected name is protected with all in it.
func TestProtectedFolders(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	r.Put(".env/prod", secret)
	r.Put("deploy/.env.d/a/b", secret)
	for _, path := range []string{".env/prod", "deploy/.env.d/a/b", ".ENV/new", "x.pem/new"} {
		attempts(t, r, path)
	}
	refused(t, r.Call("fs.list", object{"path": ".env"}))
	e := r.Must("fs.list", object{"path": ".", "recursive": true, "include_hidden": true}, nil)
	if strings.Contains(string(e.Output), "prod") {
		t.Errorf("a list shows what is in a protected folder: %s", e.Output)
	}
}

// A name in decomposed form is decided by the rule that names it composed.
func TestF9Decomposed(t *testing.T) {
	r := rig.New(t, rig.Options{Rules: "schema_version: 1\nrules:\n  - deny: read(gr\u00fcn.txt)\n"})
	r.Put("gru\u0308n.txt", secret)
	refused(t, r.Call("fs.read", object{"path": "gru\u0308n.txt"}))
}

func TestF10OddPaths(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	r.Put(".env", secret)
	r.Put(".git/config", secret)
	for _, path := range []string{".//.env", ".env/.", "./.env/", ".git//config", ".git/./config", "/" + r.Root + "/.env", r.Root + "//.env"} {
		attempts(t, r, path)
	}
	for _, tool := range []string{"fs.read", "fs.stat", "fs.list"} {
		failed(t, r.Call(tool, object{"path": ".env\x00.txt"}), fault.InvalidInput, "bad_path")
	}
	failed(t, r.Call("fs.write", object{"path": "a\x00b", "content": ""}), fault.InvalidInput, "bad_path")
}

// Nobody, not even a person who says yes to all, lets a tool write what decides.
func TestF13PolicyFiles(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	before := content(t, r.Project.Shared("project.json"))
	for _, path := range []string{
		".air/shared/permissions.yaml", ".air/shared/project.json", ".AIR/shared/capabilities.yaml",
		".air/shared/capability-lock.json", ".air/shared/profile.lock.json", ".air/local/x", ".air",
		r.Home.Path("permissions.yaml"), r.Home.Path("config.yaml"), r.Home.Path("grants", "x.json"), r.Home.Path("keys", "events.key"),
		filepath.Join(r.Project.Dir, "state", "accepted.json"), filepath.Join(r.Session.Dir, "session.db"),
	} {
		writeAttempt(t, r, path)
	}
	if content(t, r.Project.Shared("project.json")) != before {
		t.Error("project.json was changed")
	}
	missing(t, r.Project.Shared("permissions.yaml"))
	missing(t, filepath.Join(r.Root, ".air", "local"))
}

func TestF14GitFiles(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Put(".git/config", secret)
	r.Put("module/.git/config", secret)
	for _, path := range []string{".git/hooks/pre-commit", ".git/config", ".git/info/attributes", "module/.git/config", ".git"} {
		writeAttempt(t, r, path)
	}
	writeAttempt(t, r, ".gitattributes")
	writeAttempt(t, r, "sub/.gitattributes")
	missing(t, filepath.Join(r.Root, ".git", "hooks"))
	missing(t, filepath.Join(r.Root, ".gitattributes"))
}

func TestF20ObeyedFiles(t *testing.T) {
	r := rig.New(t, rig.Options{})
	for _, path := range []string{".claude/settings.json", ".mcp.json", ".vscode/tasks.json", ".envrc", ".github/workflows/ci.yml", ".husky/pre-commit", "sub/.idea/x.xml"} {
		writeAttempt(t, r, path)
		missing(t, filepath.Join(r.Root, path))
	}
}
