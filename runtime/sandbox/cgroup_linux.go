package sandbox

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// cgroupPrefix begins the name of every group; the process id of its owner follows.
	cgroupPrefix = "air-"
	// initTasks is what the init itself needs of the limit on processes.
	initTasks = 16
)

// cgroup is the control groups of one run: one folder in the unified hierarchy, or one for
// each controller in the old ones. A nil one holds nothing, which is no error: making groups
// takes a right that an ordinary user has only where it was delegated.
type cgroup struct{ members []member }

// member is one folder, and how it holds which limits.
type member struct {
	dir               string
	memory, processes string // "" for a limit that it does not hold
	// entry is how a process gets in: the folder itself for one that is born there, or the
	// file tasks. Through that, a thread moves itself, which is quick. To move a process
	// takes milliseconds, for the kernel waits until no processor starts or ends one.
	entry *os.File
	born  bool
}

// newCgroup makes what it can. Groups are children of air's own, or of the nearest folder
// above that hands controllers down, so that no limit on air itself is escaped.
func newCgroup(limits CommandLimits) *cgroup {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	old, unified := hierarchies(string(mounts), string(own))
	name := fmt.Sprintf("%s%d-%s", cgroupPrefix, os.Getpid(), rand.Text()[:8])
	g := new(cgroup)
	if dir := old["memory"]; dir != "" {
		g.create(member{dir: filepath.Join(dir, name), memory: "cgroup v1 memory"}, memoryFilesV1(limits))
	}
	if dir := old["pids"]; dir != "" {
		g.create(member{dir: filepath.Join(dir, name), processes: "cgroup v1 pids"}, pidsFiles(limits))
	}
	if len(g.members) == 0 {
		g.createUnified(unified, name, limits)
	}
	return g
}

// controlFile is one file of a group and what is written to it. Swap accounting is often
// switched off, so its files are optional.
type controlFile struct {
	name, value string
	optional    bool
}

func memoryFilesV1(limits CommandLimits) []controlFile {
	bytes := strconv.FormatInt(limits.MemoryBytes, 10)
	return []controlFile{
		{"memory.limit_in_bytes", bytes, false},
		{"memory.memsw.limit_in_bytes", bytes, true},
	}
}

func memoryFilesV2(limits CommandLimits) []controlFile {
	return []controlFile{
		{"memory.max", strconv.FormatInt(limits.MemoryBytes, 10), false},
		{"memory.swap.max", "0", true},
	}
}

func pidsFiles(limits CommandLimits) []controlFile {
	return []controlFile{{"pids.max", strconv.FormatInt(limits.Processes+initTasks, 10), false}}
}

// create makes one folder and writes its limits; false when that is not possible.
func (g *cgroup) create(m member, files []controlFile) bool {
	sweep(filepath.Dir(m.dir))
	if os.Mkdir(m.dir, 0o755) != nil {
		return false
	}
	if err := m.prepare(files); err != nil {
		_ = os.Remove(m.dir)
		return false
	}
	g.members = append(g.members, m)
	return true
}

func (m *member) prepare(files []controlFile) (err error) {
	for _, f := range files {
		// Without O_CREATE: a file that is missing is a controller that is.
		file, err := os.OpenFile(filepath.Join(m.dir, f.name), os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteString(f.value)
			file.Close()
		}
		if err != nil && !f.optional {
			return err
		}
	}
	if m.born {
		m.entry, err = os.Open(m.dir)
	} else {
		m.entry, err = os.OpenFile(filepath.Join(m.dir, "tasks"), os.O_WRONLY, 0)
	}
	return err
}

// createUnified looks for a folder of the unified hierarchy that hands its controllers down,
// from air's own upwards. A folder with processes in it, as air's own, does not do so. A
// user's session manager owns the one above.
func (g *cgroup) createUnified(own unifiedPath, name string, limits CommandLimits) {
	for dir := own.dir; own.mount != "" && strings.HasPrefix(dir, own.mount); dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err != nil {
			return
		}
		controllers := strings.Fields(string(text))
		m := member{dir: filepath.Join(dir, name), born: true}
		var files []controlFile
		if slices.Contains(controllers, "memory") {
			files, m.memory = append(files, memoryFilesV2(limits)...), "cgroup v2 memory"
		}
		if slices.Contains(controllers, "pids") {
			files, m.processes = append(files, pidsFiles(limits)...), "cgroup v2 pids"
		}
		if len(files) > 0 && g.create(m, files) {
			return
		}
	}
}

// bornIn is the descriptor of the group that the init is to be born in, or -1.
func (g *cgroup) bornIn() int {
	if g == nil || len(g.members) == 0 || !g.members[0].born {
		return -1
	}
	return int(g.members[0].entry.Fd())
}

// tasks are the files by which a thread joins, in the order of joined.
func (g *cgroup) tasks() (files []*os.File) {
	if g == nil {
		return nil
	}
	for _, m := range g.members {
		if !m.born {
			files = append(files, m.entry)
		}
	}
	return files
}

// joined describes the groups for the init.
func (g *cgroup) joined() (groups []joined) {
	if g == nil {
		return nil
	}
	next := firstTasksFD
	for _, m := range g.members {
		j := joined{Memory: m.memory, Processes: m.processes}
		if !m.born {
			j.Tasks = next
			next++
		}
		groups = append(groups, j)
	}
	return groups
}

// outOfMemory says that the kernel killed a process of the group because of its limit.
func (g *cgroup) outOfMemory() bool {
	if g == nil {
		return false
	}
	for _, m := range g.members {
		for _, name := range []string{"memory.events", "memory.oom_control"} {
			text, err := os.ReadFile(filepath.Join(m.dir, name))
			if err != nil {
				continue
			}
			for line := range bytes.Lines(text) {
				if f := strings.Fields(string(line)); len(f) == 2 && f[0] == "oom_kill" && f[1] != "0" {
					return true
				}
			}
		}
	}
	return false
}

// remove removes the groups of a tree that is gone. The kernel may count its last threads a
// moment longer.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	for _, m := range g.members {
		m.entry.Close()
		for wait := time.Millisecond; os.Remove(m.dir) != nil && wait < time.Second; wait *= 2 {
			time.Sleep(wait)
		}
	}
	g.members = nil
}

// sweep removes groups whose owner was killed before it could. One that holds processes
// cannot be removed.
func sweep(parent string) {
	old, _ := filepath.Glob(filepath.Join(parent, cgroupPrefix+"*"))
	for _, dir := range old {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), cgroupPrefix), "-")
		pid, err := strconv.Atoi(owner)
		if err == nil && pid > 0 && unix.Kill(pid, 0) == unix.ESRCH {
			_ = os.Remove(dir)
		}
	}
}

// unifiedPath is a process's folder in the unified hierarchy, and where that is mounted;
// empty when it is not.
type unifiedPath struct{ dir, mount string }

// hierarchies finds a process's folders from its mountinfo and cgroup files (proc(5),
// cgroups(7)): one for each controller of the old hierarchies, and the one of the unified.
func hierarchies(mountinfo, own string) (old map[string]string, unified unifiedPath) {
	paths := map[string]string{} // by controller; the unified hierarchy is ""
	for line := range strings.Lines(own) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(f[1], ",") {
			paths[controller] = f[2]
		}
	}
	old = map[string]string{}
	for line := range strings.Lines(mountinfo) {
		before, after, _ := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if len(f) < 5 || len(g) < 3 {
			continue
		}
		root, mount := f[3], f[4]
		switch g[0] {
		case "cgroup2":
			if dir, ok := below(mount, root, paths[""]); ok {
				unified = unifiedPath{dir, mount}
			}
		case "cgroup":
			for option := range strings.SplitSeq(g[2], ",") {
				if dir, ok := below(mount, root, paths[option]); ok {
					old[option] = dir
				}
			}
		}
	}
	return old, unified
}

// below says where a group's path lies in a mount of the hierarchy's folder root.
func below(mount, root, path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(root, "/"))
	if path == "" || !ok || rest != "" && rest[0] != '/' || strings.Contains(rest, "/..") {
		return "", false
	}
	return filepath.Join(mount, rest), true
}
