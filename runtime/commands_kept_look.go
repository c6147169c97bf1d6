package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/runtime/backup"
)

// look opens a file and describes it; nil where it is gone.
func (k *kept) look(ctx context.Context, target string) (*write, *os.File, *backup.State, error) {
	c := k.commands
	f := &files{registry: c.registry, run: c.run, decisions: c.decisions}
	folder, err := openFolder(filepath.Dir(target))
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil, nil, nil, nil
	}
	if err != nil {
		return nil, nil, nil, f.fault("opening", filepath.Dir(target), err)
	}
	w := &write{files: f, folder: folder, target: target, name: filepath.Base(target)}
	fd, err := openIn(folder, w.name, unix.O_RDONLY, 0)
	if err != nil {
		_ = folder.Close()
		if err == unix.ENOENT {
			return nil, nil, nil, nil
		}
		return nil, nil, nil, f.fault("opening", target, err)
	}
	file, err := f.regular(folder, fd, target)
	if err != nil {
		_ = folder.Close()
		return nil, nil, nil, err
	}
	state, err := k.describe(ctx, w, file)
	if err != nil {
		_ = file.Close()
		_ = folder.Close()
	}
	return w, file, state, err
}

func (k *kept) describe(ctx context.Context, w *write, file *os.File) (*backup.State, error) {
	if info, err := file.Stat(); err != nil || info.Size() > settledFile {
		return nil, errors.Join(errTooLarge, err)
	}
	sum, err := digest(ctx, file)
	if err != nil {
		return nil, w.files.fault("reading", w.target, err)
	}
	return w.state(file, sum)
}

var errTooLarge = errors.New("the file is too large to be looked at")

// record has the state on the disk before the command starts.
func (k *kept) record(ctx context.Context, target string, before *backup.State, old *os.File) error {
	c := k.commands
	f := &files{registry: c.registry, run: c.run, decisions: c.decisions}
	w := &write{files: f, target: target, name: filepath.Base(target)}
	change := backup.Change{Path: backup.Path(target), Before: before, Pending: true}
	if before == nil {
		change.Made = missingFolders(target)
	}
	if err := w.keep(ctx, "", change, old); err != nil {
		return err
	}
	k.files = append(k.files, keptChange{target: target, before: before, number: w.number})
	return nil
}

// missingFolders are those that a command may make: above a path, and the path itself, which
// may become one. Where files in them are undone, they go too.
func missingFolders(target string) (missing []backup.Folder) {
	for at := target; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil {
			slices.Reverse(missing)
			return missing
		}
		missing = append(missing, backup.Folder{Path: backup.Path(at), Mode: 0o755})
	}
}

// keepAfter records how the command left the files that were kept. What it did not change
// is no change. It says nothing of what it cannot find out: an undo leaves that alone.
func (k *kept) keepAfter(ctx context.Context) {
	if len(k.files) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	journal, err := k.commands.registry.journal(ctx, k.commands.run, "")
	if err != nil {
		return
	}
	for _, f := range k.files {
		if info, err := os.Lstat(f.target); err == nil && info.IsDir() && f.before == nil {
			_ = journal.Withdraw(f.number) // a folder is made
			continue
		}
		w, file, after, err := k.look(ctx, f.target)
		if err != nil {
			continue
		}
		if file != nil {
			_ = file.Close()
			_ = w.folder.Close()
		}
		if after.Same(f.before) {
			_ = journal.Withdraw(f.number) // without that it counts as changed to what it was
			continue
		}
		_ = journal.Settle(f.number, after) // without that an undo leaves the file alone
	}
}
