package wazero

import (
	"os"

	"golang.org/x/sys/unix"
)

// giveBack makes a part of a private mapping zero by giving its pages back to the kernel.
// It reports false where it did not.
func giveBack(mapping []byte, from, to uint64) bool {
	page := uint64(os.Getpagesize())
	first, last := (from+page-1)/page*page, to/page*page
	if first >= last || unix.Madvise(mapping[first:last], unix.MADV_DONTNEED) != nil {
		return false
	}
	clear(mapping[from:first])
	clear(mapping[last:to])
	return true
}
