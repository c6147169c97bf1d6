package permission

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// PathsConfig names the places that classes are made of. An empty field names nothing.
type PathsConfig struct {
	ProjectRoot      string
	Home             string // the person's
	AirHome          string
	AirBinary        string
	SessionArtifacts string // this session's, readable
	Worktrees        string // of this project, in air's own folder
	// Path is the PATH variable: what lies in its folders is executed by others.
	Path string
}

// Paths makes paths canonical and says where they lie.
type Paths struct {
	root      string
	home      string
	air       string
	binary    string
	artifacts string
	worktrees string

	// Folded, because these places must be recognised however they are spelled.
	airHome, airBinary, foldedHome string
	onPath                         []string
	temporary                      []string
}

// NewPaths returns the Paths of one project and session.
func NewPaths(c PathsConfig) *Paths {
	p := &Paths{
		root:      settle(c.ProjectRoot),
		home:      settle(c.Home),
		air:       settle(c.AirHome),
		binary:    settle(c.AirBinary),
		artifacts: settle(c.SessionArtifacts),
		temporary: []string{"/tmp", "/var/tmp", fold(settle(os.TempDir()))},
	}
	p.airHome, p.airBinary, p.foldedHome = fold(p.air), fold(p.binary), fold(p.home)
	if p.root != "" {
		p.worktrees = settle(c.Worktrees)
	}
	for _, dir := range filepath.SplitList(c.Path) {
		if dir = settle(dir); dir != "" && dir != "/" {
			p.onPath = append(p.onPath, fold(dir))
		}
	}
	return p
}

// settle makes a configured path canonical as far as it exists; a relative one is none.
func settle(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	if w, err := walk(path, true); err == nil {
		return w.path
	}
	return filepath.Clean(path)
}

// Resolve makes the path of an effect canonical and fills in its class. A write
// becomes create or overwrite, by what exists. Effects without a path pass unchanged.
// A path that cannot be made canonical with certainty is refused; the effect returned
// with that error names how far the path led.
func (p *Paths) Resolve(e Effect) (Effect, error) {
	if !e.Kind.IsPath() {
		return e, nil
	}
	absolute, err := p.absolute(e.Target)
	if err != nil {
		return e, err
	}
	w, err := walk(absolute, e.Kind != Delete) // deleting a link does not touch what it points to
	if w.dangling && e.Kind != Read && e.Kind != Delete {
		err = refuse(CodeDanglingLink, "%s(%.200q): the path leads through a symbolic link to %.200q, which does not exist", e.Kind, e.Target, w.path)
	}
	return p.place(e, w), err
}

// place fills in where the walk along the path of an effect ended.
func (p *Paths) place(e Effect, w walked) Effect {
	if e.Kind != Read && e.Kind != Delete {
		e.Kind = Overwrite
		if w.info == nil {
			e.Kind = Create
		}
	}
	if e.Named == "" {
		e.Named = e.Target
	}
	e.Target, e.Class = w.path, p.classify(e.place(w.path), e.Kind, w.mode())
	p.lead(&e, w.links)
	return e
}

// ByName makes the path of an effect absolute and clean, and fills in its class, by its
// name alone: it does not look at the file system.
func (p *Paths) ByName(e Effect) (Effect, error) {
	if !e.Kind.IsPath() {
		return e, nil
	}
	absolute, err := p.absolute(e.Target)
	if err != nil {
		return e, err
	}
	e.Named, e.Target = e.Target, filepath.Clean(absolute)
	e.Class = p.classByName(e.place(e.Target), e.Kind)
	return e, nil
}

// place is the path whose class an effect on a canonical path has: that of an entry for an
// effect that leaves the folder itself alone.
func (e *Effect) place(canonical string) string {
	if e.Below {
		return filepath.Join(canonical, "*")
	}
	return canonical
}

// absolute checks a path as it comes from outside. It does not clean it: what ".."
// means depends on the links before it.
func (p *Paths) absolute(path string) (string, error) {
	switch {
	case path == "":
		return "", badPath("the path is empty")
	case strings.ContainsRune(path, 0):
		return "", badPath("the path %.80q contains a NUL", path)
	case len(path) > maxPath:
		return "", badPath("the path has %d bytes, the limit is %d", len(path), maxPath)
	case path == "~" || strings.HasPrefix(path, "~/"):
		return "", badPath("the path %.80q begins with ~, which is not expanded", path).WithHint("write the absolute path, or ./~ for a file of that name")
	case filepath.IsAbs(path):
		return path, nil
	case p.root == "":
		return "", badPath("the path %.80q is relative, and there is no project that it could be relative to", path).WithHint("write an absolute path, or run air init first")
	}
	return p.root + "/" + path, nil
}

const maxPath = 4096 // PATH_MAX

// Show returns a canonical path as people see it: relative inside the project,
// absolute outside.
func (p *Paths) Show(canonical string) string {
	if rel, ok := below(canonical, p.root); ok {
		if rel == "" {
			return "."
		}
		return rel
	}
	return canonical
}

// Root is the project's canonical root, "" without a project.
func (p *Paths) Root() string { return p.root }

// Worktrees is the canonical folder of the project's worktrees, "" without a project.
func (p *Paths) Worktrees() string { return p.worktrees }

// InProject reports whether a canonical path lies in the project or a worktree of it.
func (p *Paths) InProject(canonical string) bool {
	_, ok := p.projectPath(canonical, fold(canonical))
	return ok
}

// projectPath is the path relative to the project, or to the worktree that it is in.
// at is the folded path.
func (p *Paths) projectPath(canonical, at string) (rel string, ok bool) {
	if rel, ok := below(canonical, p.worktrees); ok {
		worktree, rel, _ := strings.Cut(rel, "/")
		return rel, worktree != ""
	}
	if within(at, p.airHome) {
		return "", false
	}
	return below(canonical, p.root)
}

// within reports whether path is dir or lies below it. Nothing lies in "".
func within(path, dir string) bool {
	_, ok := below(path, dir)
	return ok
}

// below returns path relative to dir, "" for dir itself.
func below(path, dir string) (rel string, ok bool) {
	switch {
	case dir == "" || !strings.HasPrefix(path, dir):
		return "", false
	case len(path) == len(dir):
		return "", true
	case dir == "/":
		return path[1:], true
	case path[len(dir)] == '/':
		return path[len(dir)+1:], true
	}
	return "", false
}

func badPath(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, CodeBadPath, format, args...)
}

func refuse(code, format string, args ...any) *fault.Error {
	return fault.New(fault.PermissionDenied, code, format, args...)
}
