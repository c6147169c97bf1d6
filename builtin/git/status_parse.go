package git

import (
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// state is what git status says. Paths are relative to the top folder, as bytes.
type state struct {
	branch                                  string // "" where HEAD is at no branch
	unborn                                  bool   // the branch has no commit yet
	staged, modified, untracked, conflicted []string
	renamed                                 []string // the names before
}

func (s state) paths() int {
	return len(s.staged) + len(s.modified) + len(s.untracked) + len(s.conflicted)
}

// parseStatus reads the second porcelain format with NUL,
// https://git-scm.com/docs/git-status#_porcelain_format_version_2
func parseStatus(out []byte) (state, error) {
	var s state
	rest := fields(out)
	for len(rest) > 0 {
		entry := rest[0]
		rest = rest[1:]
		kind, text, _ := strings.Cut(entry, " ")
		switch kind {
		case "#":
			s.header(text)
		case "1":
			s.changed(text, 7)
		case "2":
			if len(rest) == 0 {
				return s, badStatus(entry)
			}
			s.changed(text, 8)
			s.renamed, rest = append(s.renamed, rest[0]), rest[1:]
		case "u":
			s.conflicted = append(s.conflicted, behind(text, 9))
		case "?":
			s.untracked = append(s.untracked, text)
		default:
			return s, badStatus(entry)
		}
	}
	return s, nil
}

func badStatus(entry string) error {
	return fault.New(fault.Internal, "bug", "git status wrote %.100q, which is not understood", entry)
}

func (s *state) header(text string) {
	if name, ok := strings.CutPrefix(text, "branch.head "); ok && name != "(detached)" {
		s.branch = name
	}
	s.unborn = s.unborn || text == "branch.oid (initial)"
}

// changed sorts one entry by its two letters, for the index and for the file.
func (s *state) changed(text string, before int) {
	name := behind(text, before)
	if len(text) < 2 {
		return
	}
	if text[0] != '.' {
		s.staged = append(s.staged, name)
	}
	if text[1] != '.' {
		s.modified = append(s.modified, name)
	}
}

// behind is what is left of a text after some words.
func behind(text string, words int) string {
	for range words {
		_, text, _ = strings.Cut(text, " ")
	}
	return text
}
