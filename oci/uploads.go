package oci

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/aircoding/air/internal/lazyregexp"
)

// How long nobody has to write to an upload for it to go: where its room is needed, and
// in any case.
const (
	idleUpload  = time.Minute
	staleUpload = time.Hour
)

var uploadGrammar = lazyregexp.New(`^[A-Z2-7]{26}[0-9a-f]{64}$`)

// newUploadID makes a name for an upload that belongs to one repository.
func newUploadID(repo string) string {
	random := rand.Text()
	return random + uploadMark(random, repo)
}

func uploadMark(random, repo string) string {
	sum := sha256.Sum256([]byte(random + " " + repo))
	return hex.EncodeToString(sum[:])
}

func isUploadOf(repo, id string) bool {
	return uploadGrammar.MatchString(id) && id[26:] == uploadMark(id[:26], repo)
}

func (s *dirStore) uploadPath(id string) string { return filepath.Join(s.dir, "uploads", id) }

func (s *dirStore) beginUpload(repo string) (id string, err error) {
	if err := s.meter.take(entryCost); err != nil {
		return "", err
	}
	id = newUploadID(repo)
	f, err := os.OpenFile(s.uploadPath(id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		s.meter.give(entryCost)
		return "", err
	}
	return id, f.Close()
}

// holdUpload reports whether the upload is the caller's until letGoUpload.
func (s *dirStore) holdUpload(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] {
		return false
	}
	s.busy[id] = true
	return true
}

func (s *dirStore) letGoUpload(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, id)
}

// dropUpload ends an upload of size bytes, unless it has ended.
func (s *dirStore) dropUpload(id string, size int64) error {
	if err := os.Remove(s.uploadPath(id)); err != nil {
		return ignoreMissing(err)
	}
	s.meter.give(size + entryCost)
	return nil
}

// giveUp drops an upload between two requests.
func (s *dirStore) giveUp(ctx context.Context, repo, id string) error {
	w, err := s.PushBlobChunkedResume(ctx, repo, id, -1, 0)
	if err != nil {
		return err
	}
	return w.Cancel()
}

// sweep drops what nobody goes on with. It looks once a minute at most.
func (s *dirStore) sweep() {
	s.mu.Lock()
	due := time.Since(s.swept) > time.Minute
	if due {
		s.swept = time.Now()
	}
	s.mu.Unlock()
	if due {
		s.dropIdle(staleUpload)
	}
}

// dropIdle drops the uploads that nobody has written to for some time.
func (s *dirStore) dropIdle(since time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// One that cannot be removed stays, and stays counted.
	_ = eachFile(filepath.Join(s.dir, "uploads"), func(_ string, info fs.FileInfo) error {
		if s.busy[info.Name()] || time.Since(info.ModTime()) < since {
			return nil
		}
		return s.dropUpload(info.Name(), info.Size())
	})
}
