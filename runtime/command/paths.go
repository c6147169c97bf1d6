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
	if dir == "" && !path.IsAbs(e.Target) { // which makes the whole opaque, or is asked later
		return
	}
	e.Target = absolute(dir, e.Target)
	a.add(e)
	a.noteUse(e, by, byName)
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
	case "/dev/null":
		return kind != permission.Delete
	case "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2": // which may be a file that is only written
		return kind == permission.Write
	case "/dev/stdin", "/dev/zero", "/dev/random", "/dev/urandom": // which may be a file that is only read
		return kind == permission.Read
	}
	fd, ok := strings.CutPrefix(name, "/dev/fd/")
	return ok && isDigits(fd) && kind == permission.Read
}
