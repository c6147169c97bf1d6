package runner

import (
	"encoding/gob"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeperName is the argv[0] that makes this program the keeper of a command.
const keeperName = "air-keeper"

// Descriptors of the keeper besides the standard three.
const (
	keeperConfigFD = 3 + iota
	keeperReportFD
	keeperTalkFD
)

// ServeIfKeeper turns the process into the keeper of a command that has no sandbox, and does
// not return, when it was started as such. It comes first in main of a program that sets
// Config.Bare.
func ServeIfKeeper() {
	if len(os.Args) > 0 && os.Args[0] == keeperName {
		os.Exit(keep())
	}
}

// keep starts the command and ends all of it with it. It returns the keeper's exit code; what
// became of the command is in its report.
func keep() int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM)
	for fd := keeperConfigFD; fd <= keeperTalkFD; fd++ {
		unix.CloseOnExec(fd)
	}
	var c bareConfig
	config := os.NewFile(keeperConfigFD, "config")
	if err := gob.NewDecoder(config).Decode(&c); err != nil {
		return 1
	}
	config.Close()
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return 1 // nothing could be kept
	}
	report := c.run(stop)
	_ = gob.NewEncoder(os.NewFile(keeperReportFD, "report")).Encode(report) // an air that is gone needs none
	return 0
}

func (c bareConfig) run(stop <-chan os.Signal) bareReport {
	program, err := c.start()
	if err != nil {
		return bareReport{Code: 127, Missing: c.Argv[0], Why: err.Error()}
	}
	done := make(chan bareReport, 1)
	go func() { done <- reapUntil(program) }()
	var report bareReport
	select {
	case report = <-done:
	case <-stop:
		killAll()
		report = <-done
		report.Killed = true
	}
	for killAll() {
		_, _ = unix.Wait4(-1, nil, unix.WALL, nil)
	}
	return report
}

func (c bareConfig) start() (pid int, err error) {
	file := "/proc/self/exe"
	if !c.Self {
		if file, err = c.find(); err != nil {
			return 0, err
		}
	}
	for _, l := range c.Limits {
		limit := unix.Rlimit{Cur: l[1], Max: l[1]}
		if err := setLower(int(l[0]), limit); err != nil {
			return 0, err
		}
	}
	files := []uintptr{0, 1, 2}
	if c.Talk {
		files = append(files, keeperTalkFD)
	}
	pid, err = syscall.ForkExec(file, c.Argv, &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	for fd := range 3 {
		unix.Close(fd) // what the program writes to ends when its own tree lets go of it
	}
	if c.Talk {
		unix.Close(keeperTalkFD)
	}
	return pid, err
}

// setLower sets a limit, unless it is lower already.
func setLower(which int, limit unix.Rlimit) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(which, &now); err != nil {
		return err
	}
	limit.Cur, limit.Max = min(limit.Cur, now.Max), min(limit.Max, now.Max)
	return unix.Setrlimit(which, &limit)
}

// find finds the program in the PATH that it will have.
func (c bareConfig) find() (string, error) {
	name := c.Argv[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, pair := range c.Env {
		list, found := strings.CutPrefix(pair, "PATH=")
		if !found {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); err == nil && !info.IsDir() && unix.Access(file, unix.X_OK) == nil {
				return file, nil
			}
		}
	}
	return "", exec.ErrNotFound
}

// reapUntil waits for all that end, until the program has.
func reapUntil(program int) bareReport {
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &status, unix.WALL, &usage)
		switch {
		case errors.Is(err, unix.EINTR), err == nil && pid != program:
			continue
		case err != nil:
			return bareReport{Code: 1}
		}
		r := bareReport{Code: status.ExitStatus(), CPU: time.Duration(usage.Utime.Nano() + usage.Stime.Nano())}
		if status.Signaled() {
			r.Signal = int(status.Signal())
			r.Code = 128 + r.Signal
		}
		return r
	}
}

// killAll kills each process that descends from the keeper, and says whether there was any.
func killAll() (any bool) {
	children := childrenByParent()
	below := children[os.Getpid()]
	for len(below) > 0 {
		pid := below[0]
		below = append(below[1:], children[pid]...)
		any = true
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	return any
}

func childrenByParent() map[int][]int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p, err := readProcess(pid)
		if err == nil {
			children[p.parent] = append(children[p.parent], pid)
		} else if !errors.Is(err, fs.ErrNotExist) {
			continue
		}
	}
	return children
}
