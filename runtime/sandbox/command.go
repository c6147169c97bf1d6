package sandbox

import (
	"fmt"
	"io"
	"time"
)

const (
	// CommandHome is where the private home lies inside the sandbox.
	CommandHome = "/home/air"
	// CommandUser is the name of the one user inside.
	CommandUser = "air"
	// LoopbackAddress is what the listener of Command.Loopback listens on, inside.
	LoopbackAddress = "127.0.0.1:3128"
	// TalkFD is the descriptor of Command.Talk, inside.
	TalkFD = 3
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
	// Stdin is what the program reads, through a pipe; nil is the sandbox's own /dev/null,
	// as it is for Stdout and Stderr. A terminal is refused.
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
	// KeepRoot lets root be root inside by its number, for a program that compares the owners of
	// files with what it noted outside. It has no capabilities all the same, and of files it may
	// what their owner may. For others it changes nothing.
	KeepRoot bool
	// Loopback opens a listener on LoopbackAddress inside and hands it to the host, see
	// Process.Listener. It is the one way out, and whoever accepts on it decides.
	Loopback bool

	// Self, if set, takes the place of Argv: this program itself runs inside, under these
	// arguments, and tells by the first of them that it does. Nothing of its file is seen
	// inside.
	Self []string
	// Talk connects the host with Self by a stream that is no part of its standard three, see
	// Process.Conn. Self finds it as descriptor TalkFD, which it must not hand on.
	Talk bool
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

// Mount puts something of the host at a place inside. It guards the place, not the file: one
// that has another name too, a hard link or a second mount of a folder above it, can be
// reached by that.
type Mount struct {
	// Source is a canonical path of the host: a symbolic link anywhere in it is refused.
	// "" is the same path as Target. Mounts below it come along.
	Source string
	// Target is an absolute, clean path inside. Where it lies in an earlier mount it has
	// to exist there and no symbolic link may lead to it; elsewhere it is created.
	// Inside, neither it nor a folder above it can be renamed or removed. The price: each
	// folder between it and the writable mount that it lies in is a mount of its own, and
	// nothing can be renamed or linked from one mount to another, EXDEV; mv copies then.
	Target string
	Mode   Mode
	// Over, if set, is what has to lie at Target before. Whoever decides about a path of the
	// host knows by it that the mount lies over what was decided about, and not over what has
	// been renamed to its place meanwhile.
	Over FileID
	// Upper is the host's folder for what is written to a Layered mount. One run at a
	// time may use it: the kernel does not define what happens to a layer that two share.
	Upper string
	// Optional leaves the mount out where Source or Target does not exist. What is made at
	// Target later is not protected.
	Optional bool
}

// FileID tells one file of the host from all others; the zero value is none.
type FileID struct{ Device, Inode uint64 }

// CommandLimits bound a run. Zero fields are the defaults.
type CommandLimits struct {
	// MemoryBytes bounds what the whole tree holds, with its /tmp; without a memory
	// cgroup, what each process allocates for itself, and not what it shares. The
	// default is 8 GiB.
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

func (l CommandLimits) withDefaults() CommandLimits {
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

// Exit is how a program ended. That it failed is no error of the sandbox.
type Exit struct {
	Code        int  // 0 to 255; 128 + Signal when a signal ended it
	Signal      int  // 0 for none
	Killed      bool // from outside: by Kill, by the context, for Uncovered, or because the tree's init was killed
	OutOfMemory bool // the kernel killed something in the tree because memory was at its limit
	CPU         time.Duration
	// Uncovered is a target that lost its mount during the run, "" for none: something
	// outside renamed, replaced or removed the file or folder that lies under it. The tree
	// is killed once that is seen, a moment after it happened, a fifth of a second at most.
	// Until then the program may have read or written what was protected there.
	Uncovered string
}

// UnavailableError says why a command cannot be held here. The command did not run.
type UnavailableError struct {
	Step string // what was tried
	Err  error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("this machine does not let air build a sandbox for commands: %s: %v", e.Step, e.Err)
}

// Unwrap gives the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

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
