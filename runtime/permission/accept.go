package permission

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/yamldoc"
)

// SharedFile is a file that travels with the project and changes what AIR does.
type SharedFile struct {
	Path   string `json:"path"`   // relative to .air/shared, with slashes
	SHA256 string `json:"sha256"` // hex
}

// sharedNames are the files of .air/shared that a person accepts. What lies in its
// capabilities folder has digests of its own and is enabled one by one.
var sharedNames = []string{"project.json", "permissions.yaml", "capabilities.yaml", "capability-lock.json", "profile.json", "profile.lock.json"}

// Shared lists the shared files that a project has.
func Shared(p home.Project) ([]SharedFile, error) {
	var files []SharedFile
	if !p.Exists() {
		return nil, nil
	}
	for _, name := range sharedNames {
		text, err := regular.Read(p.Shared(name), maxFile, false)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "bad_shared_file", "reading the project's shared files: %w", err)
		}
		files = append(files, sharedFile(name, text))
	}
	return files, nil
}

// Acceptance is what a person accepted of a project's shared files: exactly those
// bytes. A file that changes is not accepted any more.
type Acceptance struct {
	project  home.Project
	accepted []SharedFile
}

type acceptanceFile struct {
	SchemaVersion int          `json:"schema_version"`
	AcceptedAt    time.Time    `json:"accepted_at"`
	Files         []SharedFile `json:"files"`
}

// LoadAcceptance reads what was accepted from the project's state, which lies in air's
// own folder.
func LoadAcceptance(p home.Project) (*Acceptance, error) {
	a := &Acceptance{project: p}
	text, err := regular.Read(a.file(), maxFile, false)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return nil, fault.New(fault.Integrity, "bad_acceptance", "reading what was accepted: %w", err)
	}
	var doc acceptanceFile
	if err := yamldoc.DecodeJSON(text, &doc); err != nil {
		return nil, fault.New(fault.Integrity, "bad_acceptance", "%s: %w", a.file(), err).WithHint("remove the file, and air accept again")
	}
	a.accepted = doc.Files
	return a, nil
}

func (a *Acceptance) file() string { return filepath.Join(a.project.Dir, "state", "accepted.json") }

// copyOf is where the accepted content of a file is kept, to show what has changed.
func (a *Acceptance) copyOf(path string) string {
	return filepath.Join(a.project.Dir, "state", "accepted", path)
}

// Covers reports whether the file was accepted with exactly this content.
func (a *Acceptance) Covers(path string, content []byte) bool {
	return slices.Contains(a.accepted, sharedFile(path, content))
}

func sharedFile(path string, content []byte) SharedFile {
	return SharedFile{Path: path, SHA256: strings.TrimPrefix(canon.Digest(content), "sha256:")}
}

// Pending are those of the files that are new or changed since they were accepted.
func (a *Acceptance) Pending(files []SharedFile) []SharedFile {
	return slices.DeleteFunc(slices.Clone(files), func(f SharedFile) bool { return slices.Contains(a.accepted, f) })
}

// Before returns the content of the file that was accepted last, whatever it is now. It
// returns nil where none was, or where it is not kept.
func (a *Acceptance) Before(path string) []byte {
	content, err := regular.Read(a.copyOf(path), maxFile, false)
	if err != nil || !a.Covers(path, content) {
		return nil
	}
	return content
}

// Accept stores that a person accepted the files as they are; what was accepted
// before and is not among them no longer is. A file that is not what was shown to the
// person is an error of kind conflict, and then nothing is accepted.
func (a *Acceptance) Accept(files []SharedFile) error {
	text, err := json.MarshalIndent(acceptanceFile{SchemaVersion: 1, AcceptedAt: time.Now().UTC().Truncate(time.Second), Files: files}, "", "  ")
	if err != nil {
		return err
	}
	contents := make([][]byte, len(files))
	for i, f := range files {
		if contents[i], err = a.Read(f); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(a.file(), append(text, '\n'), 0o600); err != nil {
		return err
	}
	a.accepted = slices.Clone(files)
	for i, f := range files {
		if err := atomicfile.Write(a.copyOf(f.Path), contents[i], 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Read returns the content of a file, unless it is another one now.
func (a *Acceptance) Read(f SharedFile) ([]byte, error) {
	content, err := regular.Read(a.project.Shared(f.Path), maxFile, false)
	if err == nil && sharedFile(f.Path, content) != f {
		err = fault.New(fault.Conflict, "changed", "%s changes while it is being accepted", f.Path).WithHint("try again")
	}
	return content, err
}
