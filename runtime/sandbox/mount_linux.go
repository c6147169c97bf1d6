package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// System returns the mounts that most programs need: the system's programs and libraries
// and the parts of /etc that toolchains read, all read-only. Private keys among them are
// covered, and so is the home of the person. /etc/passwd and /etc/group are no part of it: every sandbox has its own, which
// know one user.
func System() []Mount {
	var mounts []Mount
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/opt"} {
		mounts = append(mounts, systemMount(dir)...)
	}
	for _, pattern := range []string{
		"/lib*", "/etc/ssl", "/etc/pki", "/etc/crypto-policies", "/etc/ld.so*", "/etc/alternatives",
		"/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf", "/etc/localtime",
	} {
		found, _ := filepath.Glob(pattern) // our own patterns are well formed
		for _, f := range found {
			mounts = append(mounts, systemMount(f)...)
		}
	}
	for _, keys := range []string{"/etc/ssl/private", "/etc/pki/tls/private", "/etc/pki/CA/private"} {
		mounts = append(mounts, Mount{Target: keys, Mode: Covered, Optional: true})
	}
	return append(mounts, coverHome(mounts)...)
}

// coverHome hides the home of the person where it lies in a folder of the system, as that of
// a service may, unless programs are found in it.
func coverHome(system []Mount) []Mount {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return nil
	}
	for _, dir := range strings.Split(strings.TrimPrefix(DefaultEnv()[0], "PATH="), ":") {
		if strings.HasPrefix(dir+"/", home+"/") {
			return nil
		}
	}
	for _, m := range system {
		if m.Mode == ReadOnly && strings.HasPrefix(home, m.Target+"/") {
			return []Mount{{Target: home, Mode: Covered, Optional: true}}
		}
	}
	return nil
}

// systemMount keeps a link that leads to what is there inside too, as /bin -> usr/bin, and
// puts the file in the place of one that does not, as /etc/resolv.conf -> ../run/….
func systemMount(name string) []Mount {
	info, err := os.Lstat(name)
	if err != nil {
		return nil
	}
	source := name
	if info.Mode()&fs.ModeSymlink != 0 {
		link, err := os.Readlink(name)
		if err != nil {
			return nil
		}
		if source, err = filepath.EvalSymlinks(name); err != nil {
			return nil
		}
		if strings.HasPrefix(source, "/usr/") {
			return []Mount{{Source: link, Target: name, Mode: Link}}
		}
	}
	return []Mount{{Source: source, Target: name, Optional: true}}
}

// root is the new root while it is built. Nothing in it is reached by a path of the host.
type root struct {
	fd      int
	own     []uint64 // devices of the file systems made for this run, where targets can be created
	covers  int      // a file system with an empty folder and an empty file, neither readable
	layers  []Held
	rw      []string // targets that may be written, for the second fence
	targets []string // all of them
}

// newFilesystem makes a file system that is mounted nowhere yet.
func newFilesystem(kind string, attributes int, options ...string) (int, error) {
	fd, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("fsopen %s: %w", kind, err)
	}
	defer unix.Close(fd)
	for _, o := range options {
		key, value, set := strings.Cut(o, "=")
		if set {
			err = unix.FsconfigSetString(fd, key, value)
		} else {
			err = unix.FsconfigSetFlag(fd, key)
		}
		if err != nil {
			return -1, fmt.Errorf("fsconfig %s %s: %w", kind, o, err)
		}
	}
	if err := unix.FsconfigCreate(fd); err != nil {
		return -1, fmt.Errorf("making a %s: %w", kind, err)
	}
	mount, err := unix.Fsmount(fd, unix.FSMOUNT_CLOEXEC, attributes)
	if err != nil {
		return -1, fmt.Errorf("fsmount %s: %w", kind, err)
	}
	return mount, nil
}

// newRoot makes the empty root and attaches it somewhere, for pivot_root wants that. What
// it hides there has been opened before.
func newRoot() (*root, error) {
	fd, err := newFilesystem("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, "mode=755", "size=16m", "nr_inodes=20k")
	if err != nil {
		return nil, err
	}
	covers, err := newCovers()
	if err != nil {
		return nil, err
	}
	for _, mount := range []int{covers, fd} {
		if err := unix.MoveMount(mount, "", unix.AT_FDCWD, rootPlace, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return nil, fmt.Errorf("attaching the new root: %w", err)
		}
	}
	r := &root{fd: fd, covers: covers}
	return r, r.adopt(fd)
}

// rootPlace is where the new root is attached while it is built. Every machine has it, and
// nothing below it is a source.
const rootPlace = "/proc"

// newCovers makes what lies over a covered place. It has to be attached to be cloned.
func newCovers() (int, error) {
	fd, err := newFilesystem("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC, "mode=755", "size=64k", "nr_inodes=8")
	if err != nil {
		return -1, err
	}
	if err := unix.Mkdirat(fd, "folder", 0); err != nil {
		return -1, fmt.Errorf("making an empty folder: %w", err)
	}
	if err := unix.Mknodat(fd, "file", unix.S_IFREG, 0); err != nil {
		return -1, fmt.Errorf("making an empty file: %w", err)
	}
	return fd, setAttributes(fd, unix.MOUNT_ATTR_RDONLY)
}

// adopt lets targets be created in a file system.
func (r *root) adopt(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	r.own = append(r.own, st.Dev)
	return nil
}

// isOwn says that a folder lies in a file system of this run, not of the host.
func (r *root) isOwn(fd int) (bool, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return slices.Contains(r.own, st.Dev), err
}

// addFilesystem mounts a new file system of this run's own.
func (r *root) addFilesystem(target, kind string, attributes int, options ...string) error {
	fd, err := newFilesystem(kind, attributes|unix.MOUNT_ATTR_NOSUID, options...)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if kind == "tmpfs" {
		if err := r.adopt(fd); err != nil {
			return err
		}
	}
	return r.attach(fd, Mount{Target: target}, true)
}

// source is a mount of the host, cloned, that is attached nowhere yet.
type source struct {
	tree   int
	folder bool
}

// openSource clones what lies at a canonical path of the host, with the mounts below it.
func openSource(name string) (source, error) {
	fd, err := openCanonical(name)
	if err != nil {
		return source{}, err
	}
	defer unix.Close(fd)
	folder, err := isFolder(fd)
	if err != nil {
		return source{}, err
	}
	tree, err := cloneTree(fd)
	if err != nil {
		return source{}, fmt.Errorf("%q: %w", name, err)
	}
	return source{tree, folder}, nil
}

// cloneTree clones what an open file or folder shows, with the mounts below it.
func cloneTree(fd int) (int, error) {
	tree, err := unix.OpenTree(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("cloning a mount: %w", err)
	}
	return tree, nil
}

func openCanonical(name string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, name, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err == unix.ELOOP {
		err = errLink
	}
	if err != nil {
		return -1, fmt.Errorf("opening %q: %w", name, err)
	}
	return fd, nil
}

// errLink is more of a help than what the kernel says, "too many levels".
var errLink = fmt.Errorf("a symbolic link leads there; mount what it points to: %w", unix.ELOOP)

func isFolder(fd int) (bool, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return st.Mode&unix.S_IFMT == unix.S_IFDIR, err
}

func setAttributes(tree int, attributes uint64) error {
	err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attributes})
	if err != nil {
		return fmt.Errorf("setting the attributes of a mount: %w", err)
	}
	return nil
}

// prepared is a mount whose source has been opened. Its source is open before anything is
// mounted, so that nothing of the new root can hide it.
type prepared struct {
	Mount
	source source
	how    string // of a Layered mount
	absent bool
}

func prepareMounts(mounts []Mount) ([]prepared, error) {
	all := make([]prepared, 0, len(mounts))
	for _, m := range mounts {
		p := prepared{Mount: m}
		if err := p.open(); err != nil {
			if !m.Optional || !isAbsent(err) {
				return nil, &MountError{m, err}
			}
			p.absent = true
		}
		all = append(all, p)
	}
	return all, nil
}

// isAbsent says that nothing is there, or that what should be a folder above is none.
func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }

func (p *prepared) open() (err error) {
	attributes := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
	switch p.Mode {
	case Covered, Link:
		return nil
	case ReadOnly:
		p.source, err = openSource(p.Source)
		attributes |= unix.MOUNT_ATTR_RDONLY
	case ReadWrite:
		p.source, err = openSource(p.Source)
	case Layered:
		p.source, p.how, err = openLayers(p.Source, p.Upper)
	default:
		return fmt.Errorf("there is no %v", p.Mode)
	}
	if err != nil {
		return err
	}
	return setAttributes(p.source.tree, attributes)
}

// openLayers makes an overlay: reads come from lower where upper has nothing newer. Where
// the kernel or the file system of upper cannot do that it is a folder of its own, which
// begins empty.
func openLayers(lower, upper string) (source, string, error) {
	files, work := filepath.Join(upper, "files"), filepath.Join(upper, "work")
	for _, dir := range []string{files, work} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return source{}, "", err
		}
	}
	options := []string{"userxattr"}
	for _, layer := range [][2]string{{"lowerdir", lower}, {"upperdir", files}, {"workdir", work}} {
		fd, err := openCanonical(layer[1])
		if err != nil {
			return source{}, "", err
		}
		defer unix.Close(fd)
		// By descriptor: a path would be split at colons, and could be swapped.
		options = append(options, fmt.Sprintf("%s=/proc/self/fd/%d", layer[0], fd))
	}
	tree, err := newFilesystem("overlay", 0, options...)
	if err == nil {
		return source{tree, true}, "overlay", nil
	}
	alone, openErr := openSource(files)
	how := "a folder of its own, for there is no overlay: " + err.Error()
	return alone, how[:min(len(how), layerBytes-64)], openErr // beside a message's own words
}

// add makes one mount in the new root.
func (r *root) add(p prepared) error {
	if p.absent {
		return nil
	}
	err := r.addOne(p)
	if p.Optional && isAbsent(err) {
		return nil
	}
	if err != nil {
		return &MountError{p.Mount, err}
	}
	return nil
}

func (r *root) addOne(p prepared) error {
	switch p.Mode {
	case Covered:
		return r.cover(p.Mount)
	case Link:
		parent, err := r.folder(path.Dir(p.Target))
		if err != nil {
			return err
		}
		defer unix.Close(parent)
		return unix.Symlinkat(p.Source, parent, path.Base(p.Target))
	case Layered:
		r.layers = append(r.layers, Held{Name: p.Target, How: p.how})
	}
	if p.Mode != ReadOnly {
		r.rw = append(r.rw, p.Target)
	}
	defer unix.Close(p.source.tree)
	return r.attach(p.source.tree, p.Mount, p.source.folder)
}

// pin makes each folder from a writable file system down to dir a mount of its own, which
// shows the same. A mount keeps its own name from being changed inside, and only that:
// without pins the program could rename a folder above it, and put what it likes in its
// place. The root's own file system needs none, for it is read-only in the end.
func (r *root) pin(dir string) error {
	at, err := unix.Openat(r.fd, ".", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { unix.Close(at) }()
	for _, part := range elements(dir) {
		next, err := openBeneath(at, part)
		if err != nil {
			return err
		}
		movable, err := r.movable(next)
		if err == nil && movable {
			err = bindOverItself(next)
		}
		unix.Close(next)
		if err != nil {
			return fmt.Errorf("keeping %q in its place: %w", part, err)
		}
		// Opened anew, for the mount may lie over it now.
		if next, err = openBeneath(at, part); err != nil {
			return err
		}
		unix.Close(at)
		at = next
	}
	return nil
}

// movable says that the program could rename a folder.
func (r *root) movable(fd int) (bool, error) {
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_TYPE, &st); err != nil {
		return false, err
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return false, err
	}
	ofRoot := unix.Mkdev(st.Dev_major, st.Dev_minor) == r.own[0]
	return !ofRoot && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 && fs.Flags&unix.ST_RDONLY == 0, nil
}

func bindOverItself(fd int) error {
	tree, err := cloneTree(fd)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	return move(tree, fd)
}

// cover hides what is at a target. Without capabilities its owner cannot look in, and
// cannot change that, for the cover is mounted read-only.
func (r *root) cover(m Mount) error {
	at, err := r.mountpoint(m, true)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	folder, err := isFolder(at)
	if err != nil {
		return err
	}
	name := "file"
	if folder {
		name = "folder"
	}
	tree, err := unix.OpenTree(r.covers, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("cloning an empty %s: %w", name, err)
	}
	defer unix.Close(tree)
	return move(tree, at)
}

func (r *root) attach(tree int, m Mount, folder bool) error {
	at, err := r.mountpoint(m, folder)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	return move(tree, at)
}

// mountpoint opens the place of a mount, and sees to it that the program cannot move it.
// What an optional cover would hide is not made for it.
func (r *root) mountpoint(m Mount, folder bool) (int, error) {
	at, err := r.place(m.Target, folder, m.Mode != Covered || !m.Optional)
	if err != nil {
		return -1, err
	}
	unix.Close(at)
	if err := r.pin(path.Dir(m.Target)); err != nil {
		return -1, err
	}
	at, err = r.place(m.Target, folder, false)
	if err != nil {
		return -1, err
	}
	if is, err := fileID(at); err != nil || m.Over != (FileID{}) && is != m.Over {
		unix.Close(at)
		return -1, errors.Join(err, errors.New("another file or folder lies there than the one decided about"))
	}
	r.targets = append(r.targets, m.Target)
	return at, nil
}

// FileIDOf returns what lies at a canonical path of the host.
func FileIDOf(name string) (FileID, error) {
	fd, err := openCanonical(name)
	if err != nil {
		return FileID{}, err
	}
	defer unix.Close(fd)
	return fileID(fd)
}

func fileID(fd int) (FileID, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return FileID{st.Dev, st.Ino}, err
}

func move(tree, at int) error {
	err := unix.MoveMount(tree, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("attaching the mount: %w", err)
	}
	return nil
}

// folder opens a folder of the new root, and creates it in a file system of this run.
func (r *root) folder(name string) (int, error) { return r.place(name, true, true) }

// place opens a path of the new root, and may create what is missing of it. It never
// creates anything in a folder of the host, and follows no link.
func (r *root) place(name string, folder, create bool) (int, error) {
	at, err := unix.Openat(r.fd, ".", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	parts := elements(name)
	for i, part := range parts {
		next, err := openBeneath(at, part)
		if err == unix.ENOENT && create {
			next, err = r.create(at, part, folder || i < len(parts)-1)
		}
		unix.Close(at)
		if err != nil {
			return -1, fmt.Errorf("%q: %w", "/"+path.Join(parts[:i+1]...), err)
		}
		at = next
	}
	return at, nil
}

func elements(name string) []string {
	return strings.FieldsFunc(name, func(c rune) bool { return c == '/' })
}

func openBeneath(parent int, name string) (int, error) {
	fd, err := unix.Openat2(parent, name, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH,
	})
	if err == unix.ELOOP {
		err = errLink
	}
	return fd, err
}

func (r *root) create(parent int, name string, folder bool) (int, error) {
	own, err := r.isOwn(parent)
	if err != nil {
		return -1, err
	}
	if !own {
		return -1, unix.ENOENT
	}
	if folder {
		err = unix.Mkdirat(parent, name, 0o755)
	} else {
		err = unix.Mknodat(parent, name, unix.S_IFREG|0o444, 0)
	}
	if err != nil {
		return -1, err
	}
	return openBeneath(parent, name)
}

// enter makes this the root of all threads and lets go of the old one.
func (r *root) enter() error {
	err := unix.MountSetattr(r.fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if err != nil {
		return fmt.Errorf("making the new root read-only: %w", err)
	}
	if err := unix.Fchdir(r.fd); err != nil {
		return fmt.Errorf("entering the new root: %w", err)
	}
	// The old root is put onto the new one and taken off again: pivot_root(2).
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("letting go of the old root: %w", err)
	}
	unix.Close(r.fd)
	unix.Close(r.covers)
	return os.Chdir("/")
}
