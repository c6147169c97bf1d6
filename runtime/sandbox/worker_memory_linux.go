package sandbox

import (
	"bytes"
	"encoding/binary"
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
	n, _ := statmBytes(fd, statmResident)
	return n
}

// Fields of statm.
const (
	statmResident = 1
	statmData     = 5 // what the kernel counts against RLIMIT_DATA
)

// statmBytes returns one measure of a process's memory from an open statm.
func statmBytes(fd, field int) (int64, error) {
	text := make([]byte, 256)
	n, err := unix.Pread(fd, text, 0)
	if err != nil {
		return 0, fmt.Errorf("measuring a process: %w", err)
	}
	fields := bytes.Fields(text[:n])
	if len(fields) <= field {
		return 0, fmt.Errorf("measuring a process: statm reads %q", text[:n])
	}
	pages, err := strconv.ParseInt(string(fields[field]), 10, 64)
	return pages * int64(os.Getpagesize()), err
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
// code and constants. A page with relocated addresses reads as constant too, but would fall
// back to what the file has; so a program with a loader, which relocates, counts by its code
// alone.
func programPages() []extent {
	const self = "/proc/self/exe"
	program, err := os.Readlink(self)
	if err != nil {
		return nil
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	file, err := os.Open(self)
	if err != nil {
		return nil
	}
	defer file.Close()
	header := make([]byte, 4096)
	n, _ := file.ReadAt(header, 0)
	if relocates(header[:n]) {
		return extents(maps, program, "r-xp")
	}
	return extents(maps, program, "r-xp", "r--p")
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

// relocates says that the program whose file begins so is not simply mapped where its
// 64-bit ELF header says: it is position-independent, or has a dynamic section. In doubt it
// does.
func relocates(header []byte) bool {
	const fixed, dynamic = 2, 2 // ET_EXEC and PT_DYNAMIC
	order := binary.LittleEndian
	if len(header) < 64 || string(header[:6]) != "\x7fELF\x02\x01" || order.Uint16(header[16:]) != fixed {
		return true
	}
	table, size, count := order.Uint64(header[32:]), uint64(order.Uint16(header[54:])), uint64(order.Uint16(header[56:]))
	if size < 4 || table > uint64(len(header)) || size*count > uint64(len(header))-table {
		return true
	}
	for i := range count {
		if order.Uint32(header[table+i*size:]) == dynamic {
			return true
		}
	}
	return false
}
