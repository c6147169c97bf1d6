package git

import (
	"context"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// resolve is the id of the commit that a text names as git understands it: a branch, a tag,
// an id, HEAD~2.
func (r *repo) resolve(ctx context.Context, named string) (string, error) {
	if named == "" || strings.ContainsAny(named, "\x00\n") || len(named) > 1024 {
		return "", fault.New(fault.InvalidInput, "bad_ref", "%.80q names no commit", named)
	}
	a, err := r.run(ctx, call{whole: true, args: []string{"rev-parse", "--quiet", "--verify", "--end-of-options", named + "^{commit}"}})
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(a.out))
	if a.code != 0 || !isObjectID(id) {
		return "", fault.New(fault.NotFound, "unknown_ref", "%.200q is no commit of the repository", named).
			WithHint("a branch, a tag or an object id is wanted, such as HEAD or main")
	}
	return id, nil
}

// isObjectID reports whether a text is a whole SHA-1 or SHA-256.
func isObjectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// exists reports whether there is a reference of this full name.
func (r *repo) exists(ctx context.Context, ref string) (bool, error) {
	a, err := r.run(ctx, call{whole: true, args: []string{"rev-parse", "--quiet", "--verify", "--end-of-options", ref}})
	return a.code == 0, err
}

// head is the full name of the branch that is checked out, "" for none.
func (r *repo) head(ctx context.Context) (string, error) {
	a, err := r.run(ctx, call{whole: true, args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	if err != nil || a.code != 0 {
		return "", err
	}
	return strings.TrimSuffix(string(a.out), "\n"), nil
}

// branchRef is the full name of a branch.
func branchRef(name string) (string, error) {
	if !isBranchName(name) {
		return "", fault.New(fault.InvalidInput, "bad_branch_name", "%.200q is no name for a branch", name).
			WithHint("words joined by / or -, without blanks, control characters and any of ~^:?*[\\ , as git check-ref-format has it")
	}
	return "refs/heads/" + name, nil
}

// isBranchName keeps to the rules of https://git-scm.com/docs/git-check-ref-format, and to
// those of git branch: no - first, not HEAD.
func isBranchName(name string) bool {
	switch {
	case name == "" || len(name) > 200 || name == "HEAD" || name == "@" || name[0] == '-':
		return false
	case strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".") || strings.ContainsAny(name, " ~^:?*[\\\x7f"):
		return false
	case strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 }):
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}
