package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/stoppable"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/event"
)

// runJournal is where the call of a person or their agent, with all that is nested in
// it, records what it changes. The first change begins it.
type runJournal struct {
	mu    sync.Mutex
	open  *backup.Journal
	ended bool
}

// journal returns the journal of the outermost call. undoes is the run that it takes
// back, "" for any other call.
func (r *Registry) journal(ctx context.Context, c *run, undoes string) (*backup.Journal, error) {
	if r.config.Backups == nil {
		return nil, errors.New("there is no store of backups: nothing is written")
	}
	root := c.root()
	j := &root.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended {
		return nil, fault.New(fault.Cancelled, "call_ended", "the call has ended: it changes nothing any more")
	}
	if j.open != nil {
		return j.open, nil
	}
	var err error
	j.open, err = r.config.Backups.Begin(ctx, backup.Run{
		ID: root.id, SessionID: r.config.Session.ID, Tool: root.tool.Name, Started: root.started.UTC(), Undoes: undoes,
	})
	return j.open, err
}

// end closes the journal: what the call has not done by now, it does not do.
func (j *runJournal) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
	if j.open != nil {
		_ = j.open.Close() // all that counts is on the disk
	}
}

// keep has a change on the disk before it happens, with the content of old that it
// replaces, nil for none. undoes is the run that it takes back, "" for any other. Once the
// change has not happened after all, withdrawn has to follow.
func (w *write) keep(ctx context.Context, undoes string, change backup.Change, old *os.File) error {
	f, shown := w.files, w.files.show(w.target)
	journal, err := f.registry.journal(ctx, f.run, undoes)
	if err != nil {
		return noBackup(shown, err)
	}
	change.CallID, change.At = f.run.id, time.Now().UTC()
	var content io.Reader
	if old != nil {
		content = whole(old)
	}
	number, err := journal.Add(ctx, change, content)
	if errors.Is(err, backup.ErrChanged) {
		return w.stale("it changed meanwhile")
	}
	if err != nil {
		return noBackup(shown, err)
	}
	w.number = number
	w.withdraw = func() { _ = journal.Withdraw(number) } // without that the file as it was before is as good as undone
	if old == nil {
		return nil
	}
	err = f.registry.append(ctx, f.run, event.BackupCreated, map[string]any{
		"path": text.Head(shown, storedHead), "sha256": change.Before.SHA256, "size_bytes": change.Before.Size,
	})
	if err != nil {
		return w.withdrawn(noBackup(shown, err))
	}
	return nil
}

// staging notes that a temporary file may be in a folder, for who starts after this process
// was killed. undoes is as with keep.
func (f *files) staging(ctx context.Context, undoes, folder string) error {
	journal, err := f.registry.journal(ctx, f.run, undoes)
	if err == nil {
		err = journal.Staging(folder)
	}
	if err != nil {
		return noBackup(f.show(folder), err)
	}
	return nil
}

// sweepAt removes what a process that was killed left in a folder.
func sweepAt(canonical string) {
	if folder, err := openFolder(canonical); err == nil {
		sweep(folder)
		_ = folder.Close()
	}
}

// withdrawn is why a change that was kept did not happen.
func (w *write) withdrawn(err error) error {
	w.withdraw()
	return err
}

// foldersAt are folders with their modes. One that is gone meanwhile is left out.
func foldersAt(paths []string) (folders []backup.Folder) {
	for _, path := range paths {
		folder, err := openFolder(path)
		if err != nil {
			continue
		}
		var st unix.Stat_t
		if unix.Fstat(int(folder.Fd()), &st) == nil {
			folders = append(folders, backup.Folder{Path: backup.Path(path), Mode: modeOf(&st)})
		}
		_ = folder.Close()
	}
	return folders
}

// whole reads an open file from its beginning, wherever it stands.
func whole(file *os.File) io.Reader { return io.NewSectionReader(file, 0, 1<<62) }

// digest is the hex SHA-256 of an open file's content.
func digest(ctx context.Context, file *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, stoppable.Reader(ctx, whole(file))); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
