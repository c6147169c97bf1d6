package capabilities

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/oci"
)

// Store keeps bundles in <dir>/<id>/<digest hex>/, where each is whole or not there.
// With a bundle's files lies the OCI manifest that names them, and beside the folder,
// in <digest hex>.json, a record of where they came from.
type Store struct{ dir string }

// OpenStore returns the store in a folder, such as ~/.air/capabilities. It creates
// nothing.
func OpenStore(dir string) *Store { return &Store{dir} }

// storedRecord is Installed as it lies on disk.
type storedRecord struct {
	Installed
	Signatures [][]byte `json:"signatures,omitempty"`
}

const (
	ociFile    = "oci-manifest.json"
	recordEnd  = ".json"
	maxRecord  = 2 << 20 // bytes, most of them signatures
	stagingDir = ".staging"
	lockFile   = ".lock"
)

// Installed is a bundle that was placed, as it was recorded then. Only Verify says
// that its bytes are still the same.
type Installed struct {
	SchemaVersion int       `json:"schema_version"`
	CapabilityID  string    `json:"capability_id"`
	Version       string    `json:"version"`
	Digest        string    `json:"digest"`
	ManifestHash  string    `json:"manifest_hash"`
	ModuleSHA256  string    `json:"module_sha256"`
	Source        Source    `json:"source"`
	Reference     string    `json:"reference,omitempty"` // as it was pulled
	Asked         string    `json:"asked,omitempty"`     // revision that a git source was asked for: HEAD, a branch, a tag or a commit
	PlacedAt      time.Time `json:"placed_at"`
	Tools         []string  `json:"tools,omitempty"`
	// Signatures are Sigstore bundles over Digest, as they were found with it. Nobody has
	// verified them. They are recorded, and not part of what is printed.
	Signatures [][]byte `json:"-"`

	Dir string `json:"-"`
}

func (s *Store) path(id, digest string) string {
	return filepath.Join(s.dir, id, strings.TrimPrefix(digest, "sha256:"))
}

// Get returns the record of one bundle. digest may be shortened to what is unique, and
// may be empty for the one placed last.
func (s *Store) Get(id, digest string) (Installed, error) {
	if !capabilityName.MatchString(id) {
		return Installed{}, fault.New(fault.InvalidInput, "bad_name", "%.80q is no capability name", id)
	}
	switch {
	case digest == "":
		return s.last(id)
	case oci.ValidDigest(digest):
		return s.exactly(id, digest)
	}
	return s.beginning(id, digest)
}

// exactly returns the bundle of a whole digest, without looking at any other.
func (s *Store) exactly(id, digest string) (Installed, error) {
	info, err := os.Lstat(s.path(id, digest))
	switch {
	case err == nil && info.IsDir():
		return s.listed(id, digest), nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Installed{}, fault.IO("reading "+id, err)
	}
	return s.beginning(id, digest) // which says what is there instead
}

// beginning returns the one bundle whose digest begins so.
func (s *Store) beginning(id, digest string) (Installed, error) {
	all, err := s.digests(id)
	if err != nil {
		return Installed{}, err
	}
	if len(all) == 0 {
		return Installed{}, notInstalled(id)
	}
	found := slices.DeleteFunc(all, func(d string) bool { return !matches(d, digest) })
	switch len(found) {
	case 1:
		return s.listed(id, found[0]), nil
	case 0:
		return Installed{}, fault.New(fault.NotFound, "not_installed", "capability %s is installed, but not as %.80s", id, digest).WithHint("air ls shows what is installed")
	}
	return Installed{}, fault.New(fault.InvalidInput, "ambiguous", "%.80s names %d bundles of %s", digest, len(found), id).WithHint("write more of the digest")
}

func notInstalled(id string) error {
	return fault.New(fault.NotFound, "not_installed", "capability %.64s is not installed", id).
		WithHint("air pull REF or air install DIR brings it; air ls shows what is there")
}

// List returns all bundles by id, and of one id the last placed first.
func (s *Store) List() ([]Installed, error) {
	entries, err := readDir(s.dir)
	if err != nil {
		return nil, err
	}
	var all []Installed
	for _, e := range entries {
		if !e.IsDir() || !capabilityName.MatchString(e.Name()) {
			continue
		}
		of, err := s.of(e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}

// of lists the bundles of one id, the last placed first.
func (s *Store) of(id string) ([]Installed, error) {
	digests, err := s.digests(id)
	if err != nil {
		return nil, err
	}
	var all []Installed
	for _, digest := range digests {
		all = append(all, s.listed(id, digest))
	}
	slices.SortStableFunc(all, func(a, b Installed) int { return b.PlacedAt.Compare(a.PlacedAt) })
	return all, nil
}

// digests lists what is installed of one id, in no order that means anything.
func (s *Store) digests(id string) ([]string, error) {
	entries, err := readDir(filepath.Join(s.dir, id))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		if digest := "sha256:" + e.Name(); e.IsDir() && oci.ValidDigest(digest) {
			all = append(all, digest)
		}
	}
	return all, nil
}

// record reads what was recorded of a bundle. damaged says why nothing is known of one; it
// is listed all the same, as the oldest and without a version.
func (s *Store) record(id, digest string) (i Installed, damaged error) {
	var stored storedRecord
	content, err := regular.Read(s.path(id, digest)+recordEnd, maxRecord, false)
	if err == nil {
		err = json.Unmarshal(content, &stored)
	}
	if err != nil {
		stored = storedRecord{}
		damaged = fault.New(fault.Integrity, "bad_record", "the record of where %s came from and who signed it cannot be read: %s", id, text.Line(err.Error(), 300)).
			WithHint("pull or install it again")
	}
	i = stored.Installed
	i.Signatures = joined(stored.Signatures)
	i.CapabilityID, i.Digest, i.Dir = id, digest, s.path(id, digest)
	return i, damaged
}

// listed is record for those who show what there is, whatever is known of it.
func (s *Store) listed(id, digest string) Installed {
	i, _ := s.record(id, digest) // damaged: said when it is used
	return i
}

func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, fault.IO("listing "+dir, err)
}
