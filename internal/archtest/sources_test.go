package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// source is one Go file of the module and what it imports, whatever its build tags.
type source struct {
	dir, name string
	imports   []string
}

func (f source) test() bool { return strings.HasSuffix(f.name, "_test.go") }

// sources reads the Go files below root that belong to this module.
func sources(root string) ([]source, error) {
	var found []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && skipped(path, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parse(root, path)
		found = append(found, f)
		return err
	})
	return found, err
}

// skipped folders are those that Go skips, and other modules.
func skipped(path, name string) bool {
	if name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func parse(root, path string) (source, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return source{}, err
	}
	relative, err := filepath.Rel(root, path)
	if err != nil {
		return source{}, err
	}
	s := source{dir: filepath.ToSlash(filepath.Dir(relative)), name: filepath.Base(path)}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, err
		}
		s.imports = append(s.imports, imported)
	}
	return s, nil
}
