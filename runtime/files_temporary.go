package runtime

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"regexp"

	"golang.org/x/sys/unix"
)

// temporary is a file of ours under a passing name. Its lock is held for as long as
// its writer lives, which is how others know that it is no leftover.
type temporary struct {
	*os.File
	folder *os.File
	name   string // "" once it has its final one
}

var temporaryPattern = regexp.MustCompile(`^\.air-tmp-[0-9a-f]{16}$`)

func temporaryName() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	return ".air-tmp-" + hex.EncodeToString(random[:])
}

func newTemporary(folder *os.File, mode uint32) (*temporary, error) {
	for {
		t, err := openTemporary(folder, temporaryName(), mode)
		if err == unix.EEXIST {
			continue
		}
		if err != nil || !t.swept(unix.Flock(int(t.Fd()), unix.LOCK_EX|unix.LOCK_NB)) {
			return t, err
		}
		t.drop()
	}
}

func openTemporary(folder *os.File, name string, mode uint32) (*temporary, error) {
	fd, err := openIn(folder, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return &temporary{File: os.NewFile(uintptr(fd), name), folder: folder, name: name}, nil
}

// swept reports whether a sweep took the file for a leftover before it was locked.
// Where files cannot be locked, as on some network file systems, nothing is swept.
func (t *temporary) swept(locked error) bool {
	var st unix.Stat_t
	return locked == unix.EWOULDBLOCK || unix.Fstat(int(t.Fd()), &st) == nil && st.Nlink == 0
}

func (t *temporary) fill(content []byte, like *os.File, executable Executable) error {
	if _, err := t.Write(content); err != nil {
		return err
	}
	if like != nil {
		if err := t.resemble(like); err != nil {
			return err
		}
		if err := t.execute(executable); err != nil {
			return err
		}
	}
	return t.Sync()
}

// resemble takes over mode and owner. Set-id bits are not kept: the content is new.
func (t *temporary) resemble(old *os.File) error {
	var want, have unix.Stat_t
	if err := errors.Join(unix.Fstat(int(old.Fd()), &want), unix.Fstat(int(t.Fd()), &have)); err != nil {
		return err
	}
	if want.Uid != have.Uid || want.Gid != have.Gid {
		err := unix.Fchown(int(t.Fd()), int(want.Uid), int(want.Gid))
		if err != nil && os.Geteuid() == 0 {
			return err
		}
	}
	if err := unix.Fchmod(int(t.Fd()), modeOf(&want)&0o777); err != nil {
		return err
	}
	setAttributes(t.File, attributes(old))
	return nil
}

// modeOf are permissions and set-id bits.
func modeOf(st *unix.Stat_t) uint32 { return uint32(st.Mode) & 0o7777 }

// drop closes the file and removes it if it has not got its final name.
func (t *temporary) drop() {
	if t.name != "" {
		_ = unix.Unlinkat(int(t.folder.Fd()), t.name, 0)
	}
	_ = t.Close()
}

// linkNew is renameNew for file systems without such a rename.
func linkNew(folder *os.File, from, to string) error {
	dir := int(folder.Fd())
	if err := unix.Linkat(dir, from, dir, to, 0); err != nil {
		return err
	}
	return unix.Unlinkat(dir, from, 0)
}

// sweepEntries bounds how much of a folder a sweep looks at.
const sweepEntries = 2048

// sweep removes temporary files that a killed process left in the folder: those with
// our form of name, owned by this user, that nobody has locked. It is only tidying;
// what it cannot do is left.
func sweep(folder *os.File) {
	names, _ := folder.Readdirnames(sweepEntries)
	for _, name := range names {
		if temporaryPattern.MatchString(name) {
			sweepOne(folder, name)
		}
	}
}

func sweepOne(folder *os.File, name string) {
	fd, err := openIn(folder, name, unix.O_RDONLY, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || nodeType(&st) != "file" || int(st.Uid) != os.Geteuid() {
		return
	}
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = unix.Unlinkat(int(folder.Fd()), name, 0)
	}
}
