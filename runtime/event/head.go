package event

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/aircoding/air/internal/atomicfile"
)

// head is the file that holds the last link of one store's chain. It lies with the
// key, outside the folder of the store, so that a cut tail shows.
//
// It has two slots, written in turn, each sealed by the key and in a block of its own.
// A write is one pwrite without a sync, which is what keeps an append near 100 µs.
// What a crash can do to it:
//   - The process dies between commit and write: the head is one behind.
//   - The process or the machine dies within the write: that slot's seal does not fit,
//     the other slot stands, and the head is one behind.
//   - The machine dies before the kernel wrote the slot out: the head is some behind.
//
// A head that is behind is no sign of tampering, as only the holder of the key can
// have made the events after it; the next append or Verify brings it up to date. Only
// the first write is synced, so a head without one good slot was removed or overwritten.
// Who can write the head can set it back, but nobody can who has no way to the key.
type head struct {
	key  Key
	path string
	name string // of the store, part of every seal: a head fits no other store
}

const (
	slotSize = 8 + sha256.Size + sha256.Size // number, MAC, seal
	slotGap  = 4096
)

// newHead finds the head of the store at path. The name of a store is its path as seen
// from the heads, so that ~/.air as a whole can be moved.
func newHead(dir, path string, key Key) (head, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return head{}, err
	}
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return head{}, err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return head{}, err
	}
	real := filepath.Join(folder, filepath.Base(path))
	name, err := filepath.Rel(realDir, real)
	if err != nil {
		return head{}, err
	}
	sum := sha256.Sum256([]byte(name))
	return head{key, filepath.Join(realDir, hex.EncodeToString(sum[:])), name}, nil
}

// start is what the first event of the store follows.
func (h head) start() link { return link{mac: h.key.sum(forStart, []byte(h.name))} }

// read returns the newest link that has a good seal; ok is false when none has.
func (h head) read() (newest link, ok bool, err error) {
	f, err := os.OpenFile(h.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe there is an error, no wait
	if errors.Is(err, fs.ErrNotExist) {
		return link{}, false, nil
	}
	if err != nil {
		return link{}, false, err
	}
	defer f.Close()
	for slot := range int64(2) {
		var b [slotSize]byte
		if _, err := f.ReadAt(b[:], slot*slotGap); err != nil && !errors.Is(err, io.EOF) {
			return link{}, false, err
		}
		if l, good := h.open(b[:]); good && (!ok || l.seq > newest.seq) {
			newest, ok = l, true
		}
	}
	return newest, ok, nil
}

func (h head) open(b []byte) (l link, good bool) {
	l.seq = int64(binary.BigEndian.Uint64(b))
	copy(l.mac[:], b[8:])
	return l, hmac.Equal(h.seal(l), b)
}

func (h head) seal(l link) []byte {
	b := append(bigEndian(l.seq), l.mac[:]...)
	seal := h.key.sum(forHead, b, []byte(h.name))
	return append(b, seal[:]...)
}

// create makes the head of a store that has no event yet.
func (h head) create() error {
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(h.seal(h.start()), 0)
	return errors.Join(err, f.Sync(), f.Close(), atomicfile.SyncDir(filepath.Dir(h.path)))
}

// write makes l the newest link.
func (h head) write(l link) error {
	f, err := os.OpenFile(h.path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(h.seal(l), l.seq%2*slotGap)
	return errors.Join(err, f.Close())
}
