package event

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
)

// Key proves that an event was recorded by AIR. Who holds it can forge a chain.
type Key [32]byte

// LoadKey reads the key in dir, ~/.air/keys, and makes one where there is none. Of two
// processes that make one at once, one wins and both get the winner's.
func LoadKey(dir string) (Key, error) {
	path := filepath.Join(dir, "events.key")
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(dir, path); err != nil {
			return Key{}, Storage(err, "making the key %s", path)
		}
		key, err = readKey(path)
	}
	return key, Storage(err, "reading the key of events")
}

func readKey(path string) (key Key, err error) {
	data, err := regular.Read(path, 1<<10, true)
	if err != nil {
		return key, err
	}
	if len(data) != len(key) {
		return key, fault.New(fault.Integrity, "events_key", "%s has %d bytes, %d are wanted", path, len(data), len(key)).
			WithHint("restore the file from a backup of ~/.air; without it stored events cannot be verified")
	}
	return Key(data), nil
}

// makeKey writes the key aside and links it into place, which fails when another
// process was first, and which never shows a part of a key.
func makeKey(dir, path string) error {
	var key Key
	_, _ = rand.Read(key[:]) // never fails (crypto/rand since Go 1.24)
	aside := filepath.Join(dir, ".events.key-"+rand.Text())
	if err := atomicfile.Write(aside, key[:], 0o600); err != nil {
		return err
	}
	err := os.Link(aside, path)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(aside), atomicfile.SyncDir(dir))
}
