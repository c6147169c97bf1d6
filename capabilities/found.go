package capabilities

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// Found is a bundle that could be enabled, and what AIR knows of its origin.
type Found struct {
	*Bundle
	Source     Source
	TrustLevel TrustLevel

	reference string
}

func (c Found) row(s State) row {
	m := c.Manifest
	return row{ID: m.CapabilityID, Digest: c.Digest, Trust: c.TrustLevel, Version: m.Version, State: s}
}

func (l *Lifecycle) installed(id, digest string) (Found, error) {
	b, err := l.config.Store.Verify(id, digest)
	if err != nil {
		return Found{}, err
	}
	i := l.config.Store.record(id, digest)
	return Found{b, i.Source, UserInstalled, i.Reference}, nil
}

// local loads a capability that lies in the project itself.
func (l *Lifecycle) local(id string) (Found, error) {
	dir, ok := l.localDir(id)
	if !ok {
		return Found{}, notInstalled(id)
	}
	if err := realFolders(l.config.Project.Root, dir); err != nil {
		return Found{}, err
	}
	b, module, err := loadDir(dir)
	if err != nil {
		return Found{}, fault.IO("reading "+dir, err)
	}
	if b.Manifest.CapabilityID != id {
		return Found{}, badBundle("%s holds the capability %s: the folder's name must be the same", dir, b.Manifest.CapabilityID)
	}
	if err := prove(b.module, module, b.Manifest.Entrypoint.ABI); err != nil {
		return Found{}, err
	}
	return Found{b, Source{Kind: "local_path", Path: filepath.Join(".air", "shared", "capabilities", id)}, ProjectLocal, ""}, nil
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
			return fault.IO("reading "+at, err)
		}
		if !info.IsDir() {
			return badBundle("%s is no folder of the project itself", at)
		}
	}
	return nil
}
