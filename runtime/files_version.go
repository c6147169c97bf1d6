package runtime

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
)

// versioned is an open file of which the version can be told.
type versioned struct{ *os.File }

var _ File = versioned{}

// settled is how long ago the last change has to be for the next one to have another time,
// on every file system: the times of some have whole seconds.
const settled = 3 * time.Second

// Version implements File. The time of the last change of the inode cannot be set by those
// who change a file. What another program writes through a mapping of the file shows in it
// late.
func (f versioned) Version() (string, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return "", fault.New(fault.Unavailable, "io", "looking at %s: %w", f.Name(), err)
	}
	if time.Since(time.Unix(st.Ctim.Unix())) < settled {
		return "", nil
	}
	return fmt.Sprintf("version:%d:%d:%d:%d:%d", st.Dev, st.Ino, st.Size, unix.TimespecToNsec(st.Mtim), unix.TimespecToNsec(st.Ctim)), nil
}
