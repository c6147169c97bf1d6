package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// startProgram sets the limits and starts the program in a session of its own. The error is
// an *UnavailableError or an *exec.Error.
func (i *initProcess) startProgram() (pid int, err error) {
	ofProgram, err := i.limit(i.join())
	if err != nil {
		return 0, &UnavailableError{"limiting the program", err}
	}
	name := i.Argv[0]
	file := fmt.Sprintf("/proc/self/fd/%d", i.self)
	if i.self < 0 {
		if file, err = lookPath(name, i.Env, i.Dir); err != nil {
			return 0, &exec.Error{Name: name, Err: err}
		}
	}
	if pid, err = i.forkExec(file, true); err == nil {
		if err := limitTraced(pid, ofProgram); err != nil {
			return 0, &exec.Error{Name: name, Err: err}
		}
		return pid, nil
	}
	// Perhaps no process may be traced on this machine. The init has the limits too then.
	if err := setLimits(0, ofProgram); err != nil {
		return 0, &UnavailableError{"limiting the program", err}
	}
	if pid, err = i.forkExec(file, false); err != nil {
		if _, dirErr := os.Stat(i.Dir); dirErr != nil {
			err = dirErr
		}
		return 0, &exec.Error{Name: name, Err: err}
	}
	return pid, nil
}

// forkExec starts the program. A traced one stands still before its first instruction.
func (i *initProcess) forkExec(file string, traced bool) (pid int, err error) {
	files := []uintptr{0, 1, 2}
	if i.Talk > 0 {
		files = append(files, uintptr(i.Talk)) // at TalkFD
	}
	return syscall.ForkExec(file, i.Argv, &syscall.ProcAttr{
		Dir: i.Dir, Env: i.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true, Ptrace: traced},
	})
}

// limitTraced sets limits of a program that stands still, and lets it go. The init could not
// have set them for itself first: what it spends on reaping and watching would count, and no
// process without a right on the machine gets a lowered limit back. It runs on the thread
// that started the program.
func limitTraced(pid int, limits []limit) error {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("waiting for it: %w", err)
		}
		break
	}
	if !status.Stopped() {
		return fmt.Errorf("it ended while it started, with status %#x", uint32(status))
	}
	if err := setLimits(pid, limits); err != nil {
		return err
	}
	if err := unix.PtraceDetach(pid); err != nil {
		return fmt.Errorf("letting it go: %w", err)
	}
	return nil
}

// join puts this thread, and with it the program, into the host's control groups.
func (i *initProcess) join() (held joined) {
	for _, g := range i.Groups {
		if g.Tasks > 0 {
			_, err := unix.Write(g.Tasks, []byte("0"))
			unix.Close(g.Tasks)
			if err != nil {
				continue // and the report says so
			}
		}
		held.Memory, held.Processes = held.Memory+g.Memory, held.Processes+g.Processes
	}
	return held
}

// lookPath finds a program as execvp(3) does, in the PATH that the program will have.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for i := len(env) - 1; i >= 0; i-- {
		list, found := strings.CutPrefix(env[i], "PATH=")
		if !found {
			continue
		}
		for _, folder := range filepath.SplitList(list) {
			if !filepath.IsAbs(folder) {
				folder = filepath.Join(dir, folder)
			}
			file := filepath.Join(folder, name)
			if info, err := os.Stat(file); err == nil && !info.IsDir() && unix.Access(file, unix.X_OK) == nil {
				return file, nil
			}
		}
		break
	}
	return "", exec.ErrNotFound
}
