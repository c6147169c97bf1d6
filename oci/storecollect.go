package oci

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
)

// tidy removes what no repository names any more and returns what is left, in bytes of
// the quota. It runs before the registry listens, so that no push is under way but one
// that was interrupted; what such a push has brought in the last day stays.
func (s *dirStore) tidy(ctx context.Context, now time.Time) (used int64, err error) {
	c := collector{store: s, now: now, named: map[string]bool{}}
	if err := c.uploads(); err != nil {
		return 0, err
	}
	root := filepath.Join(s.dir, "repositories")
	if err := c.repositories(ctx, root); err != nil {
		return 0, err
	}
	if err := c.folders(root); err != nil {
		return 0, err
	}
	err = c.blobs()
	return c.used, err
}

// abandonedBlob is how long what no manifest names stays, for a push that is to go on.
const abandonedBlob = 24 * time.Hour

type collector struct {
	store *dirStore
	now   time.Time
	named map[string]bool // the hex digests that a repository names
	used  int64
}

func (c *collector) age(info fs.FileInfo) time.Duration { return c.now.Sub(info.ModTime()) }

func (c *collector) uploads() error {
	return eachFile(filepath.Join(c.store.dir, "uploads"), func(path string, info fs.FileInfo) error {
		if c.age(info) > staleUpload {
			return os.Remove(path)
		}
		c.used += info.Size() + entryCost
		return nil
	})
}

func (c *collector) repositories(ctx context.Context, root string) error {
	// Folders of repositories without a manifest are walked too: they may own blobs.
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() || strings.HasPrefix(e.Name(), "_") {
			return skipEntries(e, err)
		}
		return c.repository(ctx, path)
	})
}

func skipEntries(e fs.DirEntry, err error) error {
	if err == nil && e.IsDir() {
		return fs.SkipDir
	}
	return err
}

func (c *collector) repository(ctx context.Context, dir string) error {
	name, err := filepath.Rel(filepath.Join(c.store.dir, "repositories"), dir)
	if err != nil {
		return err
	}
	needed, err := c.manifests(ctx, filepath.ToSlash(name), dir)
	if err != nil {
		return err
	}
	if err := c.count(filepath.Join(dir, "_tags")); err != nil {
		return err
	}
	if err := c.referrers(filepath.Join(dir, "_referrers")); err != nil {
		return err
	}
	return eachFile(filepath.Join(dir, "_blobs"), func(path string, info fs.FileInfo) error {
		if !needed[info.Name()] && c.age(info) > abandonedBlob {
			return os.Remove(path)
		}
		c.named[info.Name()] = true
		c.used += entryCost
		return nil
	})
}

// manifests returns the hex digests of the blobs that a repository's manifests name.
func (c *collector) manifests(ctx context.Context, repo, dir string) (map[string]bool, error) {
	needed := map[string]bool{}
	err := eachFile(filepath.Join(dir, "_manifests"), func(_ string, info fs.FileInfo) error {
		c.named[info.Name()] = true
		c.used += entryCost
		if ctx.Err() != nil {
			return ctx.Err()
		}
		refs, _, err := c.store.referencesOf(ctx, repo, ociregistry.Digest("sha256:"+info.Name()))
		if err != nil {
			return nil //nolint:nilerr // a manifest that cannot be read names nothing, and stays
		}
		for _, d := range refs.blobs() {
			needed[strings.TrimPrefix(string(d.Digest), "sha256:")] = true
		}
		return nil
	})
	return needed, err
}

func (c *collector) referrers(dir string) error {
	subjects, err := os.ReadDir(dir)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, subject := range subjects {
		if err := c.count(filepath.Join(dir, subject.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) count(dir string) error {
	return eachFile(dir, func(string, fs.FileInfo) error { c.used += entryCost; return nil })
}

// folders removes those that nothing lies in, the deepest first, and counts the others.
func (c *collector) folders(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if err := c.folders(path); err != nil {
			return err
		}
		if os.Remove(path) != nil { // something lies in it
			c.used += entryCost
		}
	}
	return nil
}

// blobs removes the bytes that no repository has: nobody can ask for them.
func (c *collector) blobs() error {
	return eachFile(filepath.Join(c.store.dir, "blobs", "sha256"), func(path string, info fs.FileInfo) error {
		if !c.named[info.Name()] {
			return os.Remove(path)
		}
		c.used += info.Size()
		return nil
	})
}

// eachFile visits the files of a folder, which need not exist, and removes those that
// killed writers left half-written.
func eachFile(dir string, visit func(path string, info fs.FileInfo) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			if err := os.Remove(path); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = visit(path, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
