// Package scaffold writes the folder of a new capability from templates.
package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/names"
)

// Options say what to write and where.
type Options struct {
	Dir       string // the new folder; nothing may be there yet
	Name      string // of the capability
	Templates fs.FS  // see package resources
	// Check judges the manifest before anything is written; nil accepts it.
	Check func(manifest []byte) error
}

const manifest = "capability.json"

var validName = lazyregexp.New(`^` + names.Capability + `$`)

// New writes the folder and returns the names of its files, sorted. An error leaves
// nothing behind.
func New(o Options) ([]string, error) {
	if !validName.MatchString(o.Name) {
		return nil, fault.New(fault.InvalidInput, "capability_name", "%.80q is no name for a capability", o.Name).
			WithHint("use lower-case letters, digits and hyphens, at most 64, and no hyphen in front")
	}
	files, err := render(o)
	if err != nil {
		return nil, fmt.Errorf("templates of a new capability: %w", err)
	}
	if o.Check != nil {
		if err := o.Check(files[manifest]); err != nil {
			return nil, err
		}
	}
	if err := place(o.Dir, files); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(files)), nil
}

// render returns the new files by their path.
func render(o Options) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(o.Templates, ".", func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(o.Templates, at)
		if err != nil {
			return err
		}
		name, text, err := renderFile(at, text, o)
		files[name] = text
		return err
	})
	return files, err
}

func renderFile(at string, text []byte, o Options) (name string, rendered []byte, err error) {
	name = path.Join(path.Dir(at), hidden(path.Base(at)))
	if verbatim, ok := strings.CutSuffix(name, ".txt"); ok {
		return verbatim, text, nil
	}
	t, err := template.New(at).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return name, nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]string{"Name": o.Name})
	return strings.TrimSuffix(name, ".tmpl"), b.Bytes(), err
}

// hidden turns dot.name into .name.
func hidden(name string) string {
	if rest, ok := strings.CutPrefix(name, "dot."); ok {
		return "." + rest
	}
	return name
}

// place writes the files beside their folder and renames it.
func place(dir string, files map[string][]byte) (err error) {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Conflict, "exists", "%s is there already", dir).WithHint("choose another name, or remove it first")
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".air-new-")
	if err != nil {
		return fault.IO("writing "+dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	staged := filepath.Join(temp, filepath.Base(dir))
	for name, text := range files {
		if err := writeFile(filepath.Join(staged, filepath.FromSlash(name)), text); err != nil {
			return fault.IO("writing "+dir, err)
		}
	}
	if err := os.Rename(staged, dir); err != nil {
		return fault.IO("writing "+dir, err)
	}
	return nil
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
