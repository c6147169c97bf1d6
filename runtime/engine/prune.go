package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aircoding/air/runtime/engine/wazero"
)

// CacheEntry is one compiled module in a cache.
type CacheEntry struct {
	Module  string    // sha256 of the module, hex
	Current bool      // made by this version of air for this machine
	Bytes   int64     // of all its files
	Used    time.Time // when it was last loaded, more or less
	Frozen  bool      // calls start after _initialize

	name string // of its folder
}

// Entries lists what the cache holds, the longest unused first.
func (c *Cache) Entries() ([]CacheEntry, error) {
	all, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []CacheEntry
	for _, d := range all {
		name := entryName.FindStringSubmatch(d.Name())
		if name == nil || !d.IsDir() {
			continue
		}
		e, ok := c.entry(d)
		if !ok {
			continue
		}
		e.Module = name[1]
		e.Current = filepath.Join(c.dir, d.Name()) == c.path(e.Module)
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b CacheEntry) int { return a.Used.Compare(b.Used) })
	return list, err
}

// entry measures one entry. It is false for one that disappeared meanwhile.
func (c *Cache) entry(d fs.DirEntry) (CacheEntry, bool) {
	info, err := d.Info()
	if err != nil {
		return CacheEntry{}, false
	}
	e := CacheEntry{Used: info.ModTime(), name: d.Name()}
	files, _ := entryFiles(filepath.Join(c.dir, d.Name())) // measured as far as it goes
	for _, f := range files {
		e.Bytes += f.size
		e.Frozen = e.Frozen || f.name == wazero.FrozenFile
	}
	return e, true
}

// Prune removes entries that were not used for maxAge before now, 0 being any age, and
// then the longest unused until the rest has at most maxBytes; also what processes that
// are gone left behind. An entry in use may go: the next call compiles the module again. On
// an error it goes on with the other entries.
func (c *Cache) Prune(maxBytes int64, maxAge time.Duration, now time.Time) (removed []CacheEntry, err error) {
	return c.prune(maxBytes, maxAge, now, "")
}

// prune spares the entry of one module, which still counts.
func (c *Cache) prune(maxBytes int64, maxAge time.Duration, now time.Time, spared string) (removed []CacheEntry, err error) {
	c.sweep(now)
	list, err := c.Entries()
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for _, e := range list {
		total += e.Bytes
	}
	for _, e := range list {
		tooOld := maxAge > 0 && now.Sub(e.Used) > maxAge
		if !tooOld && total <= maxBytes || e.Current && e.Module == spared {
			continue
		}
		if removeErr := c.remove(filepath.Join(c.dir, e.name)); removeErr != nil {
			err = errors.Join(err, removeErr)
			continue
		}
		total -= e.Bytes
		removed = append(removed, e)
	}
	return removed, err
}
