package gitsource

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aircoding/air/internal/fault"
)

// maxTime is for fetching a repository. A context ends it earlier.
const maxTime = 10 * time.Minute

// maxListTime is for listing the files of a fetched commit.
const maxListTime = 30 * time.Second

// Program is the git of this machine.
type Program struct {
	File   string // absolute
	Path   string // PATH for what git starts, such as ssh
	Getenv func(string) string
}

// Repository is one commit of a source, with all its objects, on this machine.
type Repository struct {
	Commit string // the whole name

	program     Program
	source      Source
	dir         string
	maxPack     int64
	maxListTime time.Duration
}

const fetched = "refs/air/fetched"

// Fetch brings the commit of a source into dir, which is empty, and nothing of its history.
func Fetch(ctx context.Context, p Program, dir string, s Source) (*Repository, error) {
	return fetchUpTo(ctx, p, dir, s, maxPack)
}

func fetchUpTo(ctx context.Context, p Program, dir string, s Source, limit int64) (*Repository, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime,
		fault.New(fault.Timeout, "git_time", "fetching %s took more than %s", s.URL, maxTime))
	defer cancel()
	r := &Repository{program: p, source: s, dir: dir, maxPack: limit, maxListTime: maxListTime}
	format := "--object-format=sha1"
	if len(s.Rev) == 64 && s.Pinned() {
		format = "--object-format=sha256"
	}
	if err := r.git(ctx, &full{}, "init", "--quiet", "--bare", "--template=", format, dir); err != nil {
		return nil, err
	}
	if err := r.fetch(ctx); err != nil {
		return nil, err
	}
	commit, err := r.list(ctx, "rev-parse", "--verify", "--quiet", fetched+"^{commit}")
	if err != nil {
		return nil, fault.New(fault.NotFound, "no_revision", "%s at %s is no commit", s.URL, s.Asked())
	}
	r.Commit = strings.TrimSpace(commit)
	if s.Pinned() && r.Commit != s.Rev { // such as the name of an annotated tag
		return nil, fault.New(fault.InvalidInput, "bad_revision", "%s of %s is no commit: that is %s", s.Rev, s.URL, r.Commit)
	}
	return r, nil
}

func (r *Repository) fetch(ctx context.Context) error {
	err := r.git(ctx, &full{}, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--force",
		"--", r.source.remote, r.source.Asked()+":"+fetched)
	var failed *fault.Error
	if !errors.As(err, &failed) || failed.Code != "git_failed" {
		return err
	}
	if r.oversized() {
		return fault.New(fault.ResourceExhausted, "repository_size", "%s at %s has more than %d MiB", r.source.URL, r.source.Asked(), r.maxPack>>20).
			WithHint("clone it yourself, and air install its folder")
	}
	hint := "air asks for no password: a private repository needs an ssh key in an agent, or ~/.netrc for https; git's own configuration is not read"
	if strings.Contains(failed.Message, "couldn't find remote ref") || strings.Contains(failed.Message, "not our ref") {
		hint = "name a branch, a tag, or a commit by all of its digits"
	}
	return fault.New(fault.Unavailable, "git_failed", "fetching %s at %s: %w", r.source.URL, r.source.Asked(), err).WithHint("%s", hint)
}

// oversized reports whether a pack was ended by its limit.
func (r *Repository) oversized() bool {
	packs, _ := filepath.Glob(filepath.Join(r.dir, "objects", "pack", "*")) // the pattern is well formed
	for _, file := range packs {
		if info, err := os.Lstat(file); err == nil && info.Size() >= r.maxPack {
			return true
		}
	}
	return false
}
