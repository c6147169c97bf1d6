package sqlite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMain lets a test ask as another process whether a file is locked: a process does
// not see its own POSIX locks.
func TestMain(m *testing.M) {
	path := os.Getenv("AIR_SQLITE_FILE")
	if path == "" {
		os.Exit(m.Run())
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err == nil {
		err = syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Print(lock.Type != syscall.F_UNLCK)
	os.Exit(0)
}

func locked(t *testing.T, path string) string {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "AIR_SQLITE_FILE="+path)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s%v", out, err)
	}
	return string(out)
}

// A second Open in one process leaves the locks of the first, without which another
// process could take the write-ahead log away.
func TestOpenTwiceKeepsLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "x.db")
	const schema = `CREATE TABLE IF NOT EXISTS t (n INTEGER)`
	first, err := Open(path, schema)
	if err != nil {
		t.Fatal(err)
	}
	if got := locked(t, path); got != "true" {
		t.Fatalf("an open database is not locked: %s", got)
	}
	second, err := Open(path, schema)
	if err != nil {
		t.Fatal(err)
	}
	if got := locked(t, path); got != "true" {
		t.Errorf("after a second Open the database is not locked: %s", got)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if got := locked(t, path); got != "true" {
		t.Errorf("after the second was closed the database is not locked: %s", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got := locked(t, path); got != "false" {
		t.Errorf("a closed database is locked: %s", got)
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b%?#", "x.db")
	db, err := Open(path, `CREATE TABLE IF NOT EXISTS t (n INTEGER)`)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	var mode string
	if err := db.QueryRow(`PRAGMA journal_mode`).Scan(&mode); err != nil || mode != "wal" {
		t.Errorf("journal mode %s %v", mode, err)
	}
}
