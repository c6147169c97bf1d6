package permission

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// walked is a path without links.
type walked struct {
	path string
	info fs.FileInfo // of what is there, nil when nothing is
	// dangling is true when what is missing was named by a symbolic link: a write
	// would make something appear where the path does not say it.
	dangling bool
	links    []string // each symbolic link on the way, with what of the path came behind it
}

func (w walked) mode() fs.FileMode {
	if w.info == nil {
		return 0
	}
	return w.info.Mode()
}

// walk resolves an absolute path name by name, as the kernel does: a ".." goes up from
// where a link has led, not from where the link is. Behind the last name that exists
// the rest is taken as it is written, where a ".." takes back the name before it: a folder
// of that name, which a command may make first, is no link. With an error it returns the path that it is about.
func walk(path string, followLast bool) (walked, error) {
	w := walker{at: "/", rest: names(path), followLast: followLast}
	for len(w.rest) > 0 {
		reached := filepath.Join(w.at, w.rest[0])
		end, err := w.step()
		if err != nil {
			return walked{path: reached}, err
		}
		if end != nil {
			return *end, nil
		}
	}
	info, err := os.Lstat(w.at)
	if err != nil {
		return walked{path: w.at}, badPath("%.200q: %w", w.at, cause(err))
	}
	return walked{path: w.at, info: info, links: w.via}, nil
}

const maxLinks = 40 // as Linux has it

type walker struct {
	at         string   // resolved so far: an existing path
	rest       []string // names to come
	fromLinks  int      // how many at the head of rest came out of links
	links      int
	via        []string // as walked has them
	followLast bool
}

// step takes one name, and returns the end of the walk when nothing is behind it.
func (w *walker) step() (*walked, error) {
	name, fromLink := w.rest[0], w.fromLinks > 0
	w.rest, w.fromLinks = w.rest[1:], max(0, w.fromLinks-1)
	if name == ".." {
		w.at = filepath.Dir(w.at)
		return nil, nil
	}
	next := filepath.Join(w.at, name)
	info, err := os.Lstat(next)
	switch {
	case err != nil:
		return w.unseen(next, fromLink, err)
	case info.Mode()&fs.ModeSymlink != 0 && (w.followLast || len(w.rest) > 0):
		return nil, w.follow(next)
	case !info.IsDir() && slices.Contains(w.rest, ".."):
		return nil, badPath("%.200q is not a folder: .. behind it leads nowhere", next)
	}
	w.at = next
	return nil, nil
}

// unseen ends a walk where nothing is, or nothing that this user may see.
func (w *walker) unseen(next string, fromLink bool, err error) (*walked, error) {
	missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	if !missing && !errors.Is(err, fs.ErrPermission) {
		return nil, badPath("%.200q: %w", next, cause(err))
	}
	if slices.Contains(w.rest, "..") {
		if !missing || fromLink {
			return nil, badPath("%.200q cannot be looked at: .. behind it leads nowhere", next)
		}
		w.rest = names(filepath.Join(append([]string{filepath.Base(next)}, w.rest...)...))
		w.fromLinks = 0
		return nil, nil
	}
	path := filepath.Join(append([]string{next}, w.rest...)...)
	return &walked{path: path, dangling: missing && fromLink, links: w.via}, nil
}

// follow puts a link's target in front of what is left. The links below /proc/N are
// refused: their text is not where they lead.
func (w *walker) follow(link string) error {
	if strings.HasPrefix(w.at, "/proc/") {
		return refuse(CodeMagicLink, "%.200q is a link into a process", link)
	}
	if w.links++; w.links > maxLinks {
		return badPath("%.200q: more than %d symbolic links", link, maxLinks)
	}
	w.via = append(w.via, filepath.Join(append([]string{link}, w.rest...)...))
	target, err := os.Readlink(link)
	if err != nil {
		return badPath("%.200q: %w", link, cause(err))
	}
	if filepath.IsAbs(target) {
		w.at = "/"
	}
	into := names(target)
	w.rest, w.fromLinks = append(into, w.rest...), w.fromLinks+len(into)
	return nil
}

// names splits a path; empty names and "." say nothing.
func names(path string) []string {
	all := strings.Split(path, "/")
	return slices.DeleteFunc(all, func(name string) bool { return name == "" || name == "." })
}

// cause is the reason without the path, which comes from outside and is quoted apart.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
