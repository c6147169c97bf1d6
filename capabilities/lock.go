package capabilities

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/yamldoc"
	"github.com/aircoding/air/oci"
)

// LockFile is the name of a project's lock in .air/shared.
const LockFile = "capability-lock.json"

// MaxLock bounds a lock in bytes. It is as much as a person is shown before they accept a
// file: what is larger nobody else could use.
const MaxLock = 64 << 10

// Lock pins the capabilities of a project, by id. What it does not list cannot be used
// in the project while it lies there, accepted or not.
type Lock struct {
	SchemaVersion int               `json:"schema_version"`
	Capabilities  map[string]Locked `json:"capabilities"`
}

// Locked is one pinned bundle. Digest is what counts; all else says what it stands for.
type Locked struct {
	Version      string                `json:"version"`
	Source       Source                `json:"source"`
	Reference    string                `json:"reference,omitempty"` // where it was pulled from, empty for what was not
	Digest       string                `json:"digest"`
	ManifestHash string                `json:"manifest_hash"`
	ModuleSHA256 string                `json:"module_sha256"` // hex
	Permissions  PermissionDeclaration `json:"permissions"`
	Signer       string                `json:"signer"` // id of the key, empty for nobody's
}

var sha256Hex = lazyregexp.New(`^[0-9a-f]{64}$`)

// readLock reads a lock that anybody may have written. content is nil where there is none.
func readLock(file string) (lock Lock, content []byte, err error) {
	content, err = regular.Read(file, MaxLock, false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Lock{}, nil, nil
	case err != nil:
		return Lock{}, nil, badLock("reading the lock", err)
	}
	if lock, err = parseLock(content); err != nil {
		return Lock{}, nil, badLock(file, err)
	}
	return lock, content, nil
}

// CheckLockText refuses a lock that could not be loaded. file is how the error names it.
func CheckLockText(file string, content []byte) error {
	_, err := parseLock(content)
	var p problems
	if err == nil {
		checkOwnSchema("capability-lock", content, &p)
		err = p.asError()
	}
	if err != nil {
		return badLock(file, err)
	}
	return nil
}

func badLock(where string, err error) error {
	return fault.New(fault.InvalidInput, "bad_lock", "%s: %w", where, err).
		WithHint("no capability can be used until the file is right or gone: what it pins cannot be read")
}

func parseLock(content []byte) (Lock, error) {
	var lock Lock
	if len(content) > MaxLock {
		return lock, fmt.Errorf("it has %d bytes, the limit is %d", len(content), MaxLock)
	}
	if err := yamldoc.DecodeJSON(content, &lock); err != nil {
		return lock, err
	}
	var p problems
	if lock.SchemaVersion != 1 {
		p.add("/schema_version", "is %d, this air knows 1", lock.SchemaVersion)
	}
	if lock.Capabilities == nil {
		p.add("/capabilities", "is missing")
	}
	for _, id := range slices.Sorted(maps.Keys(lock.Capabilities)) {
		lock.Capabilities[id].check(id, &p)
	}
	return lock, p.asError()
}

func (c Locked) check(id string, p *problems) {
	at := "/capabilities/" + canon.EscapePointer(id)
	if !capabilityName.MatchString(id) {
		p.add(at, "%.80q is no capability name", id)
	}
	if !versionText.MatchString(c.Version) {
		p.add(at+"/version", "%.80q is no version", c.Version)
	}
	for name, digest := range map[string]string{"digest": c.Digest, "manifest_hash": c.ManifestHash} {
		if !oci.ValidDigest(digest) {
			p.add(at+"/"+name, "%.80q is no digest: want sha256: and 64 hex digits", digest)
		}
	}
	if !sha256Hex.MatchString(c.ModuleSHA256) {
		p.add(at+"/module_sha256", "%.80q is not 64 hex digits", c.ModuleSHA256)
	}
	if c.Signer != "" && !oci.ValidDigest(c.Signer) {
		p.add(at+"/signer", "%.80q is no key's id: want sha256: and 64 hex digits", c.Signer)
	}
	if _, err := oci.ParseReference(c.Reference); c.Reference != "" && err != nil {
		p.add(at+"/reference", "%v", err)
	}
	checkSource(c.Source, at+"/source", p)
	checkPermissions(c.Permissions, at+"/permissions", p)
}

// Write replaces the lock in one step. Its keys are in canonical order, and it says
// nothing of when or where it was written: the same capabilities give the same bytes.
func (k Lock) Write(file string) error {
	text, err := k.text()
	if err != nil {
		return err
	}
	return fault.IO("writing the lock", atomicfile.Write(file, text, 0o644))
}

func (k Lock) text() ([]byte, error) {
	canonical, err := canon.Marshal(k)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, canonical, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	if b.Len() > MaxLock {
		id, size := k.largest()
		return nil, fault.New(fault.ResourceExhausted, "lock_size", "the lock has %d bytes, the limit is %d; the largest of its %d entries is %s with %d", b.Len(), MaxLock, len(k.Capabilities), id, size).
			WithHint("air disable %s ends its use; or disable what else the project does not need", id)
	}
	if _, err := parseLock(b.Bytes()); err != nil { // such as of a source that was lost
		return nil, fault.New(fault.Integrity, "bad_record", "what is recorded of an installed capability makes no lock: %w", err).
			WithHint("pull or install it again")
	}
	return b.Bytes(), nil
}

// largest is the entry that takes the most room, in bytes as they are written.
func (k Lock) largest() (id string, size int) {
	for _, one := range slices.Sorted(maps.Keys(k.Capabilities)) {
		text, err := json.MarshalIndent(k.Capabilities[one], "    ", "  ")
		if err == nil && len(text) > size {
			id, size = one, len(text)
		}
	}
	return id, size
}
