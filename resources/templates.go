package resources

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A file named *.tmpl is a text/template of a file without that ending; one named *.txt
// is copied as it is, without it. The endings keep Go from building what belongs to
// another module. "dot." in front stands for a dot.
//
//go:embed all:templates
var templates embed.FS

// templateLanguages are the folders of templates.
var templateLanguages = []string{"go"}

// Templates returns the files that make a new capability in a language.
func Templates(language string) (fs.FS, error) {
	if !slices.Contains(templateLanguages, language) {
		return nil, fmt.Errorf("no templates for the language %q: there are %s", language, strings.Join(templateLanguages, ", "))
	}
	return fs.Sub(templates, "templates/"+language)
}
