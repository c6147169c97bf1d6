package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memory is what a process has of the machine's, in bytes. Shared pages, such as those of
// the program's file, count in full as resident and by halves as proportional.
type memory struct {
	resident, proportional, private int64
}

func (m memory) String() string {
	mb := func(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
	if m.proportional == 0 {
		return mb(m.resident) + " resident"
	}
	return mb(m.resident) + " resident, " + mb(m.proportional) + " proportional, " + mb(m.private) + " private"
}

// workersOf lists the workers of a process. There are none to be seen on systems without
// Linux's /proc.
func workersOf(host int) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var pids []int
	for _, file := range files {
		dir := filepath.Dir(file)
		line, err := os.ReadFile(file)
		if err != nil || !bytes.HasPrefix(line, []byte("air-worker\x00")) || parent(dir) != host {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parent is the id of the process that started the one of a folder in /proc; 0 if it is
// gone. It stands behind the name, which may hold anything, and the state.
func parent(dir string) int {
	stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[1])
	return pid
}

// largest measures the process with the most resident memory.
func largest(pids []int) (memory, error) {
	most := memory{}
	for _, pid := range pids {
		m, err := measure(pid)
		if err != nil {
			return most, err
		}
		if m.resident > most.resident {
			most = m
		}
	}
	if most.resident == 0 {
		return most, errors.New("no worker is to be seen")
	}
	return most, nil
}

// measure reads what /proc says of a process. Only its resident memory is open to
// everybody.
func measure(pid int) (memory, error) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil || len(rollup) == 0 {
		return measureResident(pid)
	}
	m := memory{}
	lines := bufio.NewScanner(bytes.NewReader(rollup))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
		switch name {
		case "Rss":
			m.resident = kb << 10
		case "Pss":
			m.proportional = kb << 10
		case "Private_Clean", "Private_Dirty":
			m.private += kb << 10
		}
	}
	return m, lines.Err()
}

func measureResident(pid int) (memory, error) {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return memory{}, err
	}
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return memory{}, fmt.Errorf("statm of process %d is %q", pid, statm)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return memory{resident: pages * int64(os.Getpagesize())}, err
}
