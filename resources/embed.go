// Package resources holds the documents that are built into air: the manifests of the
// built-in capabilities and the JSON Schemas of AIR's own files.
package resources

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed capabilities/*.json schemas/*.json
var files embed.FS

// Capabilities returns the manifests of the built-in capabilities, by file name.
func Capabilities() (map[string][]byte, error) {
	names, err := fs.Glob(files, "capabilities/*.json")
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, name := range names {
		if all[path.Base(name)], err = files.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Schema returns the JSON Schema of one kind of document: capability, capabilities,
// capability-lock or permissions.
func Schema(kind string) ([]byte, error) {
	return files.ReadFile("schemas/" + kind + ".schema.json")
}
