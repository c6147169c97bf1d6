package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/stoppable"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/artifact"
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
	journal, err := w.add(ctx, undoes, change, old)
	if err != nil {
		return err
	}
	if err := journal.Sync(); err != nil {
		return w.withdrawn(noBackup(w.files.show(w.target), err))
	}
	if err := w.tell(ctx); err != nil {
		return w.withdrawn(err)
	}
	return nil
}

// add is keep but for having the journal on the disk, and telling.
func (w *write) add(ctx context.Context, undoes string, change backup.Change, old *os.File) (*backup.Journal, error) {
	f, shown := w.files, w.files.show(w.target)
	journal, err := f.registry.journal(ctx, f.run, undoes)
	if err != nil {
		return nil, noBackup(shown, err)
	}
	change.CallID, change.At = f.run.id, time.Now().UTC()
	var content io.Reader
	if old != nil {
		content = whole(old)
	}
	number, err := journal.Add(ctx, change, content)
	if errors.Is(err, backup.ErrChanged) {
		return nil, w.stale("it changed meanwhile")
	}
	if err != nil {
		return nil, noBackup(shown, err)
	}
	w.number, w.before = number, change.Before
	w.withdraw = func() { _ = journal.Withdraw(number) } // without that the file as it was before is as good as undone
	return journal, nil
}

// tell says that what a change replaces was kept.
func (w *write) tell(ctx context.Context) error {
	if w.before == nil {
		return nil
	}
	shown := w.files.show(w.target)
	err := w.files.registry.append(ctx, w.files.run, event.BackupCreated, map[string]any{
		"path": text.Head(shown, storedHead), "sha256": w.before.SHA256, "size_bytes": w.before.Size,
	})
	if err != nil {
		return noBackup(shown, err)
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
