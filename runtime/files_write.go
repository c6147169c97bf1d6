package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/permission"
)

// Write creates or replaces a file as a whole: a temporary file in the same folder,
// fsync, a record by which it can be undone, rename. Everything happens through the
// descriptor of that folder, and a name is replaced, never what a link of that name
// leads to.
func (f *files) Write(ctx context.Context, path string, content []byte, options WriteOptions) (_ Written, err error) {
	e, err := f.decided(permission.Write, path)
	if err != nil {
		return Written{}, err
	}
	if strings.HasSuffix(path, "/") || e.Target == "/" {
		return Written{}, fault.New(fault.InvalidInput, "is_a_directory", "%s names a folder, a file is wanted", f.show(e.Target))
	}
	if err := f.registry.spend(f.run, int64(len(content))); err != nil {
		return Written{}, err
	}
	folder, made, err := f.writeFolder(e.Target, options)
	defer func() {
		if err != nil {
			f.registry.unspend(f.run, int64(len(content)))
			unmake(made)
		}
	}()
	if err != nil {
		return Written{}, err
	}
	w := newWrite(f, e.Target)
	w.folder, w.made, w.expect = folder, made, strings.ToLower(options.ExpectSHA256)
	return w.do(ctx, e.Kind, content)
}

func (f *files) writeFolder(target string, options WriteOptions) (*os.File, []string, error) {
	dir := filepath.Dir(target)
	if options.Parents {
		folder, made, err := makeFolder(dir)
		if err != nil {
			return nil, made, f.fault("making folder", dir, err)
		}
		return folder, made, nil
	}
	folder, err := openFolder(dir)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil, fault.New(fault.NotFound, "no_parent", "writing %s: the folder %s does not exist", f.show(target), f.show(dir)).
			WithHint("create_parent_dirs makes it")
	}
	if err != nil {
		return nil, nil, f.fault("opening", dir, err)
	}
	return folder, nil, nil
}

// write is one file being written into an open folder.
type write struct {
	files    *files
	folder   *os.File
	made     []string      // folders that were made for it, outermost first
	target   string        // canonical
	name     string        // in the folder
	expect   string        // hex digest of the content to replace, or ""
	sha256   string        // hex, of the new content
	number   int           // of its record in the journal; set by add, as the two below
	before   *backup.State // what it replaces, nil for nothing
	withdraw func()        // has the journal say that it did not happen
}

func newWrite(f *files, target string) *write {
	return &write{files: f, target: target, name: filepath.Base(target), withdraw: func() {}}
}

func (w *write) do(ctx context.Context, kind permission.Kind, content []byte) (written Written, err error) {
	a := &apply{files: w.files}
	defer a.close()
	s := a.step(w)
	if err := a.enter(ctx, s); err != nil {
		return Written{}, err
	}
	backupID, err := s.stageWrite(ctx, kind, content)
	if err == nil {
		err = a.happen(ctx)
	}
	return Written{Path: w.files.show(w.target), SHA256: w.sha256, BackupArtifactID: backupID}, err
}

// stageWrite readies everything, and returns the artifact that has the old content.
func (s *applyStep) stageWrite(ctx context.Context, kind permission.Kind, content []byte) (backupID string, err error) {
	if kind == permission.Create {
		if s.expect != "" {
			return "", s.stale("there is no file")
		}
		if err := s.stage(content, nil, AsItWas); err != nil {
			return "", err
		}
		return "", s.describe("")
	}
	if err := s.openExpected(ctx); err != nil {
		return "", err
	}
	if err := s.stage(content, s.old, AsItWas); err != nil {
		return "", err
	}
	kept, err := s.backUp(ctx, s.old)
	if err != nil {
		return "", err
	}
	return kept.ID, s.describe(kept.SHA256)
}

// openOld opens the file that is to be replaced, for its backup and its digest.
func (w *write) openOld() (*os.File, error) {
	fd, err := openIn(w.folder, w.name, unix.O_RDONLY, 0)
	if err == unix.ENOENT {
		return nil, w.stale("it is gone")
	}
	if err != nil {
		return nil, w.files.fault("opening", w.target, err)
	}
	return w.files.regular(w.folder, fd, w.target)
}

func (w *write) checkExpected(ctx context.Context, old *os.File) error {
	if w.expect == "" {
		return nil
	}
	sum, err := digest(ctx, old)
	if err != nil {
		return w.files.fault("reading", w.target, err)
	}
	if sum != w.expect {
		return w.stale("its sha256 is another") // which, whoever may read it can see
	}
	return nil
}

// unchanged refuses to replace a file that is not, or no longer, the one backed up.
func (w *write) unchanged(before *unix.Stat_t) error {
	var now unix.Stat_t
	if err := unix.Fstatat(int(w.folder.Fd()), w.name, &now, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return w.files.fault("looking at", w.target, err)
	}
	if !sameFile(before, &now) {
		return w.stale("it changed meanwhile")
	}
	return nil
}

// sameFile reports whether two looks at a file saw no difference. Who changes a file can set
// its time: that its content is the same is for who compares that.
func sameFile(before, now *unix.Stat_t) bool {
	return now.Dev == before.Dev && now.Ino == before.Ino && now.Size == before.Size && now.Mtim == before.Mtim &&
		now.Mode == before.Mode && now.Uid == before.Uid && now.Gid == before.Gid
}

func (w *write) stale(why string) error {
	return fault.New(fault.Conflict, "stale", "%s is not the file that was to be replaced: %s", w.files.show(w.target), why).
		WithHint("read it again, then write")
}
