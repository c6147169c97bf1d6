package runtime_test

import (
	"testing"

	"github.com/aircoding/air/internal/rig"
)

// A backup is on the disk, with its record, before the file that it is of is replaced:
// after a power cut the change must not stand without it.
func TestBackupIsOnTheDisk(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	r.Put("old.txt", "old")
	db := r.Session.Events.DB()
	if _, err := db.Exec(`CREATE TABLE seen (level INTEGER);
		CREATE TEMP TRIGGER look AFTER INSERT ON artifacts BEGIN INSERT INTO seen SELECT * FROM pragma_synchronous; END`); err != nil {
		t.Fatal(err)
	}
	r.Must("fs.write", object{"path": "old.txt", "content": "new"}, nil)
	var level int
	if err := db.QueryRow(`SELECT level FROM seen`).Scan(&level); err != nil || level != 2 { // SQLite: FULL
		t.Errorf("synchronous is %d (%v), want 2", level, err)
	}
}
