package runner

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"
)

// tree is what the survey found.
func (s *survey) tree() tree {
	t := tree{Root: s.root, Made: s.made, Seen: slices.Collect(maps.Keys(s.seen)), Aliases: s.aliases, Repositories: map[string][]string{}}
	for _, r := range s.repositories {
		t.Repositories[r.rel] = slices.Collect(maps.Keys(r.seen))
	}
	return t
}

// surveyOf is a survey that found a tree, to settle what was made since.
func (r *Runner) surveyOf(t tree, d *decided) *survey {
	s := &survey{judge: projectJudge(r.config.Paths, d), root: t.Root, main: r.config.Root, made: t.Made, again: true, aliases: t.Aliases, started: time.Time{}}
	s.seen = namesOf(t.Seen)
	for rel, names := range t.Repositories {
		s.repositories = append(s.repositories, &repository{rel, namesOf(names)})
	}
	slices.SortFunc(s.repositories, func(a, b *repository) int { return cmp.Compare(a.rel, b.rel) })
	return s
}

func namesOf(list []string) map[string]bool {
	all := make(map[string]bool, len(list))
	for _, name := range list {
		all[name] = true
	}
	return all
}

func (s *survey) open() error {
	top, err := os.Open(s.root)
	if err != nil {
		return cannotLook(s.root, err)
	}
	s.top = top
	return nil
}

// changeTime is when a file was last changed, by a time that no program sets.
func changeTime(info fs.FileInfo) syscall.Timespec {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim
	}
	return syscall.Timespec{}
}
