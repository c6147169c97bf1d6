package capabilities

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// Found is a bundle that could be enabled, and what AIR knows of its origin.
type Found struct {
	*Bundle
	Source     Source
	Place      TrustLevel // project_local or user_installed: where the bytes lie; empty for what is only looked at
	TrustLevel TrustLevel
	Signer     *Signer  // whose signature was verified just now, nil for nobody's
	Reference  string   // as it was pulled, empty for what was not
	Asked      string   // see Installed.Asked
	Unsigned   []string // why none of its signatures counts

	unknown bool // where it came from: its record is damaged or gone
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

func (c Found) origin() origin {
	return origin{Source: c.Source, Reference: c.Reference, Asked: c.Asked, Unknown: c.unknown}
}

// installed verifies the bytes of an installed bundle and finds out who signed it, the
// consented signer if their signature counts. Where it came from is as the consent was
// shown, and before one as it is recorded.
func (l *Lifecycle) installed(r row) (Found, error) {
	b, err := l.config.Store.Verify(r.ID, r.Digest)
	if err != nil {
		return Found{}, err
	}
	i, damaged := l.config.Store.record(r.ID, r.Digest)
	from := r.Origin
	if r.At == "" {
		from = origin{i.Source, i.Reference, i.Asked, damaged != nil}
	}
	c := Found{
		Bundle: b, Source: from.Source, Reference: from.Reference, Asked: from.Asked, unknown: from.Unknown,
		Place: UserInstalled, TrustLevel: UserInstalled,
	}
	if damaged != nil {
		c.Unsigned = []string{damaged.Error()}
	}
	if l.config.Signer == nil || len(i.Signatures) == 0 {
		return c, nil
	}
	i.Reference = from.Reference
	if c.Signer, c.Unsigned, err = l.config.Signer(i, r.Signer); c.Signer != nil {
		c.TrustLevel = VerifiedPublisher
	}
	return c, err
}

// sourceWords and signerWords are safe to show.
func (c Found) sourceWords() string {
	if c.unknown {
		return "NOT KNOWN: the record of it is damaged; pull or install it again"
	}
	return text.Line(c.Source.String(), 300)
}

func (c Found) signerWords() string {
	if c.Signer == nil && len(c.Unsigned) > 0 {
		return "none that counts: " + c.whyUnsigned()
	}
	return signerWords(c.Signer)
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
