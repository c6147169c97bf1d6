package runtime

import (
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// maxAttributes bounds what is kept of a file's extended attributes, in bytes.
const maxAttributes = 128 << 10

// attributes are those that copyAttributes carries over, nil for none.
func attributes(file *os.File) map[string][]byte {
	size, err := unix.Flistxattr(int(file.Fd()), nil)
	if err != nil || size == 0 {
		return nil
	}
	names, value, kept := make([]byte, 64<<10), make([]byte, 64<<10), 0
	if size, err = unix.Flistxattr(int(file.Fd()), names); err != nil {
		return nil
	}
	var all map[string][]byte
	for _, name := range strings.Split(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		if !strings.HasPrefix(name, "user.") && name != "system.posix_acl_access" || !utf8.ValidString(name) {
			continue
		}
		n, err := unix.Fgetxattr(int(file.Fd()), name, value)
		if kept += n; err != nil || kept > maxAttributes {
			continue
		}
		if all == nil {
			all = map[string][]byte{}
		}
		all[name] = append([]byte{}, value[:n]...)
	}
	return all
}

// setAttributes gives a file attributes. What the file system does not take is left
// out: the content counts.
func setAttributes(file *os.File, all map[string][]byte) {
	for name, value := range all {
		_ = unix.Fsetxattr(int(file.Fd()), name, value, 0)
	}
}
