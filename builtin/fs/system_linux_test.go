package fs_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// mountSmall mounts a file system of 64 KiB for the time of the test.
func mountSmall(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting a small file system needs root: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, 0)) })
}

func setAttribute(path string) bool { return unix.Setxattr(path, "user.air", []byte("x"), 0) == nil }

func hasAttribute(path string) bool {
	value := make([]byte, 1)
	_, err := unix.Getxattr(path, "user.air", value)
	return err == nil && value[0] == 'x'
}
