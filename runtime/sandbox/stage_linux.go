package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ServeIfChild turns the process into the init of a sandbox, or into a probe inside of one,
// and does not return, when it was started as such. It is the first line of main.
func ServeIfChild() {
	if len(os.Args) == 0 {
		return
	}
	serveIfWorkerProbe()
	switch os.Args[0] { // unix.Exit, for there is nothing to be done at exit
	case stageName:
		unix.Exit(offFirstThread(runStage))
	case commandProbe:
		unix.Exit(runProbe(os.Args[1:]))
	}
}

// stage is process 1 of a sandbox: it builds the sandbox, gives up all it has, starts the
// program and stays, for somebody has to reap orphans. When it ends, the kernel kills
// whatever is left.
type stage struct {
	stageConfig
	root     *root
	listener int // -1 for none
	self     int // this program's file, -1 unless it is what runs
	held     Confinement
}

// offFirstThread runs the init on one thread, as the bounding set is each thread's own, and
// not on the process's first. Who starts a program blocks all signals meanwhile, and while
// the first thread does so, the kernel does not keep a process 1 from dying of a signal that
// it has no handler for, see dropHandlers.
func offFirstThread(f func() int) int {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		return f()
	}
	result := make(chan int)
	go func() { result <- offFirstThread(f) }()
	return <-result
}

// runStage returns the exit code of the init; what became of the program is in its last
// message.
func runStage() int {
	s := &stage{listener: -1, self: -1}
	if err := s.build(); err != nil {
		return sayFailure(err)
	}
	if err := s.confine(); err != nil {
		return sayFailure(err)
	}
	if err := say(stageMessage{}, s.listener); err != nil {
		return 1
	}
	program, err := s.startProgram()
	if err != nil {
		return sayFailure(err)
	}
	// What the program writes to ends when its own tree lets go of it.
	for fd := range 3 {
		unix.Close(fd)
	}
	if err := say(stageMessage{Confinement: &s.held}, -1); err != nil {
		return 1
	}
	return reap(program)
}

// reap waits for all that end in the tree, until the program has.
func reap(program int) int {
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &status, unix.WALL, &usage)
		if err == unix.EINTR || err == nil && pid != program {
			continue
		}
		if err != nil {
			return 1
		}
		code := int(status)
		_ = say(stageMessage{Status: &code, CPU: time.Duration(usage.Utime.Nano() + usage.Stime.Nano())}, -1)
		return 0 // should the host be gone, so is whoever would listen
	}
}

// stepError names the step at which the machine refused.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// steps runs steps by name until one fails. A mount that the caller named is its own error.
func steps(all ...step) error {
	for _, s := range all {
		err := s.run()
		var mount *MountError
		if errors.As(err, &mount) {
			return err
		}
		if err != nil {
			return &stepError{s.name, err}
		}
	}
	return nil
}

type step struct {
	name string
	run  func() error
}

// build makes the sandbox's files and network, with the capabilities that a process has in
// a user namespace of its own.
func (s *stage) build() error {
	var mounts []prepared
	var devices map[string]source
	return steps(
		step{"reading what to run", s.readConfig},
		step{"settling down", s.settle},
		step{"making mounts private", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		step{"opening what to mount", func() (err error) { mounts, err = prepareMounts(s.mounts()); return err }},
		step{"opening devices", func() (err error) { devices, err = openDevices(); return err }},
		step{"making an empty root", func() (err error) { s.root, err = newRoot(); return err }},
		step{"making /proc", s.makeProc},
		step{"making /dev", func() error { return s.makeDev(devices) }},
		step{"making private folders", s.makeFolders},
		step{"mounting", func() error {
			for _, m := range mounts {
				if err := s.root.add(m); err != nil {
					return err
				}
			}
			return nil
		}},
		step{"making users", s.makeUsers},
		step{"entering the new root", func() error { return s.root.enter() }},
		step{"bringing up the loopback", s.bringUpLoopback},
	)
}

func (s *stage) readConfig() error {
	// A descriptor that the host itself inherited, without meaning to hand it on, could be
	// a folder outside.
	if err := unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing inherited descriptors: %w", err)
	}
	f := os.NewFile(configFD, "config")
	defer f.Close()
	return json.NewDecoder(f).Decode(&s.stageConfig)
}

// settle prepares the init for the life of a process 1.
func (s *stage) settle() error {
	// Of all processes, those in here are the first to go when memory is short.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	spareThreads(4)
	if !s.Self {
		return nil
	}
	var err error
	s.self, err = unix.Open("/proc/self/exe", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	return err
}

// spareThreads makes the runtime have threads in reserve: it dies when it needs one and the
// program has used up all processes.
func spareThreads(n int) {
	var all, done sync.WaitGroup
	all.Add(n)
	for range n {
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			all.Done()
			all.Wait()
		})
	}
	done.Wait()
}

// mounts are those that the command names, after the home.
func (s *stage) mounts() []Mount {
	if s.Home == "" {
		return s.Mounts
	}
	return append([]Mount{{Source: s.Home, Target: CommandHome, Mode: ReadWrite}}, s.Mounts...)
}

// openProc are the files at the top of /proc that a program may see. All others are
// covered, whatever the kernel puts there: some hold the machine's memory or keys, some
// command the machine.
var openProc = []string{
	"cmdline", "cpuinfo", "filesystems", "loadavg", "meminfo", "mounts", "net", "self", "stat",
	"swaps", "sys", "thread-self", "uptime", "version", "vmstat",
}

func (s *stage) makeProc() error {
	err := s.root.addFilesystem("/proc", "proc", unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	proc, err := s.root.folder("/proc")
	if err != nil {
		return err
	}
	// The descriptor that place returns has no permission to list.
	dir, err := unix.Openat(proc, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	unix.Close(proc)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(dir), "/proc")
	defer f.Close()
	if err := noMoreNamespaces(dir); err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.guardProc(dir, name); err != nil {
			return fmt.Errorf("/proc/%s: %w", name, err)
		}
	}
	return nil
}

// noMoreNamespaces sets the number of user namespaces that can be made in this one to none,
// which is a second fence: without one a process gets no capabilities. The file is a user
// namespace's own, user_namespaces(7).
func noMoreNamespaces(proc int) error {
	fd, err := unix.Openat(proc, "sys/user/max_user_namespaces", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte("0"))
	return err
}

// guardProc makes sys read-only: the files there belong to the user who runs air, if that
// is root, and without any capability core_pattern would be open to writing.
func (s *stage) guardProc(dir int, name string) error {
	target := "/proc/" + name
	switch {
	case name == "sys":
		tree, err := unix.OpenTree(dir, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return err
		}
		defer unix.Close(tree)
		err = setAttributes(tree, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return err
		}
		return s.root.attach(tree, target, true)
	case slices.Contains(openProc, name) || strings.Trim(name, "0123456789") == "":
		return nil
	}
	return s.root.cover(target, true)
}

var deviceNames = []string{"null", "zero", "full", "random", "urandom"}

func openDevices() (map[string]source, error) {
	devices := map[string]source{}
	for _, name := range deviceNames {
		d, err := openSource("/dev/" + name)
		if err != nil {
			return nil, err
		}
		devices[name] = d
	}
	return devices, nil
}

// makeDev has no terminal, not even a name for one.
func (s *stage) makeDev(devices map[string]source) error {
	err := s.root.addFilesystem("/dev", "tmpfs", unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC, "mode=755", "size=64k", "nr_inodes=64")
	if err != nil {
		return err
	}
	for name, d := range devices {
		err := s.root.attach(d.tree, "/dev/"+name, false)
		unix.Close(d.tree)
		if err != nil {
			return err
		}
	}
	dev, err := s.root.folder("/dev")
	if err != nil {
		return err
	}
	defer unix.Close(dev)
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := unix.Symlinkat(to, dev, name); err != nil {
			return err
		}
	}
	if err := unix.Mkdirat(dev, "shm", 0o755); err != nil {
		return err
	}
	err = unix.MountSetattr(dev, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if err != nil {
		return err
	}
	return s.root.addFilesystem("/dev/shm", "tmpfs", unix.MOUNT_ATTR_NODEV, tmpfs("1777", s.Limits.TmpBytes/4)...)
}

// tmpfs are the options of a file system of a size. The number of files is bounded too,
// for they hold memory that is not counted in the size.
func tmpfs(mode string, bytes int64) []string {
	return []string{"mode=" + mode, fmt.Sprintf("size=%d", bytes), fmt.Sprintf("nr_inodes=%d", 1000+bytes/4096)}
}

func (s *stage) makeFolders() error {
	s.root.rw = append(s.root.rw, "/tmp", "/dev/shm")
	err := s.root.addFilesystem("/tmp", "tmpfs", unix.MOUNT_ATTR_NODEV, tmpfs("1777", s.Limits.TmpBytes)...)
	if err != nil || s.Home != "" {
		return err
	}
	s.root.rw = append(s.root.rw, CommandHome)
	return s.root.addFilesystem(CommandHome, "tmpfs", unix.MOUNT_ATTR_NODEV, tmpfs("700", s.Limits.TmpBytes)...)
}

// makeUsers names the user inside. It does nothing where a mount lies over /etc.
func (s *stage) makeUsers() error {
	etc, err := s.root.folder("/etc")
	if err != nil {
		return err
	}
	defer unix.Close(etc)
	own, err := s.root.isOwn(etc)
	if err != nil || !own {
		return err
	}
	files := map[string]string{
		"passwd": "root:x:0:0:root:/:/bin/false\n" +
			fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh\n", CommandUser, s.UID, s.GID, CommandHome) +
			"nobody:x:65534:65534:nobody:/:/bin/false\n",
		"group": "root:x:0:\n" + fmt.Sprintf("%s:x:%d:\n", CommandUser, s.GID) + "nogroup:x:65534:\n",
	}
	for name, text := range files {
		fd, err := unix.Openat(etc, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o444)
		if err == unix.EEXIST {
			continue // a mount lies there
		}
		if err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte(text))
		unix.Close(fd)
		if err != nil {
			return err
		}
	}
	return nil
}

// bringUpLoopback makes 127.0.0.1 work, as tests of programs expect, and opens the one
// listener whose other side is outside.
func (s *stage) bringUpLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil || !s.Loopback {
		return err
	}
	s.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var port int
	if _, err := fmt.Sscanf(LoopbackAddress, "127.0.0.1:%d", &port); err != nil {
		return err
	}
	if err := unix.Bind(s.listener, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	return unix.Listen(s.listener, 128)
}

// startProgram sets the limits and starts the program in a session of its own.
func (s *stage) startProgram() (pid int, err error) {
	if err := s.limit(s.join()); err != nil {
		return 0, &stepError{"limiting the program", err}
	}
	name := s.Argv[0]
	file := fmt.Sprintf("/proc/self/fd/%d", s.self)
	if s.self < 0 {
		if file, err = lookPath(name, s.Env, s.Dir); err != nil {
			return 0, &programError{name, err}
		}
	}
	pid, err = syscall.ForkExec(file, s.Argv, &syscall.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		if _, dirErr := os.Stat(s.Dir); dirErr != nil {
			err = dirErr
		}
		return 0, &programError{name, err}
	}
	return pid, nil
}

// join puts this thread, and with it the program, into the host's control groups.
func (s *stage) join() (held joined) {
	for _, g := range s.Groups {
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

// programError says that the program could not be started in a sandbox that stands.
type programError struct {
	name string
	err  error
}

func (e *programError) Error() string { return e.name + ": " + e.err.Error() }
func (e *programError) Unwrap() error { return e.err }

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

// say sends the host one message, with a descriptor unless that is -1.
func say(m stageMessage, descriptor int) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var rights []byte
	if descriptor >= 0 {
		rights = unix.UnixRights(descriptor)
		defer unix.Close(descriptor)
	}
	for {
		err := unix.Sendmsg(controlFD, data, rights, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}

func sayFailure(err error) int {
	f := &stageFailure{Text: err.Error()}
	var (
		mount   *MountError
		program *programError
		failed  *stepError
	)
	switch {
	case errors.As(err, &mount):
		f.Mount, err = &mount.Mount, mount.Err
	case errors.As(err, &program):
		f.Program, f.Step, err = true, program.name, program.err
	case errors.As(err, &failed):
		f.Step, err = failed.step, failed.err
	}
	f.Text = err.Error()
	if errors.As(err, &f.Errno) {
		f.Text = strings.TrimSuffix(strings.TrimSuffix(f.Text, f.Errno.Error()), ": ")
	}
	_ = say(stageMessage{Failure: f}, -1) // who is not there does not wait for it
	return 1
}
