package runner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/regular"
)

const (
	maxEntry   = 4 << 10
	maxEntries = 4096 // that are looked at
)

// running is one command that runs, on disk: another air may be asked about its processes.
type running struct {
	PID     int    `json:"pid"`     // of the process that all of the command's descend from
	Started uint64 `json:"started"` // in the kernel's ticks since it booted
	Session string `json:"session"`
	Machine string `json:"machine"` // which run of which kernel, and which process ids
}

// note keeps a command in the table while it runs, until forget is called, which is never nil.
func (r *Runner) note(id string, pid int) (forget func(), err error) {
	forget = func() {}
	p, err := readProcess(pid)
	if errors.Is(err, fs.ErrNotExist) {
		return forget, nil // it has ended
	}
	if err != nil {
		return forget, err
	}
	text, err := json.Marshal(running{PID: pid, Started: p.started, Session: r.config.Session, Machine: machine()})
	if err != nil {
		return forget, err
	}
	dir, err := r.table()
	if err != nil {
		return forget, err
	}
	// Not durably, and not by a rename: a part of an entry is no entry, and after a crash of
	// the machine none counts.
	file := filepath.Join(dir, filepath.Base(id)+".json")
	return func() { _ = os.Remove(file) }, os.WriteFile(file, text, 0o600)
}

func (r *Runner) table() (string, error) {
	state, err := r.state()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(state, "running")
	return dir, os.MkdirAll(dir, 0o700)
}

// commands are the processes that the running commands of this session descend from, by
// their ids. Entries of commands that ended without removing them go.
func (r *Runner) commands() (map[int]uint64, error) {
	dir, err := r.table()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxEntries) // at the end of the folder it says so by an error
	own := map[int]uint64{}
	for _, name := range names {
		e, ok := readEntry(filepath.Join(dir, name))
		if ok && e.Session == r.config.Session {
			own[e.PID] = e.Started
		}
	}
	return own, nil
}

// readEntry returns an entry whose process runs. One of another machine may be true there,
// and stays, unless this machine was that one before it booted.
func readEntry(file string) (e running, ok bool) {
	if !strings.HasSuffix(file, ".json") {
		return e, false
	}
	text, err := regular.Read(file, maxEntry, false)
	if err != nil || json.Unmarshal(text, &e) != nil || e.PID <= 1 || e.Machine == "" {
		return e, false
	}
	if e.Machine != machine() {
		if bootOf(e.Machine) != bootOf(machine()) {
			_ = os.Remove(file)
		}
		return e, false
	}
	p, err := readProcess(e.PID)
	if err == nil && p.started == e.Started {
		return e, true
	}
	_ = os.Remove(file)
	return e, false
}

// bootOf is the part of a machine that changes with each boot.
func bootOf(machine string) string {
	boot, _, _ := strings.Cut(machine, " ")
	return boot
}
