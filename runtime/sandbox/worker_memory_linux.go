package sandbox

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// ResidentBytes is how much memory a process holds; 0 when it is gone.
func ResidentBytes(pid int) int64 {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/statm", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	m, _ := measure(fd) // zeros where it fails
	return m.resident
}

// memory is how much a process has of what, in bytes.
type memory struct {
	mapped   int64
	resident int64
	data     int64 // what the kernel counts against RLIMIT_DATA
}

// measure reads an open statm.
func measure(statm int) (memory, error) {
	text := make([]byte, 256)
	n, err := unix.Pread(statm, text, 0)
	if err != nil {
		return memory{}, fmt.Errorf("measuring a process: %w", err)
	}
	var m memory
	var shared, code, libraries int64
	if _, err := fmt.Sscan(string(text[:n]), &m.mapped, &m.resident, &shared, &code, &libraries, &m.data); err != nil {
		return memory{}, fmt.Errorf("measuring a process: statm reads %q: %w", text[:n], err)
	}
	page := int64(os.Getpagesize())
	return memory{m.mapped * page, m.resident * page, m.data * page}, nil
}

// Trim lets go of the program's pages that starting and loading touched. What is used again
// comes back from the page cache. It may be called in both stages.
func (w *Worker) Trim() {
	if w.loaded == nil {
		return
	}
	for _, e := range w.loaded.pages {
		_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, e.start, e.end-e.start, unix.MADV_DONTNEED)
	}
}

// extent is a range of addresses.
type extent struct{ start, end uintptr }

// programPages lists what is mapped of this program's file and was never written to: its
// code and constants, which are some 2 and 3 MB of a worker that has served a call. A page with relocated addresses reads as constant too, but would fall back to what the file has;
// so a program with a loader, which relocates, counts by its code alone.
func programPages() []extent {
	program, err := os.Readlink(thisProgram())
	if err != nil {
		return nil
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	if relocates(thisProgram()) {
		return extents(maps, program, "r-xp")
	}
	return extents(maps, program, "r-xp", "r--p")
}

// relocates says that a program is not simply mapped where its file says: it is
// position-independent, or has a dynamic section. In doubt it does.
func relocates(path string) bool {
	file, err := elf.Open(path)
	if err != nil {
		return true
	}
	defer func() { _ = file.Close() }() // it was only read
	return file.Type != elf.ET_EXEC || slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_DYNAMIC })
}

// extents reads maps: a line of range, permissions, offset, device, inode and path for each
// mapping.
func extents(maps []byte, program string, permissions ...string) (found []extent) {
	for line := range bytes.Lines(maps) {
		line = bytes.TrimSpace(line)
		fields := bytes.Fields(line)
		if len(fields) < 6 || !bytes.HasSuffix(line, []byte(" "+program)) || !slices.Contains(permissions, string(fields[1])) {
			continue
		}
		from, to, _ := bytes.Cut(fields[0], []byte("-"))
		start, err1 := strconv.ParseUint(string(from), 16, 64)
		end, err2 := strconv.ParseUint(string(to), 16, 64)
		if err1 == nil && err2 == nil {
			found = append(found, extent{uintptr(start), uintptr(end)})
		}
	}
	return found
}
