package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime/permission"
)

// trial is an engine with the rules that apply here, changed by change, and without the
// stored grants: what is granted to it is stored nowhere.
func (a *app) trial(at place, paths *permission.Paths, change func(*permission.Options)) (*permission.Engine, error) {
	before := a.tryRules
	defer func() { a.tryRules = before }()
	a.tryRules = func(o *permission.Options) {
		o.GrantsFile = ""
		if change != nil {
			change(o)
		}
	}
	return a.permissions(at, paths)
}

// grantText is the smallest EFFECT(PATTERN) that covers an effect: exactly its target, and
// of a folder that is read with all in it, all in it. It is not ok where the target has
// characters that no grant may have.
func grantText(paths *permission.Paths, e *permission.Effect) (text string, ok bool) {
	pattern := e.Target
	switch {
	case e.Kind.IsPath():
		pattern = literalPattern(paths.Show(e.Target))
		if e.Recursive {
			pattern = strings.TrimPrefix(strings.TrimSuffix(pattern, "/")+"/**", "./")
		}
	case e.Kind != permission.Run && e.Kind != permission.Net: // those are patterns of themselves alone
		pattern = literalPattern(pattern)
	}
	return fmt.Sprintf("%s(%s)", e.Kind, pattern), permission.Printable(pattern) == pattern
}

// literalPattern is the pattern that matches exactly the text.
func literalPattern(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(`*?[]{}\`, text[i]) >= 0 || i == 0 && text[i] == '~' {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// maxScript is the most that a script has to which a grant is bound.
const maxScript = 16 << 20

// scriptDigest is the hex digest of a script of the project, as it is now.
func scriptDigest(paths *permission.Paths, file string) (string, error) {
	e, err := paths.Resolve(permission.Effect{Kind: permission.Read, Target: file})
	if err != nil {
		return "", err
	}
	if filepath.IsAbs(paths.Show(e.Target)) && e.Class != permission.ClassProject {
		return "", fault.New(fault.InvalidInput, "not_in_project", "%.200q is no file of the project: grants are bound to the content of those alone", file)
	}
	content, err := regular.Read(e.Target, maxScript, false)
	if err != nil {
		return "", fault.New(fault.InvalidInput, "input_file", "reading the script: %w", err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

// temporary is a file with a text in a folder that remove takes away.
func temporary(text []byte) (file string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "air-rules-*")
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(dir, "permissions.yaml")
	return file, func() { _ = os.RemoveAll(dir) }, os.WriteFile(file, text, 0o600)
}
