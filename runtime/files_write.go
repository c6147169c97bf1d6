package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/artifact"
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
	defer folder.Close()
	w := &write{files: f, folder: folder, made: made, target: e.Target, name: filepath.Base(e.Target), expect: strings.ToLower(options.ExpectSHA256)}
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
	made     []string // folders that were made for it, outermost first
	target   string   // canonical
	name     string   // in the folder
	expect   string   // hex digest of the content to replace, or ""
	sha256   string   // hex, of the new content
	number   int      // of its record in the journal; set by keep
	withdraw func()   // has the journal say that it did not happen; set by keep
}

func (w *write) do(ctx context.Context, kind permission.Kind, content []byte) (Written, error) {
	sum := sha256.Sum256(content)
	w.sha256 = hex.EncodeToString(sum[:])
	written := Written{Path: w.files.show(w.target), SHA256: w.sha256}
	sweep(w.folder)
	if kind == permission.Create {
		if w.expect != "" {
			return Written{}, w.stale("there is no file")
		}
		return written, w.create(ctx, content)
	}
	old, err := w.openOld()
	if err != nil {
		return Written{}, err
	}
	defer old.Close()
	written.BackupArtifactID, err = w.replace(ctx, old, content)
	return written, err
}

func (w *write) create(ctx context.Context, content []byte) error {
	temp, err := w.stage(ctx, content, nil)
	if err != nil {
		return err
	}
	defer temp.drop()
	change, err := w.change(temp)
	if err == nil {
		err = w.keep(ctx, "", change, nil)
	}
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return w.withdrawn(context.Cause(ctx))
	}
	return w.publish(temp, renameNew(w.folder, temp.name, w.name))
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

func (w *write) replace(ctx context.Context, old *os.File, content []byte) (backupID string, err error) {
	var before unix.Stat_t
	if err := unix.Fstat(int(old.Fd()), &before); err != nil {
		return "", w.files.fault("looking at", w.target, err)
	}
	if err := w.checkExpected(ctx, old); err != nil {
		return "", err
	}
	temp, err := w.stage(ctx, content, old)
	if err != nil {
		return "", err
	}
	defer temp.drop()
	kept, err := w.backUp(ctx, old)
	if err != nil {
		return "", err
	}
	change, err := w.change(temp)
	if err == nil {
		change.Before, err = w.state(old, kept.SHA256)
	}
	if err == nil {
		err = w.keep(ctx, "", change, old)
	}
	if err != nil {
		return kept.ID, err
	}
	if err := ctx.Err(); err != nil {
		return kept.ID, w.withdrawn(context.Cause(ctx))
	}
	if err := w.unchanged(&before); err != nil {
		return kept.ID, w.withdrawn(err)
	}
	dir := int(w.folder.Fd())
	return kept.ID, w.publish(temp, unix.Renameat(dir, temp.name, dir, w.name))
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

// backUp keeps the old content. The artifact belongs to no capability: one that may
// only write a file does not get to read it this way.
func (w *write) backUp(ctx context.Context, old *os.File) (artifact.Record, error) {
	shown := w.files.show(w.target)
	metadata, err := json.Marshal(map[string]string{"path": shown})
	if err != nil {
		return artifact.Record{}, err
	}
	meta := artifact.New{Type: "backup", Name: w.name, MediaType: "application/octet-stream", EntityType: "file", EntityID: shown, Metadata: metadata}
	record, err := w.files.registry.createArtifact(ctx, w.files.run, meta, whole(old))
	if err != nil {
		return record, noBackup(shown, err)
	}
	return record, nil
}

// change is what the journal says of the write, but for the file that it replaces.
func (w *write) change(temp *temporary) (backup.Change, error) {
	after, err := w.state(temp.File, w.sha256)
	return backup.Change{Path: backup.Path(w.target), Made: foldersAt(w.made), After: after}, err
}

// state describes an open regular file whose content has the digest.
func (w *write) state(file *os.File, sha256 string) (*backup.State, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return nil, w.files.fault("looking at", w.target, err)
	}
	return &backup.State{
		SHA256: sha256, Size: st.Size, Mode: modeOf(&st), UID: st.Uid, GID: st.Gid, Attributes: attributes(file),
	}, nil
}

func noBackup(shown string, err error) error {
	e := fault.From(fileFault("backing up "+shown, err))
	if e.Code == "artifact_size" {
		e = e.WithHint("a file of this size is not backed up, and so not replaced: a person can move it away")
	}
	return e
}

// unchanged refuses to replace a file that is not, or no longer, the one backed up.
func (w *write) unchanged(before *unix.Stat_t) error {
	var now unix.Stat_t
	if err := unix.Fstatat(int(w.folder.Fd()), w.name, &now, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return w.files.fault("looking at", w.target, err)
	}
	if now.Dev != before.Dev || now.Ino != before.Ino || now.Size != before.Size || now.Mtim != before.Mtim {
		return w.stale("it changed meanwhile")
	}
	return nil
}

func (w *write) stale(why string) error {
	return fault.New(fault.Conflict, "stale", "%s is not the file that was to be replaced: %s", w.files.show(w.target), why).
		WithHint("read it again, then write")
}

// publish ends a write: renamed is the outcome of giving the temporary file its name.
func (w *write) publish(t *temporary, renamed error) error {
	if renamed != nil {
		return w.withdrawn(w.files.fault("writing", w.target, renamed))
	}
	t.name = ""
	if err := syncFolder(w.folder); err != nil {
		return w.files.fault("syncing", filepath.Dir(w.target), err)
	}
	return nil
}

// stage writes the content to a temporary file that looks like old, where there is one.
func (w *write) stage(ctx context.Context, content []byte, old *os.File) (*temporary, error) {
	if err := w.files.staging(ctx, "", filepath.Dir(w.target)); err != nil {
		return nil, err
	}
	mode := uint32(0o666) // less the umask
	if old != nil {
		mode = 0o600 // until it has the mode of old
	}
	t, err := newTemporary(w.folder, mode)
	if err != nil {
		return nil, w.files.fault("writing", w.target, err)
	}
	if err := t.fill(content, old); err != nil {
		t.drop()
		return nil, w.files.fault("writing", w.target, err)
	}
	return t, nil
}
