package home

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/aircoding/air/internal/fault"
)

// refuse says why root must not be a project. What is inside a project may be written
// by tools, so a project must not hold a person's own settings or AIR's (case F23).
func (h Home) refuse(root string) error {
	air, err := canonical(h.Dir)
	if err != nil {
		return err
	}
	var why string
	switch {
	case root == filepath.Dir(root):
		why = "it is the root of the file system"
	case h.isHomeFolder(root):
		why = "it is a home folder"
	case within(air, root):
		why = "it holds air's own folder " + air
	case within(root, air):
		why = "it lies in air's own folder " + air
	default:
		return nil
	}
	return fault.New(fault.InvalidInput, "bad_project_root", "%s cannot be a project: %s", root, why).
		WithHint("use a folder of its own for each project, and remove %s if it is there by mistake", filepath.Join(root, ".air", "shared"))
}

// isHomeFolder also knows the home of the folder's owner: HOME is another one under sudo.
func (h Home) isHomeFolder(root string) bool {
	if h.person != "" {
		if person, err := canonical(h.person); err == nil && person == root {
			return true
		}
	}
	info, err := os.Stat(root)
	if err != nil {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	account, err := user.LookupId(strconv.FormatUint(uint64(owner.Uid), 10))
	if err != nil {
		return false
	}
	real, err := canonical(account.HomeDir)
	return err == nil && real == root
}

// within reports whether the canonical path is dir or lies below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// realDir returns the canonical path of an existing folder.
func realDir(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fault.New(fault.NotFound, "no_folder", "finding the project: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fault.New(fault.NotFound, "no_folder", "finding the project: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fault.New(fault.NotFound, "no_folder", "finding the project: %w", err)
	}
	if !info.IsDir() {
		return "", fault.New(fault.InvalidInput, "no_folder", "finding the project: %s is not a folder", real)
	}
	return real, nil
}

// hasShared reports whether dir, which is canonical, has .air/shared. Links are refused
// there: they would make a project's shared files of whatever they point at. A folder
// of somebody else that cannot be looked into is no project of this person.
func hasShared(dir string) (bool, error) {
	shared := filepath.Join(dir, ".air", "shared")
	info, err := os.Stat(shared)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrPermission):
		return false, nil
	case err != nil:
		return false, badProject("finding the project: %w", err)
	case !info.IsDir():
		return false, nil
	}
	if real, err := filepath.EvalSymlinks(shared); err != nil || real != shared {
		return false, badProject("%s is reached through a symbolic link: a project's shared files lie in the project", shared)
	}
	return true, nil
}
