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
	now  []byte // room for another text: nothing that is done again and again may allocate, see initCommand
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
	found := map[string]bool{}
	for line := range bytes.Lines(w.made) {
		_, target := placeOf(line)
		found[unescaped(target)] = true
	}
	for _, target := range targets {
		if !found[target] {
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
	rest := now // the order of mounts is the same, as a rule
	for len(made) > 0 {
		var line []byte
		line, made = cut(made, '\n')
		number, target := placeOf(line)
		behind, found := behindPlace(rest, number, target)
		if !found {
			behind, found = behindPlace(now, number, target)
		}
		if !found {
			return unescaped(target)
		}
		rest = behind
	}
	return ""
}

// behindPlace returns what follows a mount in a table.
func behindPlace(table, number, target []byte) (rest []byte, found bool) {
	for len(table) > 0 {
		var line []byte
		line, table = cut(table, '\n')
		n, t := placeOf(line)
		if bytes.Equal(n, number) && bytes.Equal(t, target) {
			return table, true
		}
	}
	return nil, false
}

// placeOf returns a mount's number and its target, as the kernel writes it. A line is number,
// parent, device, root, target and more.
func placeOf(line []byte) (number, target []byte) {
	number, line = cut(line, ' ')
	for range 3 {
		_, line = cut(line, ' ')
	}
	target, _ = cut(line, ' ')
	return number, target
}

func cut(text []byte, at byte) (before, after []byte) {
	if i := bytes.IndexByte(text, at); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, nil
}

// unescaped undoes how the kernel writes a path in a table of words.
func unescaped(path []byte) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`).Replace(string(path))
}
