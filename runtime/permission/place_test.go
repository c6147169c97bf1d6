package permission

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
)

// place is a project beside a home and other folders, in a temporary folder.
type place struct {
	*testing.T
	root, home, air, outside, artifacts string
	paths                               *Paths
}

func newPlace(t *testing.T) *place {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{T: t, root: top + "/work/project", home: top + "/person", air: top + "/person/.air", outside: top + "/outside"}
	p.artifacts = p.air + "/projects/p1/sessions/s1/artifacts"
	for _, dir := range []string{p.root + "/.air/shared", p.home, p.outside, p.artifacts} {
		p.mkdir(dir)
	}
	p.paths = NewPaths(PathsConfig{
		ProjectRoot: p.root, Home: p.home, AirHome: p.air, AirBinary: p.home + "/tools/air",
		SessionArtifacts: p.artifacts, Worktrees: p.air + "/projects/p1/workspaces", Path: p.home + "/tools:" + p.outside + "/bin::relative",
	})
	return p
}

func (p *place) mkdir(dir string) {
	p.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.Fatal(err)
	}
}

// put writes a file; a relative path is in the project.
func (p *place) put(path, content string) string {
	p.Helper()
	path = p.abs(path)
	p.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.Fatal(err)
	}
	return path
}

func (p *place) link(target, path string) {
	p.Helper()
	p.mkdir(filepath.Dir(p.abs(path)))
	if err := os.Symlink(target, p.abs(path)); err != nil {
		p.Fatal(err)
	}
}

func (p *place) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.root, path)
}

func (p *place) resolve(kind Kind, path string) Effect {
	p.Helper()
	e, err := p.paths.Resolve(Effect{Kind: kind, Target: path})
	if err != nil {
		p.Fatalf("Resolve(%s(%s)): %v", kind, path, err)
	}
	return e
}

// refused checks that a path is refused with the code, before anything is decided.
func (p *place) refused(kind Kind, path, code string) {
	p.Helper()
	e, err := p.paths.Resolve(Effect{Kind: kind, Target: path})
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code {
		p.Errorf("Resolve(%s(%.100q)) = %v, %v; want a refusal with code %s", kind, path, e, err, code)
	}
}

// engine loads an engine with rules of the user tier.
func (p *place) engine(userRules string, more ...func(*Options)) *Engine {
	p.Helper()
	o := Options{Paths: p.paths, GrantsFile: p.air + "/grants/p1.json", UserFile: p.air + "/permissions.yaml", Clock: func() time.Time { return testNow }}
	if userRules != "" {
		p.put(o.UserFile, userRules)
	}
	for _, change := range more {
		change(&o)
	}
	e, err := Load(o)
	if err != nil {
		p.Fatal(err)
	}
	return e
}

var testNow = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// builtIn are the built-in tools that tests call through.
var builtIn = map[string]Permissions{
	"fs.read": {Read: true}, "fs.write": {Write: true}, "shell.run": {Execute: true}, "network.fetch": {Network: true}, "event.emit": {}, "artifact.create": {},
}

func request(tool string, chain []Caller, effects ...Effect) Request {
	flags, known := builtIn[tool]
	s := Subject{Tool: tool, BuiltIn: known, Permissions: flags}
	if !known {
		s.Capability = filepath.Base(tool)
	}
	return Request{Subject: s, Chain: chain, Effects: effects, SessionID: "s1"}
}

// decide answers for one effect of a person or, with callers, of capabilities.
func (p *place) decide(e *Engine, kind Kind, path string, chain ...Caller) Decision {
	p.Helper()
	tool := "fs.read"
	if kind != Read {
		tool = "fs.write"
	}
	return e.Decide(request(tool, chain, p.resolve(kind, path)))[0]
}

func (p *place) want(d Decision, v Verdict, code string) {
	p.Helper()
	if d.Verdict != v || d.Code != code {
		p.Errorf("%s: %s, code %q (%s; %s), want %s, code %q", d.Effect, d.Verdict, d.Code, d.Rule, d.Reason, v, code)
	}
	if d.Rule == "" || d.Reason == "" {
		p.Errorf("%s: a decision without rule or reason: %+v", d.Effect, d)
	}
}

const digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
const digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

// reader is a capability that may read the project, enabled by a person.
func reader() Caller {
	return Caller{Capability: "csv", Digest: digestA, Permissions: Permissions{Read: true}, Consented: true}
}
