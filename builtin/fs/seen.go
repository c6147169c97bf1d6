package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/aircoding/air/internal/stoppable"
)

// seen passes on what it reads, and hashes it: what a reader was given and what is noted as
// seen are then the same bytes.
type seen struct {
	from io.Reader
	sum  hash.Hash
	size int64
}

func newSeen(from io.Reader) *seen { return &seen{from: from, sum: sha256.New()} }

func (s *seen) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.size += int64(n)
	s.sum.Write(p[:n])
	return n, err
}

// rest reads what is left, at most so much in all, and returns the digest of everything.
func (s *seen) rest(ctx context.Context, most int64) (string, error) {
	_, err := io.Copy(io.Discard, io.LimitReader(stoppable.Reader(ctx, s), most+1-s.size))
	return hex.EncodeToString(s.sum.Sum(nil)), err
}
