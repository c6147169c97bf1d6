// Package home knows where AIR keeps things: ~/.air, the project's folder in it, and
// the project's shared folder. It decides what may be a project at all.
package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aircoding/air/internal/fault"
)

// Home is AIR's own folder of one person.
type Home struct {
	Dir string // ~/.air or $AIR_HOME, absolute

	person string // the person's home folder, "" when unknown
}

// Locate finds the home folder and creates nothing. AIR_HOME comes before HOME. A
// relative value is refused: it would mean another folder in each working folder.
func Locate(getenv func(string) string) (Home, error) {
	person, dir := getenv("HOME"), getenv("AIR_HOME")
	if !filepath.IsAbs(person) {
		person = ""
	}
	switch {
	case dir == "" && person == "":
		return Home{}, fault.New(fault.InvalidInput, "no_home", "no home folder: neither AIR_HOME nor HOME names an absolute path").
			WithHint("set AIR_HOME to a folder where air may keep its files")
	case dir == "":
		dir = filepath.Join(person, ".air")
	case !filepath.IsAbs(dir):
		return Home{}, fault.New(fault.InvalidInput, "relative_home", "AIR_HOME is %.200q: an absolute path is wanted", dir)
	}
	return Home{Dir: filepath.Clean(dir), person: person}, nil
}

// Path returns a path below the home folder.
func (h Home) Path(elem ...string) string {
	return filepath.Join(append([]string{h.Dir}, elem...)...)
}

// MkdirAll makes a folder below the home folder, readable by its owner only.
func (h Home) MkdirAll(elem ...string) (string, error) {
	dir := h.Path(elem...)
	return dir, os.MkdirAll(dir, 0o700)
}

// canonical resolves the links of a path of which the end may not exist yet.
func canonical(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	parent, name := filepath.Split(filepath.Clean(path))
	if parent == path || name == "" {
		return path, nil
	}
	parent, err = canonical(filepath.Clean(parent))
	return filepath.Join(parent, name), err
}
