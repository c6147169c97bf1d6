package capabilities

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/aircoding/air/internal/fault"
)

// Of the signatures of one bundle so many are kept, and none that is larger: anybody can
// attach any number of them.
const (
	maxSignatures     = 32
	maxSignatureBytes = 32 << 10
)

// joined are the signatures of all lists, the first ones first and each once, as far as
// they are kept.
func joined(lists ...[][]byte) [][]byte {
	var all [][]byte
	for _, s := range slices.Concat(lists...) {
		known := slices.ContainsFunc(all, func(have []byte) bool { return bytes.Equal(have, s) })
		if !known && len(s) > 0 && len(s) <= maxSignatureBytes && len(all) < maxSignatures {
			all = append(all, s)
		}
	}
	return all
}

// AddSignatures keeps signatures with an installed bundle, in front of those that it has.
// digest may be shortened, or empty for the bundle placed last. Nobody verifies them here.
func (s *Store) AddSignatures(ctx context.Context, id, digest string, signatures [][]byte) (Installed, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	i, err := s.Get(id, digest)
	if err != nil {
		return Installed{}, err
	}
	staged, err := s.stage()
	if err != nil {
		return Installed{}, fault.IO("staging", err)
	}
	defer os.RemoveAll(filepath.Dir(staged))
	i.Signatures = joined(signatures, i.Signatures)
	return i, fault.IO("recording signatures of "+id, s.writeRecord(staged, i))
}
