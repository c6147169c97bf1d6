package capabilities

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/oci"
)

// lastFile names, in the folder of an id, the bundle of it that was placed last, so that
// nobody reads ten thousand records to find that out. It is a shortcut: where it is gone or
// names what is not there, the records say the same.
const lastFile = "last"

// last returns the bundle of an id that was placed last.
func (s *Store) last(id string) (Installed, error) {
	if digest, ok := s.readLast(id); ok {
		return s.listed(id, digest), nil
	}
	all, err := s.of(id)
	if err != nil {
		return Installed{}, err
	}
	if len(all) == 0 {
		return Installed{}, notInstalled(id)
	}
	return all[0], nil
}

// readLast returns the digest that the shortcut names, if that is there.
func (s *Store) readLast(id string) (digest string, ok bool) {
	text, err := regular.Read(s.lastPath(id), 256, false)
	digest = "sha256:" + strings.TrimSpace(string(text))
	if err != nil || !oci.ValidDigest(digest) {
		return "", false
	}
	info, err := os.Lstat(s.path(id, digest))
	return digest, err == nil && info.IsDir()
}

func (s *Store) lastPath(id string) string { return filepath.Join(s.dir, id, lastFile) }

// writeLast is called before what it names is in its place. The caller has the lock.
func (s *Store) writeLast(i Installed) error {
	return atomicfile.Write(s.lastPath(i.CapabilityID), []byte(filepath.Base(i.Dir)+"\n"), 0o600)
}

// forgetLast removes the shortcut when it names i, which is removed next, or nothing. The
// caller has the lock.
func (s *Store) forgetLast(i Installed) error {
	if digest, ok := s.readLast(i.CapabilityID); ok && digest != i.Digest {
		return nil
	}
	err := os.Remove(s.lastPath(i.CapabilityID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
