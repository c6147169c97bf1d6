package runtime

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
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

// entry is a change in the journal that is about to happen.
type entry struct {
	journal *backup.Journal
	number  int
}

// withdraw says that the change did not happen. Without that the record stays, and the
// file as it was before is as good as undone.
func (e entry) withdraw() { _ = e.journal.Withdraw(e.number) }

// record has a change on the disk before it happens, with the content that it replaces.
func (f *files) record(ctx context.Context, undoes string, change backup.Change, old *os.File) (entry, error) {
	journal, err := f.registry.journal(ctx, f.run, undoes)
	if err != nil {
		return entry{}, err
	}
	change.CallID, change.At = f.run.id, time.Now().UTC()
	e := entry{journal: journal}
	if old == nil {
		e.number, err = journal.Add(ctx, change, nil)
		return e, err
	}
	e.number, err = journal.Add(ctx, change, whole(old))
	if err != nil {
		return e, err
	}
	err = f.registry.append(ctx, f.run, event.BackupCreated, map[string]any{
		"path": head(f.show(string(change.Path)), storedHead), "sha256": change.Before.SHA256, "size_bytes": change.Before.Size,
	})
	if err != nil {
		e.withdraw()
	}
	return e, err
}

// stateOf describes an open regular file whose content has the digest.
func stateOf(file *os.File, sha256 string) (*backup.State, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return nil, err
	}
	return &backup.State{
		SHA256: sha256, Size: st.Size, Mode: uint32(st.Mode) & 0o7777, UID: st.Uid, GID: st.Gid, Attributes: attributes(file),
	}, nil
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
			folders = append(folders, backup.Folder{Path: backup.Path(path), Mode: uint32(st.Mode) & 0o7777})
		}
		_ = folder.Close()
	}
	return folders
}
