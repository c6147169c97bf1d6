//go:build !linux

package fs_test

import "testing"

func mountSmall(t *testing.T, _ string) {
	t.Helper()
	t.Skip("there is no way to mount a small file system here")
}

func setAttribute(string) bool { return false }

func hasAttribute(string) bool { return false }
