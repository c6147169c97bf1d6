package interpret

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"mvdan.cc/sh/v3/interp"
)

// open opens the file of a redirection, after the host was asked about the very file that is
// opened then: the path is followed through links first, and none is followed after.
func (s *shell) open(ctx context.Context, name string, flag int, _ fs.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	if name == "" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNoFile}
	}
	file := inFolder(hc.Dir, name)
	if stream, ok := streamNames[path.Clean(file)]; ok {
		return s.reopen(hc, stream, flag)
	}
	if path.Clean(file) == os.DevNull {
		return os.OpenFile(os.DevNull, flag&^os.O_TRUNC, 0)
	}
	file, err := followed(file)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	access := flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR)
	if err := s.ask(question{Dir: []byte(hc.Dir), Path: []byte(file), Reading: access != os.O_WRONLY, Writing: access != os.O_RDONLY}, nil); err != nil {
		return nil, err
	}
	f, err := openExactly(file, flag)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

// streamNames are paths that name a stream of the command that opens them.
var streamNames = map[string]int{
	"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/0": 0, "/dev/fd/1": 1, "/dev/fd/2": 2,
	"/proc/self/fd/0": 0, "/proc/self/fd/1": 1, "/proc/self/fd/2": 2,
}

// reopen is a stream of the command itself. It is read or written only as it is already.
func (s *shell) reopen(hc interp.HandlerContext, stream, flag int) (io.ReadWriteCloser, error) {
	reads := flag&(os.O_WRONLY|os.O_RDWR) == 0
	var f any = hc.Stdin
	switch {
	case reads != (stream == 0):
		return nil, s.unsupported("reading or writing the stream %d by its name in the other direction", stream)
	case stream == 1:
		f = hc.Stdout
	case stream == 2:
		f = hc.Stderr
	}
	if f, ok := f.(*os.File); ok && f != nil {
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: f.Name(), Err: err}
		}
		return os.NewFile(uintptr(fd), f.Name()), nil
	}
	if w, ok := f.(io.Writer); ok && !reads {
		return sharedFile{sharedWriter{s, w}}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: "/dev/stdin", Err: fs.ErrNotExist}
}

type sharedFile struct{ sharedWriter }

func (sharedFile) Read([]byte) (int, error) { return 0, io.EOF }
func (sharedFile) Close() error             { return nil }

// maxLinks is how many links a path may lead through, as systems limit it.
const maxLinks = 40

var errLinks = errors.New("too many levels of symbolic links")

// followed is the file that a path leads to, without links in it. What does not exist is as
// it is named.
func followed(name string) (string, error) {
	done, rest := "", strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			done = done[:max(0, strings.LastIndexByte(done, '/'))]
			continue
		}
		to, err := os.Readlink(done + "/" + part)
		if err != nil {
			done += "/" + part
			continue
		}
		if links++; links > maxLinks {
			return "", errLinks
		}
		if path.IsAbs(to) {
			done = ""
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	if done == "" {
		done = "/"
	}
	return done, nil
}

// list lists the names that a pattern may match. The names in the project need no question,
// as each command that works there sees them; neither do those of folders that every
// program sees, which hold what is installed. A folder elsewhere is read as by ls. Whether a
// file exists, as test asks it, is never a question: inside there is no more than the
// programs see that were decided.
func (s *shell) list(ctx context.Context, name string) ([]fs.DirEntry, error) {
	folder, err := followed(inFolder(interp.HandlerCtx(ctx).Dir, name))
	if err != nil {
		return nil, err
	}
	if !s.openToAll(folder) {
		if _, err := os.Lstat(folder); err != nil { // a pattern that matches nothing
			return nil, err
		}
		if err := s.ask(question{Dir: []byte(folder), Path: []byte(folder), Reading: true}, nil); err != nil {
			return nil, err
		}
	}
	return os.ReadDir(folder)
}

func (s *shell) openToAll(folder string) bool {
	for _, top := range []string{s.root, "/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt"} {
		if top != "" && (folder == top || strings.HasPrefix(folder, strings.TrimSuffix(top, "/")+"/")) {
			return !strings.Contains(folder+"/", "/.git/")
		}
	}
	return folder == "/"
}
