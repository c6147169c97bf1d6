package sandbox

import (
	"encoding/gob"
	"errors"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// serveIfChild turns the process into the init of a sandbox, or into a probe inside of one,
// and does not return, when it was started as such.
func serveIfChild() {
	if len(os.Args) == 0 {
		return
	}
	serveIfWorkerProbe()
	switch os.Args[0] { // unix.Exit, for an init does not wait for what else runs in it
	case initName:
		unix.Exit(offFirstThread(runInit))
	case commandProbe:
		unix.Exit(runProbe(os.Args[1:]))
	}
}

// initProcess is process 1 of a sandbox: it builds the sandbox, gives up all it has, starts
// the program and stays, to reap orphans and to watch the mounts. When it ends, the kernel
// kills all that is left.
type initProcess struct {
	initConfig
	root     *root
	listener int // -1 for none
	self     int // this program's file, -1 unless it is what runs
	held     Confinement
	watch    *watch
}

// offFirstThread runs the init on one thread, as the bounding set is each thread's own, and
// not on the process's first. The thread that starts a program blocks all signals meanwhile,
// and while the first thread does so, the kernel does not keep a process 1 from dying of a
// signal that it has no handler for, see dropHandlers.
func offFirstThread(f func() int) int {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		return f()
	}
	result := make(chan int)
	go func() { result <- offFirstThread(f) }()
	return <-result
}

// runInit returns the exit code of the init; what became of the program is in its last
// message.
func runInit() int {
	i := &initProcess{listener: -1, self: -1}
	if err := i.build(); err != nil {
		return sayFailure(err)
	}
	if err := i.confine(); err != nil {
		return sayFailure(err)
	}
	program, err := i.startProgram()
	if err != nil {
		return sayFailure(err)
	}
	// What the program writes to ends when its own tree lets go of it.
	for fd := range 3 {
		unix.Close(fd)
	}
	if i.Talk > 0 {
		unix.Close(i.Talk)
	}
	if err := say(initMessage{Confinement: &i.held}, i.listener); err != nil {
		return 1
	}
	go i.endWhenUncovered()
	return i.reap(program)
}

// endWhenUncovered ends the init, and with it all that runs here.
func (i *initProcess) endWhenUncovered() {
	target := i.watch.wait()
	_ = say(initMessage{Uncovered: target}, -1) // a host that is gone needs no word
	unix.Exit(1)
}

// reap waits for all that end in the tree, until the program has.
func (i *initProcess) reap(program int) int {
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
		spent := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		_ = say(initMessage{Ended: true, Status: int(status), CPU: spent, Uncovered: i.watch.lost()}, -1)
		return 0 // a host that is gone needs no word
	}
}

// steps runs steps by name until one fails. A mount that the caller named is its own error.
func steps(all ...step) error {
	for _, s := range all {
		err := s.run()
		var mount *MountError
		if errors.As(err, &mount) {
			return err
		}
		if err != nil {
			return &UnavailableError{s.name, err}
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
func (i *initProcess) build() error {
	var mounts []prepared
	var devices []source
	return steps(
		step{"closing inherited descriptors", closeAllOnExec},
		step{"reading what to run", i.readConfig},
		step{"preparing the first process", i.prepare},
		step{"making mounts private", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		step{"opening what to mount", func() (err error) { mounts, err = prepareMounts(i.mounts()); return err }},
		step{"opening devices", func() (err error) { devices, err = openDevices(); return err }},
		step{"making an empty root", func() (err error) { i.root, err = newRoot(); return err }},
		step{"making /proc", i.makeProc},
		step{"making /dev", func() error { return i.makeDev(devices) }},
		step{"making private folders", i.makeFolders},
		step{"mounting", func() error {
			for _, m := range mounts {
				if err := i.root.add(m); err != nil {
					return err
				}
			}
			return nil
		}},
		step{"making users", i.makeUsers},
		step{"entering the new root", func() error { return i.root.enter() }},
		step{"opening the standard streams", openStreams},
		step{"watching the mounts", func() (err error) { i.watch, err = newWatch(i.root.targets); return err }},
		step{"bringing up the loopback", i.bringUpLoopback},
	)
}

// closeAllOnExec keeps from the program what the host itself inherited, without meaning to
// hand it on: it could be a folder outside.
func closeAllOnExec() error { return unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) }

func (i *initProcess) readConfig() error {
	f := os.NewFile(configFD, "config")
	defer f.Close()
	return gob.NewDecoder(f).Decode(&i.initConfig)
}

// prepare prepares for the life of a process 1.
func (i *initProcess) prepare() error {
	// Of all processes, those in here are the first to go when memory is short.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	spareThreads(4)
	if !i.Self {
		return nil
	}
	fd, err := unix.Open("/proc/self/exe", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// Above those that the program begins with, which take their places before it is executed.
	i.self, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, TalkFD+1)
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
func (i *initProcess) mounts() []Mount {
	if i.Home == "" {
		return i.Mounts
	}
	return append([]Mount{{Source: i.Home, Target: CommandHome, Mode: ReadWrite}}, i.Mounts...)
}
