package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/aircoding/air/internal/stoppable"
)

// seen passes on what it reads, and hashes it beside that: what a reader was given and
// what is noted as seen are then the same bytes. It holds a few blocks.
type seen struct {
	from io.Reader
	size int64
	sum  hash.Hash
	full chan []byte // blocks to hash
	free chan []byte // blocks that were
	done chan struct{}
}

func newSeen(from io.Reader) *seen {
	const blocks = 4
	s := &seen{from: from, sum: sha256.New(), full: make(chan []byte, blocks), free: make(chan []byte, blocks), done: make(chan struct{})}
	for range blocks {
		s.free <- nil
	}
	go s.hash()
	return s
}

func (s *seen) hash() {
	defer close(s.done)
	for block := range s.full {
		s.sum.Write(block)
		s.free <- block
	}
}

func (s *seen) Read(p []byte) (int, error) {
	n, err := s.from.Read(p[:min(len(p), blockSize)])
	if n > 0 {
		s.size += int64(n)
		s.full <- append((<-s.free)[:0], p[:n]...)
	}
	return n, err
}

// drain reads the rest of a file that had this size, or as much of it as is too much.
func (s *seen) drain(ctx context.Context, size, most int64) error {
	rest := stoppable.Reader(ctx, s)
	block := make([]byte, max(1, min(blockSize, size-s.size+1)))
	for s.size <= most {
		if _, err := rest.Read(block); err != nil {
			return ignoreEOF(err)
		}
	}
	return nil
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// close ends the hashing, once.
func (s *seen) close() string {
	close(s.full)
	<-s.done
	return hex.EncodeToString(s.sum.Sum(nil))
}
