package oci

import (
	"os"

	"golang.org/x/sys/unix"
)

// room refuses to begin a download that the disk has no place for.
func (c cache) room(blobs []Descriptor) error {
	var missing uint64
	for _, d := range blobs {
		missing += c.missing(d)
	}
	if missing == 0 || c.dir == "" {
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return localError(err)
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(c.dir, &disk); err != nil {
		return localError(err)
	}
	if free := disk.Bavail * uint64(disk.Bsize); missing > free {
		return fail(KindDiskFull, hintDiskFull, "the bundle needs %d bytes in %s, and %d are free", missing, c.dir, free)
	}
	return nil
}

// missing is how much of a blob has still to come.
func (c cache) missing(d Descriptor) uint64 {
	if _, err := os.Stat(c.path(d.Digest)); err == nil {
		return 0
	}
	if begun, err := os.Stat(c.partial(d)); err == nil {
		return uint64(max(d.Size-begun.Size(), 0))
	}
	return uint64(d.Size)
}
