package sandbox

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watchPeriod is how long a mount can be away unseen.
const watchPeriod = 100 * time.Millisecond

// watch compares the mounts of the sandbox with those that were made. Nothing inside can
// change them, but what happens outside can: where a file is removed, or another is renamed
// over it, the kernel takes off the mounts that lie over it in here; where it is renamed they
// go along. Both leave the place open that they were to protect. The kernel reports only the
// first, so the table is read at intervals too.
type watch struct {
	table int // /proc/self/mountinfo, proc(5)

	mu   sync.Mutex
	made []byte // its text when all was made
	now  []byte // room for another text: the init collects no garbage
}

// newWatch begins with the mounts as they are, and wants one at each target.
func newWatch(targets []string) (*watch, error) {
	table, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	w := &watch{table: table, now: make([]byte, 4096)}
	if err := w.read(); err != nil {
		return nil, err
	}
	w.made, w.now = w.now, make([]byte, len(w.now)+4096)
	found := mountsOf(w.made)
	for _, target := range targets {
		if !slices.ContainsFunc(found, func(m mounted) bool { return m.target == target }) {
			return nil, fmt.Errorf("%q: the mount is gone already", target)
		}
	}
	return w, nil
}

// wait returns a target that lost its mount, once there is one.
func (w *watch) wait() string {
	polled := []unix.PollFd{{Fd: int32(w.table), Events: unix.POLLPRI}}
	for {
		if target := w.lost(); target != "" {
			return target
		}
		// Whether it reports something or not, the table is read next.
		_, _ = unix.Poll(polled, int(watchPeriod.Milliseconds()))
	}
}

// lost returns a target that lost its mount, or "". A table that cannot be read counts as
// a loss of all.
func (w *watch) lost() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.read(); err != nil {
		return "/"
	}
	if bytes.Equal(w.made, w.now) {
		return ""
	}
	if target := lostOf(w.made, w.now); target != "" {
		return target
	}
	w.made, w.now = w.now, w.made // a file system was remounted outside
	return ""
}

// read reads the table into now.
func (w *watch) read() error {
	text := w.now[:cap(w.now)]
	length := 0
	for {
		if length == len(text) {
			text = slices.Grow(text, len(text))
			text = text[:cap(text)]
		}
		n, err := unix.Pread(w.table, text[length:], int64(length))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			w.now = text[:length]
			return nil
		}
		length += n
	}
}

// lostOf returns the target of a mount that one table has and another has not, or has
// elsewhere.
func lostOf(made, now []byte) string {
	there := mountsOf(now)
	for _, m := range mountsOf(made) {
		if !slices.Contains(there, m) {
			return m.target
		}
	}
	return ""
}

// mounted is a mount by its number, and where it lies.
type mounted struct{ number, target string }

// mountsOf reads a table; one line is a mount: number, parent, device, root, target and more.
func mountsOf(table []byte) (mounts []mounted) {
	for line := range bytes.Lines(table) {
		if f := bytes.Fields(line); len(f) > 4 {
			mounts = append(mounts, mounted{string(f[0]), unescaped(string(f[4]))})
		}
	}
	return mounts
}

// unescaped undoes how the kernel writes a path in a table of words.
func unescaped(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`).Replace(path)
}
