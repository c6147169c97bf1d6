package runtime

import (
	"bytes"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/runtime/backup"
)

// maxAttribute is what Linux allows for a list of names and for one value, in bytes.
const maxAttribute = 64 << 10

// attributes are those that people attach to a file. When there is more of them than a
// record of the journal can hold, they are more than it can hold here too: the record
// is refused, and so the change.
func attributes(file *os.File) (all []backup.Attribute) {
	names, value, kept := make([]byte, maxAttribute), make([]byte, maxAttribute), 0
	n, err := unix.Flistxattr(int(file.Fd()), names)
	if err != nil || n == 0 {
		return nil
	}
	for _, name := range bytes.Split(bytes.TrimRight(names[:n], "\x00"), []byte{0}) {
		if !strings.HasPrefix(string(name), "user.") && string(name) != "system.posix_acl_access" {
			continue
		}
		n, err := unix.Fgetxattr(int(file.Fd()), string(name), value)
		if err != nil {
			continue // it is gone
		}
		all = append(all, backup.Attribute{Name: name, Value: bytes.Clone(value[:n])})
		if kept += n; kept > backup.MaxRecord {
			break
		}
	}
	return all
}

// setAttributes gives a file attributes. What the file system does not take is left
// out: the content counts.
func setAttributes(file *os.File, all []backup.Attribute) {
	for _, a := range all {
		_ = unix.Fsetxattr(int(file.Fd()), string(a.Name), a.Value, 0)
	}
}
