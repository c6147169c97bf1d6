package home

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/yamldoc"
)

// Project is one folder that AIR works in. Without one Root and ID are empty and Dir
// is where calls outside any project are recorded.
type Project struct {
	Root string // canonical
	ID   string // as project.json says: a name, never a proof
	Dir  string // below ~/.air, named by the hash of Root
}

// Exists reports whether there is a project.
func (p Project) Exists() bool { return p.Root != "" }

// Shared returns a path in the folder that travels with the project.
func (p Project) Shared(elem ...string) string {
	return filepath.Join(append([]string{p.Root, ".air", "shared"}, elem...)...)
}

// Find returns the nearest project at or above start. When the nearest one is a place
// that must not be a project it is an error, and no outer folder takes over.
func (h Home) Find(start string) (Project, error) {
	dir, err := realDir(start)
	if err != nil {
		return Project{}, err
	}
	for {
		found, err := hasShared(dir)
		if err != nil {
			return Project{}, err
		}
		if found {
			return h.open(dir)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return Project{Dir: h.Path("projects", "none")}, nil
		}
		dir = parent
	}
}

func (h Home) open(root string) (Project, error) {
	if err := h.refuse(root); err != nil {
		return Project{}, err
	}
	p := h.project(root)
	file, err := readProjectFile(p.Shared("project.json"))
	p.ID = file.ProjectID
	return p, err
}

func (h Home) project(root string) Project {
	sum := sha256.Sum256([]byte(root))
	return Project{Root: root, Dir: h.Path("projects", hex.EncodeToString(sum[:]))}
}

// Init makes dir a project and returns the files it created, relative to dir: none
// when it was one already.
func (h Home) Init(ctx context.Context, dir string) (p Project, created []string, err error) {
	root, err := realDir(dir)
	if err != nil {
		return Project{}, nil, err
	}
	if err := h.refuse(root); err != nil {
		return Project{}, nil, err
	}
	p = h.project(root)
	unlock, err := Lock(ctx, filepath.Join(p.Dir, "locks", "init.lock"))
	if err != nil {
		return Project{}, nil, err
	}
	defer unlock()
	if info, err := os.Lstat(filepath.Join(root, ".air")); err == nil && !info.IsDir() {
		return Project{}, nil, badProject("%s is not a folder", filepath.Join(root, ".air"))
	}
	if _, err := hasShared(root); err != nil {
		return Project{}, nil, err
	}
	if _, err := os.Lstat(p.Shared("project.json")); err == nil {
		p, err = h.open(root)
		return p, nil, err
	}
	p.ID, err = writeProjectFile(p)
	return p, []string{filepath.Join(".air", "shared", "project.json")}, err
}

func writeProjectFile(p Project) (id string, err error) {
	if err := os.MkdirAll(p.Shared(), 0o755); err != nil { // shared through git: an ordinary folder
		return "", err
	}
	file := projectFile{SchemaVersion: 1, ProjectID: ids.New()}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return "", err
	}
	return file.ProjectID, atomicfile.Write(p.Shared("project.json"), append(text, '\n'), 0o644)
}

type projectFile struct {
	SchemaVersion int             `json:"schema_version"`
	ProjectID     string          `json:"project_id"`
	DisplayName   string          `json:"display_name,omitempty"`
	Profile       json.RawMessage `json:"profile,omitempty"`
}

const maxProjectFile = 256 << 10

var uuid = lazyregexp.New(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// readProjectFile reads what a repository brought along: bounded, from a regular file.
// A project that has no such file yet has no id.
func readProjectFile(path string) (projectFile, error) {
	var file projectFile
	text, err := regular.Read(path, maxProjectFile, false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file, nil
	case err != nil:
		return file, badProject("%w", err)
	}
	if err := yamldoc.DecodeJSON(text, &file); err != nil {
		return file, badProject("%s: %w", path, err)
	}
	if file.SchemaVersion != 1 {
		return file, badProject("%s: schema_version is %d, this air knows 1", path, file.SchemaVersion)
	}
	if !uuid.MatchString(file.ProjectID) {
		return file, badProject("%s: project_id %.60q is no lower-case UUID", path, file.ProjectID)
	}
	return file, nil
}

func badProject(format string, args ...any) error {
	return fault.New(fault.InvalidInput, "bad_project", format, args...)
}
