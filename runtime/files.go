package runtime

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// files opens the paths that were decided for one call. Every method makes the path
// canonical again, looks whether exactly that was decided, and opens the canonical
// path in a way that fails when any part of it has become a symbolic link since.
type files struct {
	registry  *Registry
	run       *run
	decisions []permission.Decision
}

var _ Files = (*files)(nil)

// Open opens a regular file for reading.
func (f *files) Open(path string) (File, error) {
	e, err := f.decided(permission.Read, path)
	if err != nil {
		return nil, err
	}
	file, err := f.openAgain(e.Target)
	if err != nil {
		return nil, err
	}
	return versioned{file}, nil
}

// openAgain opens a canonical path, again where it was replaced meanwhile: who writes a
// file whole does that.
func (f *files) openAgain(canonical string) (*os.File, error) {
	for tries := 1; ; tries++ {
		file, err := f.open(canonical)
		if tries < openTries && errors.Is(err, errReplaced) {
			continue
		}
		return file, err
	}
}

func (f *files) open(canonical string) (*os.File, error) {
	dir, err := openCanonical(filepath.Dir(canonical), folderFlags)
	if err != nil {
		return nil, f.fault("opening", canonical, err)
	}
	folder := os.NewFile(uintptr(dir), canonical)
	defer folder.Close()
	fd, err := openIn(folder, nameIn(canonical), unix.O_RDONLY, 0)
	if err != nil {
		return nil, f.fault("opening", canonical, err)
	}
	return f.regular(folder, fd, canonical)
}

// regular makes a file of a descriptor that may be anything: a pipe, which was opened
// without waiting for its other end, a device, or one more name of a protected file.
// The number of names counts only while the name that was opened is one of them: a link
// to a protected file that is replaced between open and fstat leaves the file with one.
func (f *files) regular(folder *os.File, fd int, canonical string) (*os.File, error) {
	if err := unix.SetNonblock(fd, false); err != nil {
		return nil, errors.Join(f.fault("opening", canonical, err), unix.Close(fd))
	}
	file := os.NewFile(uintptr(fd), f.show(canonical))
	if err := f.checkRegular(folder, file, canonical); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func (f *files) checkRegular(folder, file *os.File, canonical string) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return f.fault("opening", canonical, err)
	case info.IsDir():
		return fault.New(fault.InvalidInput, "is_a_directory", "%s is a folder, a file is wanted", file.Name()).WithHint("fs.list shows what is in it")
	case !info.Mode().IsRegular():
		return specialFile(file.Name())
	}
	if err := stillNamed(folder, file, canonical, info); err != nil {
		return f.fault("opening", canonical, err)
	}
	return f.registry.config.Paths.CheckLinks(file.Name(), info)
}

func specialFile(shown string) error {
	return fault.New(fault.PermissionDenied, "special_file", "%s is neither a file nor a folder: devices, pipes and sockets are refused", shown)
}

// Stat describes a path, and a symbolic link at its end as a link.
func (f *files) Stat(path string) (Info, error) {
	e, err := f.decided(permission.Read, path)
	if err != nil {
		return Info{}, err
	}
	if link, ok := f.linkName(path); ok && link != e.Target {
		info, err := f.stat(link)
		if err == nil && info.Type == "symlink" {
			info.RealPath, err = f.realPath(e.Target)
			return info, err
		}
	}
	return f.stat(e.Target)
}

// realPath is a canonical path as shown, or "" when nothing is there: the end of a
// dangling link.
func (f *files) realPath(canonical string) (string, error) {
	info, err := f.stat(canonical)
	return info.RealPath, err
}

// linkName is where the last name of a path lies, with the folder above it made
// canonical. A path that ends in a slash or a dot names what a link leads to.
func (f *files) linkName(path string) (string, bool) {
	dir, name := filepath.Split(path)
	if name == "" || name == "." || name == ".." {
		return "", false
	}
	if len(f.run.chain) > 0 { // as resolve does
		dir = filepath.Clean(dir)
	}
	if dir == "" {
		dir = "."
	}
	parent, err := f.registry.config.Paths.Resolve(permission.Effect{Kind: permission.Read, Target: dir})
	if err != nil {
		return "", false
	}
	return filepath.Join(parent.Target, name), true
}

// stat describes the name at a canonical path.
func (f *files) stat(canonical string) (Info, error) {
	folder, err := openFolder(filepath.Dir(canonical))
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return Info{Path: f.show(canonical)}, nil
	}
	if err != nil {
		return Info{}, f.fault("opening", filepath.Dir(canonical), err)
	}
	defer folder.Close()
	return f.describe(folder, canonical)
}

// describe looks at one name in an open folder. A name that is gone is no error.
func (f *files) describe(folder *os.File, canonical string) (Info, error) {
	shown, name := f.show(canonical), nameIn(canonical)
	var st unix.Stat_t
	err := unix.Fstatat(int(folder.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return Info{Path: shown}, nil
	}
	if err != nil {
		return Info{}, f.fault("looking at", canonical, err)
	}
	info := Info{Path: shown, RealPath: shown, Exists: true, Type: nodeType(&st), Size: st.Size, Modified: modified(&st)}
	if info.Type == "symlink" {
		info.RealPath = ""
		if info.Target, err = readLink(folder, name); err != nil {
			return Info{}, f.fault("looking at", canonical, err)
		}
	}
	return info, nil
}

// nameIn is the last name of a canonical path, inside the folder above it.
func nameIn(canonical string) string {
	if canonical == "/" {
		return "."
	}
	return filepath.Base(canonical)
}

// decided makes a path canonical and reports whether this effect was decided.
func (f *files) decided(kind permission.Kind, path string) (permission.Effect, error) {
	e, err := f.registry.resolve(f.run, permission.Effect{Kind: kind, Target: path})
	if err != nil {
		return e, f.run.denial(err)
	}
	return e, f.registry.permits(f.run, f.decisions, e)
}

func (f *files) show(canonical string) string { return f.registry.config.Paths.Show(canonical) }
