package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/runtime/sandbox"
)

// maxLinked bounds how many files with other names are looked up, at up to a second each;
// what is beyond is hidden unseen.
const maxLinked = 16

// linked is a file with several names.
type linked struct {
	names   []string // those in the survey's folder without a mount, relative to it
	count   int      // all that it has
	known   int      // all that were found
	guarded bool
	mode    sandbox.Mode // the strictest that one of its names has
}

// noteLinks notes a file that has other names.
func (s *survey) noteLinks(dir int, rel, name string, mode sandbox.Mode, guarded bool) error {
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return cannotLook(filepath.Join(s.root, rel), err)
	}
	if st.Nlink < 2 {
		return nil
	}
	l := s.links[idOf(&st)]
	if l == nil {
		l = &linked{count: int(st.Nlink)}
		s.links[idOf(&st)] = l
	}
	l.known++
	switch {
	case !guarded:
		l.names = append(l.names, rel)
	case !l.guarded || mode == sandbox.Covered:
		l.guarded, l.mode = true, mode
	}
	return nil
}

// checkLinks guards the other names of what is guarded, and hides a name of a file that has
// one among the person's credentials, or may have one.
func (s *survey) checkLinks() error {
	if err := s.findSkipped(); err != nil {
		return err
	}
	looked := 0
	for _, l := range s.links {
		if !l.guarded && l.known < l.count && len(l.names) > 0 {
			looked++
			l.guarded, l.mode = looked > maxLinked || s.isSecret(l.names[0]), sandbox.Covered
		}
		if !l.guarded || s.fixed && l.mode == sandbox.ReadOnly {
			continue
		}
		for _, name := range l.names {
			if err := s.add(int(s.top.Fd()), name, name, l.mode); err != nil {
				return err
			}
		}
	}
	return nil
}

// isSecret reports whether a file is another name of a protected one, or may be one.
func (s *survey) isSecret(rel string) bool {
	path := filepath.Join(s.root, rel)
	info, err := os.Lstat(path)
	return err != nil || s.paths.CheckLinks(path, info) != nil
}

// findSkipped looks for more names of guarded files where the walk did not go.
func (s *survey) findSkipped() error {
	missing := false
	for _, l := range s.links {
		missing = missing || l.guarded && l.known < l.count
	}
	if !missing {
		return nil
	}
	rest, looked := s.skipped, 0
	for len(rest) > 0 {
		rel := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		more, err := s.skippedFolder(rel)
		if err != nil {
			return err
		}
		rest = append(rest, more...)
		if looked++; looked > maxFolders {
			return tooManyFolders(s.root)
		}
	}
	return nil
}

func (s *survey) skippedFolder(rel string) (more []string, err error) {
	f, err := openBelow(s.top, rel)
	if isGone(err) {
		return nil, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, s.cover(rel)
	}
	if err != nil {
		return nil, cannotLook(filepath.Join(s.root, rel), err)
	}
	defer f.Close()
	err = eachName(f, func(entry fs.DirEntry) error {
		switch name := entry.Name(); {
		case entry.IsDir():
			more = append(more, filepath.Join(rel, name))
		case entry.Type().IsRegular():
			return s.noteLinks(int(f.Fd()), filepath.Join(rel, name), name, 0, false)
		}
		return nil
	})
	return more, err
}
