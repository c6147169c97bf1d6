package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/wasmbin"
	"github.com/aircoding/air/runtime/engine/wazero"
)

// Cache is the folder that keeps compiled modules. Each has a folder of its own there, an
// entry, which appears whole by a rename and disappears by one: two processes may compile
// and clean up at once. Its methods may be used by several goroutines.
type Cache struct {
	dir      string
	identity string // of the engine whose entries are used
}

// OpenCache returns the cache in a folder, which need not exist yet.
func OpenCache(dir string) *Cache { return &Cache{dir: dir, identity: wazero.Identity()} }

const (
	// temporary marks what nobody published, or what is on its way out.
	temporary = ".tmp-"
	// staleAge is when such a folder counts as left behind.
	staleAge = time.Hour
)

var (
	sha256Name = regexp.MustCompile(`^[0-9a-f]{64}$`)
	entryName  = regexp.MustCompile(`^([0-9a-f]{64})(-[0-9a-f]{16})?$`)
)

// entry is a compiled module that was found whole.
type entry struct {
	dir    string
	pages  uint32 // of the memory that the module starts with
	frozen bool
}

// errNoEntry is a module that the cache does not hold.
var errNoEntry = errors.New("not in the compile cache")

// damagedError is an entry that was not what had been published. It was removed.
type damagedError struct{ reason error }

func (e *damagedError) Error() string { return e.reason.Error() }

// path is where the entry of a module is, or would be.
func (c *Cache) path(module string) string {
	id := sha256.Sum256([]byte(c.identity))
	return filepath.Join(c.dir, module+"-"+hex.EncodeToString(id[:8]))
}

// has reports whether there is an entry, whole or not.
func (c *Cache) has(module string) bool {
	_, err := os.Lstat(c.path(module))
	return err == nil && sha256Name.MatchString(module)
}

// find returns the entry of a module, having read all of it. One that is not whole is
// removed, with a *damagedError. Any other error is errNoEntry, or says that ctx ended.
func (c *Cache) find(ctx context.Context, module string) (entry, error) {
	if !c.has(module) {
		return entry{}, errNoEntry
	}
	e := entry{dir: c.path(module)}
	pages, err := verify(ctx, e.dir, c.identity)
	if ctx.Err() != nil {
		return entry{}, ctx.Err()
	}
	if err != nil {
		return entry{}, &damagedError{errors.Join(err, c.remove(e.dir))}
	}
	now := time.Now()
	_ = os.Chtimes(e.dir, now, now) // the age of entries is for tidiness only
	e.pages = pages
	_, err = os.Lstat(filepath.Join(e.dir, wazero.FrozenFile))
	e.frozen = err == nil
	return e, nil
}

// checkFrozen removes the frozen image of an entry when it is damaged, and says so. The
// rest of the entry does without.
func (e *entry) checkFrozen() error {
	if !e.frozen {
		return nil
	}
	path := filepath.Join(e.dir, wazero.FrozenFile)
	data, err := readRegular(path, hostabi.MaxImage)
	if err == nil {
		_, err = wasmbin.DecodeImage(data)
	}
	if err != nil {
		e.frozen = false
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// create returns a new empty folder in which to make the entry of a module, and removes
// what others left behind.
func (c *Cache) create(module string) (dir string, err error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", err
	}
	c.sweep(time.Now())
	return os.MkdirTemp(c.dir, module+temporary+"*")
}

// publish makes a filled folder the entry of a module. When another process was faster,
// its entry stays.
func (c *Cache) publish(ctx context.Context, dir, module string, pages uint32) error {
	list, err := describe(ctx, dir, c.identity, pages)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, checksums), list, 0o600); err != nil {
		return err
	}
	final := c.path(module)
	err = os.Rename(dir, final)
	if err != nil {
		if _, statErr := os.Lstat(final); statErr == nil {
			return nil
		}
	}
	return err
}

// storeFrozen adds the frozen image to the entry of a module.
func (c *Cache) storeFrozen(module string, image []byte) (err error) {
	f, err := os.CreateTemp(c.dir, module+temporary+"*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is not there any more after the rename
	_, err = f.Write(image)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(c.path(module), wazero.FrozenFile))
}

// remove removes an entry. It is renamed away first, so that nobody finds half of it.
func (c *Cache) remove(dir string) error {
	away := dir + temporary + rand.Text()
	if err := os.Rename(dir, away); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another process was faster
		}
		return fmt.Errorf("removing a cache entry: %w", err)
	}
	return os.RemoveAll(away)
}

// sweep removes what processes that are gone left behind.
func (c *Cache) sweep(now time.Time) {
	all, _ := os.ReadDir(c.dir)
	for _, e := range all {
		if !strings.Contains(e.Name(), temporary) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > staleAge {
			os.RemoveAll(filepath.Join(c.dir, e.Name()))
		}
	}
}
