package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/runtime/permission"
)

// clockTick is more than the kernel's clock for the times of files may be behind.
const clockTick = 50 * time.Millisecond

// withhold renames what a run made in the folder though it is guarded, and was not decided
// about: all that others obey, repositories that are more than git makes of itself, and at
// the top secrets as well. It looks only into folders that changed since the run began, by a
// time that nothing inside can set, and goes on after an error. Where a run made more than
// can be looked through, that is withheld as a whole.
func (s *survey) withhold(id string) (o outcome) {
	if s.outside {
		return o
	}
	defer opened(s.top)()
	found := s.retry
	if len(found) == 0 {
		a := s.appeared()
		found, o.accepted, o.err = slices.Concat(a.found, a.beyond), a.accepted, errors.Join(a.failed...)
	}
	for _, rel := range found {
		switch err := s.rename(rel, withheldMark+id); {
		case isGone(err):
		case err != nil:
			o.stuck, o.err = append(o.stuck, rel), errors.Join(o.err, fmt.Errorf("renaming %q, which a command made: %w", rel, err))
		default:
			o.renamed = append(o.renamed, rel)
		}
	}
	return o
}

// appearance is a walk through what may be new.
type appearance struct {
	*survey
	known    map[string]bool
	rest     []changed
	found    []string // what has to be withheld
	accepted []string
	beyond   []string // new things that hold more than the bounds allow
	folders  int      // of the whole root
	guards   int
	failed   []error
}

// changed is a folder to look into.
type changed struct {
	rel    string
	origin string // the new folder above it that lies in one that was there, "" for none
	// downloaded marks one that a package manager filled: only repositories count in it.
	downloaded bool
}

// appeared looks at the top first, then at repositories, then at all else.
func (s *survey) appeared() *appearance {
	a := &appearance{survey: s, known: make(map[string]bool, len(s.folders)+len(s.skipped)), folders: len(s.folders), guards: len(s.guards)}
	for _, f := range s.folders {
		a.known[f.rel] = true
	}
	looks := !s.fixed && !s.decided.whole
	if looks {
		a.look(changed{rel: "."})
	}
	inside, err := s.newInRepositories()
	a.found, a.failed = append(a.found, inside...), append(a.failed, err)
	if !looks {
		return a
	}
	for _, rel := range s.skipped {
		a.known[rel] = true
		if isDownloaded(filepath.Base(rel)) {
			a.rest = append(a.rest, changed{rel: rel, downloaded: true})
		}
	}
	for _, f := range s.folders {
		if f.rel != "." && s.hasChanged(f) {
			a.rest = append(a.rest, changed{rel: f.rel})
		}
	}
	for len(a.rest) > 0 {
		at := a.rest[len(a.rest)-1]
		a.rest = a.rest[:len(a.rest)-1]
		if at.origin == "" || !slices.Contains(a.beyond, at.origin) {
			a.look(at)
		}
	}
	return a
}

// hasChanged reports whether names in a folder may have come or gone since it was looked
// through.
func (s *survey) hasChanged(f folder) bool {
	var st unix.Stat_t
	look := s.stat
	if len(f.rel) <= maxStep { // a link that has come on the way has changed the folder that it is in
		look = func(rel string, st *unix.Stat_t) error {
			return unix.Fstatat(int(s.top.Fd()), rel, st, unix.AT_SYMLINK_NOFOLLOW)
		}
	}
	if err := look(f.rel, &st); err != nil {
		return !isGone(err)
	}
	return st.Ctim != f.changed || s.isRecent(f.changed)
}

// isRecent reports whether a time is not before the run.
func (s *survey) isRecent(at unix.Timespec) bool {
	return time.Unix(at.Unix()).After(s.started.Add(-clockTick))
}

// look goes through the names in one folder.
func (a *appearance) look(at changed) {
	f, err := a.openClosed(at.rel)
	if err != nil {
		if !isGone(err) && !errors.Is(err, errForeign) {
			a.failed = append(a.failed, cannotLook(filepath.Join(a.root, at.rel), err))
		}
		return
	}
	defer f.Close()
	if at.origin != "" && !at.downloaded {
		a.folders++
	}
	parts := parts{}
	err = eachName(f, func(entry fs.DirEntry) error {
		parts.note(entry.Name())
		a.name(int(f.Fd()), at, entry)
		if at.origin != "" && (a.folders+len(a.rest) > maxFolders || a.guards > maxGuards) {
			a.tooMuch(at.origin)
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		a.failed = append(a.failed, err)
	}
	head := filepath.Join(at.rel, "HEAD")
	if parts.complete() && !a.isRepository(at.rel) && !a.decided.writesIn(filepath.Join(a.root, head)) && !a.isHarmlessFolder(at.rel) {
		a.found = append(a.found, head)
	}
}

// tooMuch gives up on a new folder that holds more than can be looked through.
func (a *appearance) tooMuch(origin string) {
	a.beyond = append(a.beyond, origin)
	a.folders, a.guards = len(a.survey.folders), len(a.survey.guards)
	a.rest = slices.DeleteFunc(a.rest, func(c changed) bool { return c.origin == origin })
}

// name looks at one name in a folder.
func (a *appearance) name(dir int, at changed, entry fs.DirEntry) {
	name := entry.Name()
	rel := filepath.Join(at.rel, name)
	next := changed{rel, at.origin, at.downloaded}
	if next.origin == "" {
		next.origin = rel
	}
	switch {
	case a.seen[rel] || a.isAlias(rel):
		if a.again && entry.IsDir() && !permission.IsRepository(name) {
			a.rest = append(a.rest, next)
		}
	case permission.IsRepository(name):
		if !a.mayAppear(rel, at.downloaded) {
			a.found = append(a.found, rel)
		}
	case at.downloaded:
		if entry.IsDir() && !isWithheld(name) && (a.changedIn(dir, name) || strings.HasPrefix(name, "@")) {
			a.rest = append(a.rest, next)
		}
	case a.isNew(rel, name):
	case entry.IsDir() && !a.known[rel] && !isWithheld(name):
		next.downloaded = isDownloaded(name)
		a.rest = append(a.rest, next)
	}
}

func (a *appearance) changedIn(dir int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && a.isRecent(st.Ctim)
}

// isAlias reports whether a name is a link that was there before and says the same.
func (s *survey) isAlias(rel string) bool {
	said, ok := s.aliases[rel]
	return ok && s.link(rel) == said
}

// mayAppear reports whether a repository may be there that was not there before.
func (s *survey) mayAppear(rel string, downloaded bool) bool {
	return s.decided.writesIn(filepath.Join(s.root, rel)) || (downloaded || s.decided.makesRepository()) && s.isHarmless(rel)
}

// isNew reports whether a name that was not there before is guarded and was not decided
// about, and notes it.
func (a *appearance) isNew(rel, name string) bool {
	if !permission.MayBeGuarded(name) || a.made {
		return false
	}
	path := filepath.Join(a.root, rel)
	if _, guarded := a.guarded(path); !guarded {
		return false
	}
	a.guards++
	if a.decided.writesIn(path) || slices.Contains(a.decided.accepted, path) {
		return false
	}
	above := filepath.Dir(rel)
	switch {
	case above == "." || filepath.Dir(above) == "." && !a.guardsName(rel, name):
		a.found = append(a.found, rel)
	case a.class(path, permission.Overwrite) != permission.ClassObeyed || isForeign(rel) || a.decided.unpacks(path):
		return false
	case a.decided.git:
		a.accepted = append(a.accepted, path)
	default:
		a.found = append(a.found, rel)
	}
	return true
}

// guardsName reports whether a path is guarded for its last name alone, wherever it lies.
func (s *survey) guardsName(rel, name string) bool {
	_, guarded := s.guarded(filepath.Join(s.root, name))
	return guarded && filepath.Dir(rel) != "."
}

// isForeign reports whether a path lies in a folder for what others wrote: tools that fetch
// it bring the settings of editors and the workflows along.
func isForeign(rel string) bool {
	return slices.ContainsFunc(strings.Split(filepath.Dir(rel), "/"), func(name string) bool {
		return slices.Contains([]string{"vendor", "third_party", "_deps", "target", "build"}, name)
	})
}

// parts are the names by which git takes a folder for a repository.
type parts struct{ head, objects, refs, commondir bool }

func (p *parts) note(name string) {
	switch name {
	case "HEAD":
		p.head = true
	case "objects":
		p.objects = true
	case "refs":
		p.refs = true
	case "commondir":
		p.commondir = true
	}
}

func (p parts) complete() bool { return p.head && (p.objects && p.refs || p.commondir) }
