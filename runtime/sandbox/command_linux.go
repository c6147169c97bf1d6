package sandbox

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

const (
	// initName is the argv[0] that makes this program the init of a sandbox.
	initName = "air-sandbox"
	// Descriptors of the init besides the standard three.
	configFD, controlFD, firstTasksFD = 3, 4, 5
	// buildPatience is how long the init may take until the program runs; a machine that is
	// busy takes a second. endPatience is how long a tree may take to end that was killed:
	// one that the kernel cannot end, for it waits for a disk or a server, is left behind.
	buildPatience, endPatience = time.Minute, 10 * time.Second
)

// errSlow is no *UnavailableError: another time there will be a sandbox.
var errSlow = fmt.Errorf("the sandbox was not built within %v", buildPatience)

var errStays = fmt.Errorf("the program was killed, and its tree has not ended in %v", endPatience)

// Process is a command that runs.
type Process struct {
	cmd         *exec.Cmd
	ended       <-chan struct{} // when the context of Start has
	killed      chan struct{}   // when Kill was called
	stopped     error           // why the context of Start ended, if it did before the process
	exited      <-chan error    // what waiting for cmd returned
	waited      error           // that, once it has
	streams     *streams
	control     *net.UnixConn
	group       *cgroup
	listener    net.Listener
	talk        net.Conn
	confinement Confinement

	once, killing sync.Once
	exit          Exit
	err           error
}

// Start builds the sandbox and starts the program in it. The program runs when Start
// returns nil. When ctx ends, the whole tree is killed. The error is an *UnavailableError where
// this machine does not let air build the sandbox, a *MountError for a mount that cannot
// be made, and an *exec.Error for a program that cannot be started.
func (c Command) Start(ctx context.Context) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Process{ended: ctx.Done(), killed: make(chan struct{})}
	if err := p.start(ctx, c); err != nil {
		if ended := ctx.Err(); ended != nil {
			return nil, ended
		}
		return nil, err
	}
	return p, nil
}

// check refuses what no sandbox is needed to see.
func (c Command) check() error {
	if len(c.Argv) == 0 && c.Self == nil {
		return errors.New("a command needs a program")
	}
	if c.Talk && c.Self == nil {
		return errors.New("a command talks only with this program itself")
	}
	if f, ok := c.Stdin.(*os.File); ok && isTerminal(f) {
		return errors.New("a command does not read from a terminal")
	}
	layers := 0
	for _, m := range append([]Mount{{Source: c.Home, Target: CommandHome}}, c.Mounts...) {
		if m.Target == "/" || !path.IsAbs(m.Target) || path.Clean(m.Target) != m.Target {
			return &MountError{m, errors.New("the target is no absolute, clean path below /")}
		}
		if max(len(m.Source), len(m.Target), len(m.Upper)) >= unix.PathMax {
			return &MountError{m, unix.ENAMETOOLONG}
		}
		if m.Mode == Layered {
			layers += len(m.Target) + layerBytes
		}
		if layers > layersBytes {
			return &MountError{m, errors.New("there are too many layered mounts to report on")}
		}
	}
	return nil
}

// isTerminal does not call f.Fd, which would make the file one whose reads block for good.
func isTerminal(f *os.File) (yes bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	err = conn.Control(func(fd uintptr) { yes = term.IsTerminal(int(fd)) })
	return yes && err == nil
}

func (p *Process) start(ctx context.Context, c Command) error {
	var err error
	if p.streams, err = newStreams(c.Stdin, c.Stdout, c.Stderr); err != nil {
		return err
	}
	p.group = newCgroup(c.Limits.withDefaults())
	err = p.startInit(ctx, c)
	if err != nil && p.group.bornIn() >= 0 {
		// Not every group that can be made can be entered.
		p.group.remove()
		p.group = nil
		err = p.startInit(ctx, c)
	}
	if err != nil {
		p.streams.abandon()
		p.group.remove()
		p.dropTalk()
		return err
	}
	if err := p.handshake(); err != nil {
		p.Kill()
		exited := p.awaitExit()
		p.streams.abandon()
		p.release()
		if errors.Is(err, errSilent) && exited {
			return &UnavailableError{"building the sandbox", fmt.Errorf("%w (%v)", err, p.cmd.ProcessState)}
		}
		return err
	}
	p.streams.begin()
	return nil
}

// startInit starts the init, which goes on by itself.
func (p *Process) startInit(ctx context.Context, c Command) error {
	tasks := p.group.tasks()
	talkFD := 0
	if c.Talk {
		talkFD = firstTasksFD + len(tasks)
	}
	config, err := c.config(p.group, talkFD)
	if err != nil {
		return err
	}
	defer config.Close()
	host, inside, err := connect(unix.SOCK_SEQPACKET)
	if err != nil {
		return err
	}
	defer inside.Close() // so that the end of the init is the end of the stream
	files := append([]*os.File{config, inside}, tasks...)
	if c.Talk {
		talk, end, err := connect(unix.SOCK_STREAM)
		if err != nil {
			_ = host.Close()
			return err
		}
		defer end.Close()
		p.dropTalk() // of a first try
		p.talk, files = talk, append(files, end)
	}
	p.cmd = c.initCommand(ctx, files...)
	p.cmd.Cancel = func() error {
		p.stopped = ctx.Err()
		return p.cmd.Process.Kill()
	}
	if fd := p.group.bornIn(); fd >= 0 {
		p.cmd.SysProcAttr.UseCgroupFD, p.cmd.SysProcAttr.CgroupFD = true, fd
	}
	p.streams.handTo(p.cmd)
	if p.exited, err = Start(p.cmd); err != nil {
		_ = host.Close()
		return &UnavailableError{"starting a process in namespaces of its own", err}
	}
	p.control = host
	return nil
}

func (p *Process) dropTalk() {
	if p.talk != nil {
		_ = p.talk.Close()
	}
}

// config writes what the init is told to a memory file.
func (c Command) config(group *cgroup, talk int) (*os.File, error) {
	sc := initConfig{
		Groups: group.joined(),
		Argv:   c.Argv, Env: c.Env, Dir: c.Dir, Mounts: slices.Clone(c.Mounts), Home: c.Home,
		Limits: c.Limits.withDefaults(), Loopback: c.Loopback, Talk: talk,
	}
	sc.UID, sc.GID, sc.Root = c.insideID(os.Getuid()), c.insideID(os.Getgid()), os.Getuid() == 0
	if c.Self != nil {
		sc.Argv, sc.Self = c.Self, true
	}
	if sc.Env == nil {
		sc.Env = DefaultEnv()
	}
	if sc.Dir == "" {
		sc.Dir = CommandHome
	}
	for i, m := range sc.Mounts {
		if m.Source == "" {
			sc.Mounts[i].Source = m.Target
		}
	}
	fd, err := unix.MemfdCreate(initName, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), initName)
	if err := gob.NewEncoder(f).Encode(sc); err != nil {
		f.Close()
		return nil, fmt.Errorf("telling the sandbox its command: %w", err)
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// insideID maps root away, but for KeepRoot: a program that believes to be root tries what it
// cannot do in here. tar gives files their owners, package managers change users, databases
// refuse to start. An ordinary user keeps its number. Files of the user who runs air, root or
// not, are those of the one user inside.
func (c Command) insideID(id int) int {
	if id == 0 && !c.KeepRoot {
		return 1000
	}
	return id
}

func (c Command) initCommand(ctx context.Context, files ...*os.File) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = []string{initName}
	cmd.Dir = "/"
	// One thread runs at a time and nothing is collected: the init does next to nothing,
	// and must not need a new thread where the program has used up all processes. The
	// limit, at which it collects all the same, is many times what it needs.
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=32MiB", "GODEBUG=containermaxprocs=0,updatemaxprocs=0", "GOTRACEBACK=none"}
	cmd.ExtraFiles = files
	uid, gid := os.Getuid(), os.Getgid()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: c.insideID(uid), HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: c.insideID(gid), HostID: gid, Size: 1}},
		Setsid:      true,
		Pdeathsig:   syscall.SIGKILL,
		// For mounts, the loopback, the bounding set, the number of namespaces, and the
		// work folder of an overlay, which has no permissions.
		AmbientCaps: []uintptr{
			unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE, unix.CAP_DAC_OVERRIDE,
		},
	}
	if uid == 0 {
		// Only root may drop its supplementary groups. For others the kernel wants
		// setgroups denied before it maps a group, and so it does for the root of a namespace
		// that denies it.
		drop := setgroupsAllowed()
		cmd.SysProcAttr.GidMappingsEnableSetgroups = drop
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(c.insideID(uid)), Gid: uint32(c.insideID(gid)), NoSetGroups: !drop}
	}
	return cmd
}

func setgroupsAllowed() bool {
	text, err := os.ReadFile("/proc/self/setgroups")
	return err != nil || strings.TrimSpace(string(text)) == "allow"
}

// connect returns the host's end of a connection, and the sandbox's.
func connect(kind int) (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket pair: %w", err)
	}
	inside := os.NewFile(uintptr(fds[1]), "sandbox")
	f := os.NewFile(uintptr(fds[0]), "host")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		inside.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), inside, nil
}

// handshake waits until the program runs.
func (p *Process) handshake() error {
	_ = p.control.SetReadDeadline(time.Now().Add(buildPatience)) // a socket pair knows deadlines
	running, err := p.receive()
	_ = p.control.SetReadDeadline(time.Time{})
	if err == nil && running.Confinement != nil {
		p.confinement = *running.Confinement
	}
	return err
}

// Listener is the listener of Command.Loopback, or nil. It is closed when the process ends.
func (p *Process) Listener() net.Listener { return p.listener }

// Conn is the host's end of Command.Talk, or nil. It is closed when the process ends.
func (p *Process) Conn() net.Conn { return p.talk }

// PID is the number, on the host, of the process that all of the tree descend from.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Confinement says how the run is confined.
func (p *Process) Confinement() Confinement { return p.confinement }

// Kill ends the whole tree. Wait has still to be called.
func (p *Process) Kill() {
	p.killing.Do(func() { close(p.killed) })
	_ = p.cmd.Process.Kill()
}

// Wait waits until the program has ended and with it all that it started, then frees what
// the host holds of it. The error is that of the context if it ended the run, or of
// reading and writing the standard streams; how the program ended is in Exit. A Read of Stdin
// that hangs is not waited for, a Write of Stdout or Stderr for ten seconds, and then the
// error says that output was lost; so it is said of a tree that has not ended ten seconds
// after it was killed. Further calls return the same.
func (p *Process) Wait() (Exit, error) {
	p.once.Do(func() { p.exit, p.err = p.wait() })
	return p.exit, p.err
}

func (p *Process) wait() (Exit, error) {
	exit := Exit{Code: 128 + int(unix.SIGKILL), Signal: int(unix.SIGKILL), Killed: true}
	if !p.awaitExit() {
		p.release()
		p.streams.abandon()
		return exit, errStays
	}
	last, said := p.receive()
	if said == nil && last.Ended {
		exit = exitOf(unix.WaitStatus(last.Status))
		exit.CPU = last.CPU
	}
	exit.Uncovered = last.Uncovered
	exit.OutOfMemory = p.group.outOfMemory()
	p.release()
	err := p.streams.wait()
	if exit.Killed && p.stopped != nil {
		err = p.stopped
	}
	return exit, err
}

// awaitExit waits until the init has ended, and reports whether it did: where it was killed,
// it has some time for that. How it ended does not matter, for how the program did is in its
// last message.
func (p *Process) awaitExit() bool {
	select {
	case p.waited = <-p.exited:
		return true
	case <-p.ended:
	case <-p.killed:
	}
	select {
	case p.waited = <-p.exited:
		return true
	case <-time.After(endPatience):
		return false
	}
}

func exitOf(status unix.WaitStatus) Exit {
	if status.Signaled() {
		return Exit{Code: 128 + int(status.Signal()), Signal: int(status.Signal())}
	}
	return Exit{Code: status.ExitStatus()}
}

// release frees what the host holds of a process that is gone.
func (p *Process) release() {
	if p.listener != nil {
		_ = p.listener.Close()
	}
	_ = p.control.Close()
	p.dropTalk()
	p.group.remove()
}
