package capabilities

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// candidate is a bundle that could be enabled, and where it came from.
type candidate struct {
	bundle    *Bundle
	trust     TrustLevel
	source    Source
	reference string
}

func (c candidate) row(s State) row {
	m := c.bundle.Manifest
	return row{ID: m.CapabilityID, Digest: c.bundle.Digest, Trust: c.trust, Version: m.Version, State: s}
}

func (l *Lifecycle) installed(id, digest string) (candidate, error) {
	b, err := l.config.Store.Verify(id, digest)
	if err != nil {
		return candidate{}, err
	}
	i := l.config.Store.record(id, digest)
	return candidate{b, UserInstalled, i.Source, i.Reference}, nil
}

// local loads a capability that lies in the project itself.
func (l *Lifecycle) local(id string) (candidate, error) {
	dir, ok := l.localDir(id)
	if !ok {
		return candidate{}, notInstalled(id)
	}
	if err := realFolders(l.config.Project.Root, dir); err != nil {
		return candidate{}, err
	}
	b, module, err := loadDir(dir)
	if err != nil {
		return candidate{}, ioFault("reading "+dir, err)
	}
	if b.Manifest.CapabilityID != id {
		return candidate{}, badBundle("%s holds the capability %s: the folder's name must be the same", dir, b.Manifest.CapabilityID)
	}
	if err := prove(b.module, module); err != nil {
		return candidate{}, err
	}
	return candidate{b, ProjectLocal, Source{Kind: "local_path", Path: filepath.Join(".air", "shared", "capabilities", id)}, ""}, nil
}

func (l *Lifecycle) localDir(id string) (string, bool) {
	if !l.config.Project.Exists() || !capabilityName.MatchString(id) {
		return "", false
	}
	return l.config.Project.Shared("capabilities", id), true
}

// realFolders refuses a path below root that leads through a symbolic link, which
// would make another folder than the one that people review.
func realFolders(root, dir string) error {
	below, err := filepath.Rel(root, dir)
	if err != nil {
		return err
	}
	at := root
	for part := range strings.SplitSeq(below, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, os.ErrNotExist) {
			return fault.New(fault.NotFound, "not_installed", "%w", err)
		}
		if err != nil {
			return ioFault("reading "+at, err)
		}
		if !info.IsDir() {
			return badBundle("%s is no folder of the project itself", at)
		}
	}
	return nil
}
