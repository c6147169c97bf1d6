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
	Place      TrustLevel // project_local or user_installed: where the bytes lie; empty for what is only looked at
	TrustLevel TrustLevel
	Signer     *Signer // whose signature was verified just now, nil for nobody's
	Reference  string  // as it was pulled, empty for what was not
}

// Signer is a publisher in the person's trust store.
type Signer struct {
	Name  string `json:"name"`   // as the person calls them
	KeyID string `json:"key_id"` // sha256: and the hex digest of the public key
}

// row is that of a bundle of which nothing is recorded yet.
func (c Found) row(s State) row {
	m := c.Manifest
	return row{ID: m.CapabilityID, Digest: c.Digest, Place: c.Place, Version: m.Version, State: s}
}

// installed verifies the bytes of an installed bundle and finds out who signed it. Of
// several it is the one with the key that is wanted, where there is a wanted one.
func (l *Lifecycle) installed(id, digest, wantedKey string) (Found, error) {
	b, err := l.config.Store.Verify(id, digest)
	if err != nil {
		return Found{}, err
	}
	i := l.config.Store.record(id, digest)
	c := Found{Bundle: b, Source: i.Source, Place: UserInstalled, TrustLevel: UserInstalled, Reference: i.Reference}
	if c.Signer, err = l.signer(i, wantedKey); c.Signer != nil {
		c.TrustLevel = VerifiedPublisher
	}
	return c, err
}

// signer asks for the signatures of a bundle one by one only where the first that counts
// is another one than the wanted.
func (l *Lifecycle) signer(i Installed, wantedKey string) (*Signer, error) {
	if l.config.Signer == nil || len(i.Signatures) == 0 {
		return nil, nil
	}
	first, err := l.config.Signer(i)
	if err != nil || first == nil || wantedKey == "" || first.KeyID == wantedKey {
		return first, err
	}
	for _, signature := range i.Signatures {
		one := i
		one.Signatures = [][]byte{signature}
		if s, err := l.config.Signer(one); err != nil || s != nil && s.KeyID == wantedKey {
			return s, err
		}
	}
	return first, nil
}

// sameSigner refuses a bundle of which the signature that the consent was shown no longer
// counts: its key was removed, or the signature is gone.
func sameSigner(r row, c Found) error {
	if r.Signer == "" || c.Signer != nil && c.Signer.KeyID == r.Signer {
		return nil
	}
	is := "no key that you trust signed it"
	if c.Signer != nil {
		is = "now it is " + c.Signer.KeyID
	}
	return fault.New(fault.Integrity, codeSignerChanged, "%s was enabled as signed by %s, and %s", r.ID, r.Signer, is).
		WithHint("air enable %s shows what it is now and asks again", r.ID)
}

const codeSignerChanged = "signer_changed"

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
	return Found{
		Bundle: b, Source: Source{Kind: "local_path", Path: filepath.Join(".air", "shared", "capabilities", id)}, Place: ProjectLocal, TrustLevel: ProjectLocal,
	}, nil
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
