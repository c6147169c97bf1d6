package gitsource

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// Bounds are limits of what Extract writes at once.
type Bounds struct {
	Files int
	Bytes int64 // of one file
	Total int64 // of all together
}

// file is one entry of a tree.
type file struct {
	mode, object, name string
	size               int64
}

// Extract writes the files of these names, and all files of folders of these names, as
// they were committed: nothing is converted for this machine. Names that the source's
// folder does not have are left out. Links and submodules among them are refused.
func (r *Repository) Extract(ctx context.Context, target *os.Root, b Bounds, names ...string) error {
	files, err := r.tree(ctx, names)
	if err != nil {
		return err
	}
	if len(files) > b.Files {
		return fault.New(fault.InvalidInput, "bad_bundle", "%s has %d files, the limit is %d", r, len(files), b.Files)
	}
	var total int64
	for _, f := range files {
		if err := f.check(r, b.Bytes); err != nil {
			return err
		}
		if total += f.size; total > b.Total {
			return fault.New(fault.InvalidInput, "bad_bundle", "the files in %s have more than %d bytes in all", r, b.Total)
		}
	}
	for _, f := range files {
		if err := r.write(ctx, target, f); err != nil {
			return fault.IO("writing what git has", err)
		}
	}
	return nil
}

// String names the commit, and the folder in it.
func (r *Repository) String() string {
	at := r.Source().Record() + "@" + r.Commit
	return text.Line(at, 500)
}

// Source is where the repository is from.
func (r *Repository) Source() Source { return r.source }

// tree lists entries of the source's folder.
func (r *Repository) tree(ctx context.Context, names []string) ([]file, error) {
	args := append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", "-l", "--full-tree", r.Commit + ":" + r.source.Dir, "--"}, names...)
	out, err := r.list(ctx, args...)
	var failed *fault.Error
	if errors.As(err, &failed) && failed.Code == "git_failed" && r.source.Dir != "" {
		return nil, fault.New(fault.NotFound, "no_folder", "%s has no folder %q at %s", r.source.URL, r.source.Dir, r.source.Asked())
	}
	if err != nil {
		return nil, err
	}
	var files []file
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if entry == "" {
			continue
		}
		f, err := parse(entry)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// parse reads "MODE TYPE OBJECT SIZE\tNAME", of which the size of a submodule is "-".
func parse(entry string) (file, error) {
	facts, name, ok := strings.Cut(entry, "\t")
	words := strings.Fields(facts)
	if !ok || len(words) != 4 {
		return file{}, fault.New(fault.Integrity, "bad_tree", "git lists a file as %q", text.Line(entry, 200))
	}
	f := file{mode: words[0], object: words[2], name: name}
	if words[1] == "blob" {
		var err error
		if f.size, err = strconv.ParseInt(words[3], 10, 64); err != nil {
			return file{}, fault.New(fault.Integrity, "bad_tree", "git lists a file as %q", text.Line(entry, 200))
		}
	}
	return f, nil
}

func (f file) check(r *Repository, limit int64) error {
	name := text.Line(f.name, 200)
	switch {
	case f.mode == "120000":
		return fault.New(fault.InvalidInput, "bad_bundle", "%s is a symbolic link in %s: a bundle has none", name, r)
	case f.mode == "160000":
		return fault.New(fault.InvalidInput, "bad_bundle", "%s is a submodule in %s, and submodules are not fetched", name, r)
	case f.mode != "100644" && f.mode != "100755":
		return fault.New(fault.InvalidInput, "bad_bundle", "%s is no file in %s", name, r)
	case !fs.ValidPath(f.name) || f.size < 0:
		return fault.New(fault.InvalidInput, "bad_bundle", "%q in %s is no name of a file", name, r)
	case f.size > limit:
		return fault.New(fault.InvalidInput, "bad_bundle", "%s in %s has more than %d bytes", name, r, limit)
	}
	return nil
}

// write puts one file where none is.
func (r *Repository) write(ctx context.Context, target *os.Root, f file) (err error) {
	if dir := path.Dir(f.name); dir != "." {
		if err := target.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	w, err := target.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	out := &sized{w: w, left: f.size}
	if err := r.git(ctx, out, "cat-file", "blob", f.object); err != nil {
		return err
	}
	if out.left != 0 {
		return fault.New(fault.Integrity, "bad_tree", "git has %q shorter than it said", text.Line(f.name, 200))
	}
	return nil
}

// sized takes exactly what was announced.
type sized struct {
	w    io.Writer
	left int64
}

func (s *sized) Write(p []byte) (int, error) {
	if int64(len(p)) > s.left {
		return 0, errors.New("more than was announced")
	}
	n, err := s.w.Write(p)
	s.left -= int64(n)
	return n, err
}
