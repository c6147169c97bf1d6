package event

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/aircoding/air/internal/fault"
)

// Storage says what an error of a store, a database or files, means to a caller: disk
// full, busy, damaged, not accessible. Errors that carry a kind keep it; nil stays nil.
// what tells what was being done.
func Storage(err error, what string, args ...any) error {
	var known *fault.Error
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), err)
	switch code := sqliteCode(err); {
	case errors.As(err, &known):
		return err
	case isFull(code, err):
		return fault.New(fault.ResourceExhausted, "disk_full", "%w", err).
			WithHint("nothing was stored: free space on the disk, or raise the quota or file size limit, and try again")
	case code&0xff == sqliteBusy:
		e := fault.New(fault.Unavailable, "store_busy", "%w", err).WithHint("another process holds the database: try again")
		e.Retryable = true
		return e
	case code&0xff == sqliteCorrupt, code&0xff == sqliteNotADB:
		return fault.New(fault.Integrity, "store_damaged", "%w", err).
			WithHint("restore the file from a backup, or move it away to begin anew")
	case code&0xff == sqliteReadOnly, code&0xff == sqliteCantOpen, errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fault.New(fault.Unavailable, "store_inaccessible", "%w", err).
			WithHint("check owner and mode of air's folder; AIR_HOME can name another one")
	}
	return err
}

// Result codes of SQLite (sqlite.org/rescode.html).
const (
	sqliteBusy         = 5
	sqliteReadOnly     = 8
	sqliteCorrupt      = 11
	sqliteFull         = 13
	sqliteCantOpen     = 14
	sqliteNotADB       = 26
	sqliteIOErrWrite   = 10 | 3<<8  // EFBIG, EDQUOT
	sqliteIOErrShmSize = 10 | 19<<8 // no room for the index of the write-ahead log
)

func sqliteCode(err error) int {
	var coded interface{ Code() int }
	if !errors.As(err, &coded) {
		return 0
	}
	return coded.Code()
}

func isFull(code int, err error) bool {
	switch code {
	case sqliteFull, sqliteIOErrWrite, sqliteIOErrShmSize:
		return true
	}
	return fault.IsDiskFull(err)
}
