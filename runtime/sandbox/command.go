package sandbox

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

const (
	// CommandHome is where the private home lies inside the sandbox.
	CommandHome = "/home/air"
	// CommandUser is the name of the one user inside.
	CommandUser = "air"
	// LoopbackAddress is what the listener of Command.Loopback listens on, inside.
	LoopbackAddress = "127.0.0.1:3128"
)

// Command is a program behind a sandbox that is built up from nothing: an empty root, a
// private /tmp, /dev, /proc and home, and then only what Mounts names. It has no network
// but its own loopback, no capabilities, and ends with its whole tree.
type Command struct {
	// Argv is the program and its arguments. A name without a slash is looked up inside
	// the sandbox, in the PATH of Env.
	Argv []string
	// Env is the whole environment; nothing is inherited. Nil is DefaultEnv.
	Env []string
	// Dir is the working directory, inside the sandbox; "" is the home.
	Dir string
	// Stdin is what the program reads, through a pipe; nil is empty. A terminal is refused.
	Stdin io.Reader
	// Stdout and Stderr receive what the program writes, through a pipe whatever they
	// are; nil discards. One that answers an error has its pipe closed, so that the
	// program gets SIGPIPE.
	Stdout, Stderr io.Writer
	// Mounts are made in order; a later one covers an earlier one. System returns those
	// that most programs need.
	Mounts []Mount
	// Home is the host's folder that is the home inside, readable and writable; "" is an
	// empty home that goes with the run.
	Home string
	// Limits bound the tree; zero fields are the documented defaults.
	Limits CommandLimits
	// Loopback opens a listener on LoopbackAddress inside and hands it to the host, see
	// Process.Listener. It is the one way out, and whoever accepts on it decides.
	Loopback bool
	// Starter starts the process; nil is one for this command alone.
	Starter *Starter

	self []string // if set: this program itself runs inside, under these arguments
}

// DefaultEnv is the environment of a command that names none.
func DefaultEnv() []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + CommandHome, "USER=" + CommandUser, "LOGNAME=" + CommandUser,
		"LANG=C.UTF-8", "TMPDIR=/tmp",
	}
}

// Mode says what a mount lets the program do.
type Mode int

// The modes of a mount.
const (
	ReadOnly  Mode = iota // Source is seen at Target
	ReadWrite             // and may be written
	Covered               // Target is hidden behind an empty place that cannot be read
	Layered               // Source is seen and may be written; what is written goes to Upper
	Link                  // Target is a symbolic link that says Source
)

func (m Mode) String() string {
	names := []string{"read-only", "read-write", "covered", "layered", "link"}
	if m < 0 || int(m) >= len(names) {
		return fmt.Sprintf("mode %d", int(m))
	}
	return names[m]
}

// Mount puts something of the host at a place inside.
type Mount struct {
	// Source is a canonical path of the host: a symbolic link anywhere in it is refused.
	// "" is the same path as Target. Mounts below it come along.
	Source string
	// Target is an absolute, clean path inside. Where it lies in an earlier mount it has
	// to exist there and no symbolic link may lead to it; elsewhere it is created.
	Target string
	Mode   Mode
	// Upper is the host's folder for what is written to a Layered mount. One run at a
	// time may use it: the kernel does not define what happens to a layer that two share.
	Upper string
	// Optional leaves the mount out where Source or Target does not exist.
	Optional bool
}

// CommandLimits bound a run. Zero fields are the defaults.
type CommandLimits struct {
	// MemoryBytes bounds what the whole tree holds, with its /tmp; without a memory
	// cgroup, what each process allocates. The default is 8 GiB.
	MemoryBytes int64
	// CPUSeconds bounds each process. The default is one hour.
	CPUSeconds int64
	// FileBytes is the size that no file can grow beyond. The default is 8 GiB.
	FileBytes int64
	// OpenFiles bounds each process. The default is 4096.
	OpenFiles int64
	// Processes bounds processes and threads of the whole tree. The default is 4096.
	Processes int64
	// TmpBytes bounds /tmp, and likewise a home that goes with the run; /dev/shm has a
	// quarter of it. The default is 1 GiB.
	TmpBytes int64
}

func (l CommandLimits) orDefaults() CommandLimits {
	for _, d := range []struct {
		field *int64
		value int64
	}{
		{&l.MemoryBytes, 8 << 30},
		{&l.CPUSeconds, 3600},
		{&l.FileBytes, 8 << 30},
		{&l.OpenFiles, 4096},
		{&l.Processes, 4096},
		{&l.TmpBytes, 1 << 30},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return l
}

// Held says what holds one limit of a run, or one layer of its sandbox.
type Held struct {
	Name  string
	Value int64  // of a limit
	How   string // "" is: nothing holds it on this machine
}

// Confinement is how a run was confined, as it really happened.
type Confinement struct {
	Limits   []Held
	Layers   []Held // Name is the target of a Layered mount
	Landlock int    // version of the kernel's interface; 0 is none
}

// Limit returns what holds the limit of a name.
func (c Confinement) Limit(name string) Held {
	i := slices.IndexFunc(c.Limits, func(h Held) bool { return h.Name == name })
	if i < 0 {
		return Held{Name: name}
	}
	return c.Limits[i]
}

// Exit is how a program ended. That it failed is no error of the sandbox.
type Exit struct {
	Code        int  // 0 to 255; 128 + Signal when a signal ended it
	Signal      int  // 0 for none
	Killed      bool // from outside: by Kill, by the context, or because the tree's init was killed
	OutOfMemory bool // the kernel killed something in the tree because memory was at its limit
	CPU         time.Duration
}

// ErrNoNamespaces is what errors.Is finds in every TierError.
var ErrNoNamespaces = errors.New("this machine does not let air build a sandbox for commands")

// TierError says why a command cannot be held here. The command did not run.
type TierError struct {
	Step string // what was tried
	Err  error
}

func (e *TierError) Error() string { return fmt.Sprintf("%v: %s: %v", ErrNoNamespaces, e.Step, e.Err) }

// Unwrap gives both.
func (e *TierError) Unwrap() []error { return []error{ErrNoNamespaces, e.Err} }

// MountError says which mount could not be made. The command did not run.
type MountError struct {
	Mount Mount
	Err   error
}

func (e *MountError) Error() string {
	return fmt.Sprintf("mounting %s %q in the sandbox: %v", e.Mount.Mode, e.Mount.Target, e.Err)
}

// Unwrap gives the cause.
func (e *MountError) Unwrap() error { return e.Err }
