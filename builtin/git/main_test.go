package git_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

type object = map[string]any

type statusOutput struct {
	Branch                                  string
	Clean                                   bool
	Staged, Modified, Untracked, Conflicted []string
}

type diffOutput struct {
	Diff       string
	ArtifactID string `json:"diff_artifact_id"`
	Truncated  bool
}

type workspaceOutput struct {
	ID     string `json:"workspace_id"`
	Path   string
	Branch string `json:"branch_name"`
}

type mergeOutput struct {
	Status     string
	Changed    []string `json:"changed_files"`
	DiffID     string   `json:"diff_artifact_id"`
	ConflictID string   `json:"conflict_artifact_id"`
}

// project is a rig whose project is a git repository.
type project struct{ *rig.Rig }

func newProject(t testing.TB, o rig.Options) project {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: apt-get install git")
	}
	p := project{rig.New(t, o)}
	p.Put("../person/.gitconfig", "[user]\n\tname = A Person\n\temail = person@example.com\n")
	p.git("init", "-q", "-b", "main", ".")
	p.git("config", "user.name", "Test")
	p.git("config", "user.email", "test@example.com")
	p.Put(".gitignore", "/.air/\n")
	return p
}

// git runs the real git in the project, outside of any sandbox.
func (p project) git(args ...string) string {
	p.Helper()
	return p.gitIn(p.Root, args...)
}

func (p project) gitIn(dir string, args ...string) string {
	p.Helper()
	out, err := p.tryGit(dir, args...)
	if err != nil {
		p.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func (p project) tryGit(dir string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ALLOW_PROTOCOL=file", "GIT_EDITOR=true")
	out, err := c.CombinedOutput()
	return string(out), err
}

// commit commits everything.
func (p project) commit(dir, message string) string {
	p.Helper()
	p.gitIn(dir, "add", "-A")
	p.gitIn(dir, "commit", "-q", "-m", message)
	return strings.TrimSpace(p.gitIn(dir, "rev-parse", "HEAD"))
}

func (p project) status(cwd string) statusOutput {
	p.Helper()
	var out statusOutput
	p.Must("git.status", object{"cwd": cwd}, &out)
	return out
}

func (p project) diff(input object) diffOutput {
	p.Helper()
	if input["cwd"] == nil {
		input["cwd"] = "."
	}
	var out diffOutput
	p.Must("git.diff", input, &out)
	return out
}

func (p project) workspace(name string) workspaceOutput {
	p.Helper()
	var out workspaceOutput
	p.Must("git.worktree.create", object{"cwd": ".", "path": name, "branch_name": "work/" + name}, &out)
	return out
}

func (p project) merge(w workspaceOutput, strategy string) (mergeOutput, runtime.Envelope) {
	p.Helper()
	e := p.Call("git.merge_workspace", object{"workspace_id": w.ID, "strategy": strategy})
	var out mergeOutput
	if len(e.Output) > 0 {
		if err := json.Unmarshal(e.Output, &out); err != nil {
			p.Fatal(err)
		}
	}
	return out, e
}

// fails checks that a call fails with this kind and code.
func (p project) fails(e runtime.Envelope, kind fault.Kind, code string) {
	p.Helper()
	if e.Error == nil || e.Error.Kind != kind || e.Error.Code != code {
		p.Fatalf("got %+v %s, want %s %s", e.Error, e.Output, kind, code)
	}
}

func (p project) read(path string) string {
	p.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Root, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		p.Fatal(err)
	}
	return string(text)
}

// artifact is the content of an artifact.
func (p project) artifact(id string) string {
	p.Helper()
	record, err := p.Session.Artifacts.Get(p.Context(), id)
	if err != nil {
		p.Fatal(err)
	}
	content, err := p.Session.Artifacts.Open(record)
	if err != nil {
		p.Fatal(err)
	}
	defer content.Close()
	text := make([]byte, record.Size)
	if _, err := content.ReadAt(text, 0); err != nil {
		p.Fatal(err)
	}
	return string(text)
}
