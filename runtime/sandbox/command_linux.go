package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

const (
	// stageName is the argv[0] that makes this program the init of a sandbox.
	stageName = "air-sandbox"
	// pipeDelay is how long pipes are read after the tree has ended. Nobody inside can
	// hold them by then, so it is the host's own writer that may be slow.
	pipeDelay = 2 * time.Second
	// Descriptors of the stage besides the standard three.
	configFD, controlFD, firstTasksFD = 3, 4, 5
	// packetBytes bounds one message of the stage.
	packetBytes = 64 << 10
)

// stageConfig is what the stage is told, as JSON in a memory file.
type stageConfig struct {
	Argv, Env []string
	Dir       string
	Mounts    []Mount
	Home      string
	Limits    CommandLimits
	Loopback  bool
	Self      bool // Argv are arguments of this program itself
	UID, GID  int  // of the user inside
	Root      bool // that user is root outside
	Groups    []joined
}

// stageMessage is what the stage says: once when the sandbox stands, once when the program
// runs, once when it has ended; or instead why not.
type stageMessage struct {
	Failure     *stageFailure `json:",omitempty"`
	Confinement *Confinement  `json:",omitempty"`
	Status      *int          `json:",omitempty"` // of wait(2)
	CPU         time.Duration `json:",omitempty"`
}

// stageFailure is an error on its way to the host.
type stageFailure struct {
	Step    string
	Mount   *Mount        `json:",omitempty"` // the mount that could not be made
	Program bool          `json:",omitempty"` // the program could not be started, in a sandbox that stood
	Text    string        `json:",omitempty"`
	Errno   syscall.Errno `json:",omitempty"` // 0 when the kernel gave none
}

// joined is one of the host's control groups, and how it holds which limits.
type joined struct {
	// Tasks is the descriptor by which the thread that starts the program joins; 0 for a
	// group that the init was born in.
	Tasks             int
	Memory, Processes string // "" for a limit that it does not hold
}

// Process is a command that runs.
type Process struct {
	cmd         *exec.Cmd
	ended       func() error // why the context of Start has ended, or nil
	starter     *Starter
	control     *net.UnixConn
	group       *cgroup
	listener    net.Listener
	confinement Confinement

	once sync.Once
	exit Exit
	err  error
}

// Start builds the sandbox and starts the program in it. The program runs when Start
// returns nil. When ctx ends, the whole tree is killed. The error is a *TierError where
// this machine does not let air build the sandbox, a *MountError for a mount that cannot
// be made, and an *exec.Error for a program that cannot be started.
func (c Command) Start(ctx context.Context) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Process{ended: ctx.Err, starter: c.Starter}
	if p.starter == nil {
		p.starter = new(Starter)
		defer p.starter.Close()
	}
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
	if len(c.Argv) == 0 && c.self == nil {
		return errors.New("a command needs a program")
	}
	if f, ok := c.Stdin.(*os.File); ok && f != nil && term.IsTerminal(int(f.Fd())) {
		return errors.New("a command does not read from a terminal")
	}
	for _, m := range c.Mounts {
		if m.Target == "/" || !path.IsAbs(m.Target) || path.Clean(m.Target) != m.Target {
			return &MountError{m, errors.New("the target is no absolute, clean path below /")}
		}
	}
	return nil
}

func (p *Process) start(ctx context.Context, c Command) error {
	p.group = newCgroup(c.Limits.orDefaults())
	err := p.startStage(ctx, c)
	if err != nil && p.group.bornIn() >= 0 {
		// Not every group that can be made can be entered.
		p.group.remove()
		p.group = nil
		err = p.startStage(ctx, c)
	}
	if err != nil {
		p.group.remove()
		return err
	}
	if err := p.handshake(); err != nil {
		p.Kill()
		_ = p.cmd.Wait()
		p.release()
		if errors.Is(err, errSilent) {
			return &TierError{"building the sandbox", fmt.Errorf("%w (%v)", err, p.cmd.ProcessState)}
		}
		return err
	}
	return nil
}

// startStage starts the init, which goes on by itself.
func (p *Process) startStage(ctx context.Context, c Command) error {
	config, err := c.config(p.group)
	if err != nil {
		return err
	}
	defer config.Close()
	host, stage, err := controlPair()
	if err != nil {
		return err
	}
	defer stage.Close() // so that the end of the init is the end of the stream
	p.cmd = c.stageCommand(ctx, append([]*os.File{config, stage}, p.group.tasks()...)...)
	if fd := p.group.bornIn(); fd >= 0 {
		p.cmd.SysProcAttr.UseCgroupFD, p.cmd.SysProcAttr.CgroupFD = true, fd
	}
	if err := p.starter.Start(p.cmd); err != nil {
		host.Close()
		return &TierError{"starting a process in namespaces of its own", err}
	}
	p.control = host
	return nil
}

// config writes what the stage is told to a memory file.
func (c Command) config(group *cgroup) (*os.File, error) {
	sc := stageConfig{
		Groups: group.joined(),
		Argv:   c.Argv, Env: c.Env, Dir: c.Dir, Mounts: slices.Clone(c.Mounts), Home: c.Home,
		Limits: c.Limits.orDefaults(), Loopback: c.Loopback,
	}
	sc.UID, sc.GID, sc.Root = insideID(os.Getuid()), insideID(os.Getgid()), os.Getuid() == 0
	if c.self != nil {
		sc.Argv, sc.Self = c.self, true
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
	fd, err := unix.MemfdCreate(stageName, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), stageName)
	if err := json.NewEncoder(f).Encode(sc); err != nil {
		f.Close()
		return nil, fmt.Errorf("telling the sandbox its command: %w", err)
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// insideID maps root away: a program that believes to be root tries what it cannot do in
// here. tar gives files their owners, package managers change users, databases refuse to
// start. An ordinary user keeps its number. Files of the user who runs air, root or not,
// are those of the one user inside.
func insideID(id int) int {
	if id == 0 {
		return 1000
	}
	return id
}

func (c Command) stageCommand(ctx context.Context, files ...*os.File) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = []string{stageName}
	cmd.Dir = "/"
	// One thread runs at a time and nothing is collected: the init does next to nothing,
	// and must not need a new thread where the program has used up all processes.
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=off", "GODEBUG=containermaxprocs=0,updatemaxprocs=0", "GOTRACEBACK=none"}
	if c.Stdin != nil {
		cmd.Stdin = struct{ io.Reader }{c.Stdin}
	}
	cmd.Stdout, cmd.Stderr = throughPipe(c.Stdout), throughPipe(c.Stderr)
	cmd.ExtraFiles = files
	cmd.WaitDelay = pipeDelay
	uid, gid := os.Getuid(), os.Getgid()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: insideID(uid), HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: insideID(gid), HostID: gid, Size: 1}},
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
		// setgroups denied before it maps a group.
		cmd.SysProcAttr.GidMappingsEnableSetgroups = true
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(insideID(uid)), Gid: uint32(insideID(gid))}
	}
	return cmd
}

// throughPipe keeps files of the host out of the sandbox, as is done for Stdin. One may be
// a folder, or be open for more than it is handed over for: a terminal usually is, and would
// let the program read what a person types.
func throughPipe(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		return struct{ io.Writer }{f}
	}
	return w
}

// controlPair returns the host's end of a connection that keeps messages apart, and the
// stage's.
func controlPair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket pair: %w", err)
	}
	stage := os.NewFile(uintptr(fds[1]), "stage")
	f := os.NewFile(uintptr(fds[0]), "host")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		stage.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), stage, nil
}

// handshake follows the stage until the program runs.
func (p *Process) handshake() error {
	if _, err := p.receive(); err != nil {
		return err
	}
	running, err := p.receive()
	if err == nil && running.Confinement != nil {
		p.confinement = *running.Confinement
	}
	return err
}

var errSilent = errors.New("its init ended without a word")

// receive reads one message, and the listener that may come with it.
func (p *Process) receive() (stageMessage, error) {
	var m stageMessage
	data, rights := make([]byte, packetBytes), make([]byte, unix.CmsgSpace(4))
	n, rn, _, _, err := p.control.ReadMsgUnix(data, rights)
	if err != nil || n == 0 {
		return m, errSilent
	}
	if err := json.Unmarshal(data[:n], &m); err != nil {
		return m, fmt.Errorf("reading what the sandbox's init says: %w", err)
	}
	if m.Failure != nil {
		return m, m.Failure.err()
	}
	if rn > 0 {
		p.listener, err = listenerFrom(rights[:rn])
	}
	return m, err
}

func listenerFrom(rights []byte) (net.Listener, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("receiving the listener: %w", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("receiving the listener: %w", err)
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	unix.CloseOnExec(fds[0])
	return net.FileListener(f)
}

// err is the error that the stage met.
func (f *stageFailure) err() error {
	err := errors.New(f.Text)
	switch {
	case f.Text == exec.ErrNotFound.Error():
		err = exec.ErrNotFound
	case f.Text == "" && f.Errno != 0:
		err = f.Errno
	case f.Errno != 0:
		err = fmt.Errorf("%s: %w", f.Text, f.Errno)
	}
	switch {
	case f.Mount != nil:
		return &MountError{*f.Mount, err}
	case f.Program:
		return &exec.Error{Name: f.Step, Err: err}
	}
	return &TierError{f.Step, err}
}

// Listener is the listener of Command.Loopback, or nil. It is closed when the process ends.
func (p *Process) Listener() net.Listener { return p.listener }

// Confinement says how the run is confined.
func (p *Process) Confinement() Confinement { return p.confinement }

// Kill ends the whole tree. Wait has still to be called.
func (p *Process) Kill() { _ = p.cmd.Process.Kill() }

// Wait waits until the program has ended and with it all that it started, then frees what
// the host holds of it. The error is that of the context if it ended the run, or of
// reading and writing the standard streams; how the program ended is in Exit. Further
// calls return the same.
func (p *Process) Wait() (Exit, error) {
	p.once.Do(func() { p.exit, p.err = p.wait() })
	return p.exit, p.err
}

func (p *Process) wait() (Exit, error) {
	streams := p.cmd.Wait()
	last, said := p.receive()
	exit := Exit{Code: 128 + int(unix.SIGKILL), Signal: int(unix.SIGKILL), Killed: true}
	if said == nil && last.Status != nil {
		exit = exitOf(unix.WaitStatus(*last.Status))
		exit.CPU = last.CPU
	}
	exit.OutOfMemory = p.group.outOfMemory()
	p.release()
	var status *exec.ExitError
	switch {
	case exit.Killed && p.ended() != nil:
		return exit, p.ended()
	case errors.As(streams, &status), errors.Is(streams, exec.ErrWaitDelay):
		return exit, nil
	case p.ended() != nil && errors.Is(streams, p.ended()):
		return exit, nil // it was done before its context was
	}
	return exit, streams
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
		p.listener.Close()
	}
	p.control.Close()
	p.group.remove()
	p.starter.Ended()
}
