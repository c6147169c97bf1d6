package capabilities

import (
	"context"
	"path/filepath"
	"strings"
)

// Lock returns the lock that pins what is enabled. It verifies all bytes of that and who
// signed them, and writes nothing.
func (l *Lifecycle) Lock(ctx context.Context) (Lock, error) {
	lock := Lock{SchemaVersion: 1, Capabilities: map[string]Locked{}}
	rows, err := l.rows(ctx, `WHERE enabled = 1 ORDER BY id`)
	if err != nil {
		return lock, err
	}
	for _, r := range rows {
		if ctx.Err() != nil {
			return lock, context.Cause(ctx)
		}
		c, err := l.verified(r)
		if err != nil {
			return lock, err
		}
		lock.Capabilities[r.ID] = pin(c)
	}
	return lock, nil
}

func pin(c Found) Locked {
	return Locked{
		Version: c.Manifest.Version, Source: shared(c.Source), Reference: c.Reference, Signer: keyOf(c.Signer),
		Digest: c.Digest, ManifestHash: c.ManifestHash, ModuleSHA256: c.ModuleSHA256, Permissions: c.Manifest.Permissions,
	}
}

// shared is a source in a file that travels: a folder of this machine means nothing
// elsewhere, and is nobody's business there.
func shared(s Source) Source {
	if filepath.IsAbs(s.Path) {
		s.Path = filepath.Base(s.Path)
	}
	if repository, folder, ok := strings.Cut(s.URL, "#"); filepath.IsAbs(repository) {
		if s.URL = filepath.Base(repository); ok {
			s.URL += "#" + folder
		}
	}
	return s
}
