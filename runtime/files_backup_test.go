package runtime_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime/backup"
)

// The bytes that a write replaces are on the disk before they are replaced: after a power
// cut the change must not stand without them.
func TestBackupIsOnTheDisk(t *testing.T) {
	for _, broken := range []error{nil, errors.New("the disk is gone")} {
		synced, replaced := false, false
		var path string
		r := rig.New(t, rig.Options{Approver: rig.Yes, Backups: backup.Options{Sync: func(f *os.File) error {
			journal, err := os.ReadFile(f.Name())
			now, nowErr := os.ReadFile(path)
			if err = errors.Join(err, nowErr); err != nil {
				return err
			}
			synced, replaced = synced || bytes.Contains(journal, []byte("old bytes")), replaced || string(now) != "old bytes"
			return broken
		}}})
		path = r.Put("old.txt", "old bytes")
		e := r.Call("fs.write", object{"path": "old.txt", "content": "new"})
		if !synced || replaced {
			t.Errorf("the journal with the old bytes was synced: %v, after the file was replaced: %v", synced, replaced)
		}
		if broken == nil {
			unchanged(t, path, "new")
			continue
		}
		if e.OK {
			t.Error("it was replaced without a backup")
		}
		unchanged(t, path, "old bytes")
	}
}
