package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// systemPath are where package managers lie on every machine, whatever PATH says.
var systemPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// soundPath is PATH without what a project brings and what everybody may write: relative
// folders, those of the project, and those that are world-writable or lie below one.
func (d *Doctor) soundPath() []string {
	var sound []string
	for _, dir := range filepath.SplitList(d.getenv("PATH")) {
		if dir = filepath.Clean(dir); d.soundFolder(dir) && !slices.Contains(sound, dir) {
			sound = append(sound, dir)
		}
	}
	return sound
}

func (d *Doctor) soundFolder(dir string) bool {
	if !filepath.IsAbs(dir) || d.inProject(dir) {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || d.inProject(real) {
		return false
	}
	const sticky = os.ModeDir | os.ModeSticky
	for at := real; at != "/"; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil || !info.IsDir() {
			return false
		}
		// In a sticky folder, such as /tmp, nobody replaces the folder of another.
		if everybodyWrites(info) && (at == real || info.Mode()&sticky != sticky) {
			return false
		}
	}
	return true
}

func everybodyWrites(info os.FileInfo) bool { return info.Mode().Perm()&0o002 != 0 }

func (d *Doctor) inProject(path string) bool {
	return d.root != "" && (path == d.root || strings.HasPrefix(path, d.root+"/"))
}

// Program finds a program of this machine as Check does. path is the PATH of such programs,
// for those that it starts. file is empty where there is none.
func (d *Doctor) Program(name string) (file, path string) {
	sound := d.soundPath()
	return d.program(name, sound), strings.Join(sound, string(filepath.ListSeparator))
}

// program is the path of a program in one of the folders, "" for none. A link that leads
// out of sound folders is none.
func (d *Doctor) program(name string, folders []string) string {
	for _, dir := range folders {
		path := filepath.Join(dir, name)
		if d.soundProgram(path) {
			return path
		}
	}
	return ""
}

func (d *Doctor) soundProgram(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() || everybodyWrites(info) {
		return false
	}
	return unix.Access(path, unix.X_OK) == nil && d.soundFolder(filepath.Dir(real))
}

// manager is the path of a program of a package manager.
func (l *look) manager(name string) string { return l.program(name, l.managerPath()) }

func (l *look) managerPath() []string { return append(slices.Clone(l.path), systemPath...) }
