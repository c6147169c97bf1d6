// Package gitfile reads what git keeps about where a repository is and how it is configured.
// It follows git: gitrepository-layout(5), git-config(1).
package gitfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/regular"
)

// maxFile bounds a file .git, and one that names the common folder.
const maxFile = 8 << 10

// Dir is the folder that an entry .git is, or that the file .git of a submodule or of a
// worktree leads to, without links in its path.
func Dir(entry string) (string, error) {
	info, err := os.Stat(entry)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return filepath.EvalSymlinks(entry)
	}
	text, err := regular.Read(entry, maxFile, false)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok {
		return "", errors.New("its file .git names no folder")
	}
	return realFrom(filepath.Dir(entry), to)
}

// Common is the folder that all worktrees of the repository with this git folder share: that
// of its configuration. It has no links in its path.
func Common(dir string) (string, error) {
	text, err := regular.Read(filepath.Join(dir, "commondir"), maxFile, false)
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	if err != nil {
		return "", err
	}
	return realFrom(dir, strings.TrimRight(string(text), "\r\n"))
}

// realFrom is a path without links, relative to a folder where it is not absolute.
func realFrom(dir, path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = dir + "/" + path
	}
	return filepath.EvalSymlinks(path)
}
