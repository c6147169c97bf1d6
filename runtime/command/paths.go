package command

import (
	"path"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// addPath adds the effect on a path as seen from a folder. The streams of the command
// itself, and what has no content, are free.
func (a *analysis) addPath(e permission.Effect, dir, by string, byName bool) {
	if isFree(e.Target, e.Kind) {
		return
	}
	if e.Target = absolute(dir, e.Target); path.IsAbs(e.Target) { // else its folder is not known, which makes the whole opaque
		a.add(e)
		a.noteUse(e, by, byName)
	}
}

func absolute(dir, name string) string {
	switch {
	case path.IsAbs(name):
		return name
	case name == "", name == ".":
		return dir
	}
	return strings.TrimSuffix(dir, "/") + "/" + strings.TrimPrefix(name, "./")
}

func isFree(name string, kind permission.Kind) bool {
	switch name {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return kind != permission.Delete
	case "/dev/zero", "/dev/random", "/dev/urandom":
		return kind == permission.Read
	}
	fd, ok := strings.CutPrefix(name, "/dev/fd/")
	return ok && isDigits(fd) && kind != permission.Delete
}
