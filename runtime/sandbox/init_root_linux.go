package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// openProc are the files at the top of /proc that a program may see. All others are
// covered, whatever the kernel puts there: some hold the machine's memory or keys, some
// command the machine.
var openProc = []string{
	"cmdline", "cpuinfo", "filesystems", "loadavg", "meminfo", "mounts", "net", "self", "stat",
	"swaps", "sys", "thread-self", "uptime", "version", "vmstat",
}

func (i *initProcess) makeProc() error {
	err := i.root.addFilesystem("/proc", "proc", unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	proc, err := i.root.folder("/proc")
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
	if err := limitNamespace(dir); err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := i.guardProc(dir, name); err != nil {
			return fmt.Errorf("/proc/%s: %w", name, err)
		}
	}
	return nil
}

// limitNamespace sets what can be made in this user namespace. Without namespaces no process
// gets capabilities, which is a second fence. Watches of files are counted for the user who
// runs air as well, and a program could use up all of them. The files are a user namespace's
// own, user_namespaces(7); which there are depends on the kernel. Mount namespaces are left
// out: to build mounts takes some.
func limitNamespace(proc int) error {
	for _, l := range [][2]string{
		{"max_user_namespaces", "0"}, {"max_net_namespaces", "0"}, {"max_pid_namespaces", "0"},
		{"max_ipc_namespaces", "0"}, {"max_uts_namespaces", "0"}, {"max_cgroup_namespaces", "0"}, {"max_time_namespaces", "0"},
		{"max_inotify_instances", "32"}, {"max_inotify_watches", "16384"},
		{"max_fanotify_groups", "0"}, {"max_fanotify_marks", "0"},
	} {
		fd, err := unix.Openat(proc, "sys/user/"+l[0], unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT && l[0] != "max_user_namespaces" {
			continue
		}
		if err == nil {
			_, err = unix.Write(fd, []byte(l[1]))
			unix.Close(fd)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l[0], err)
		}
	}
	return nil
}

// guardProc makes sys read-only: the files there belong to the user who runs air, if that
// is root, and without any capability core_pattern would be open to writing.
func (i *initProcess) guardProc(dir int, name string) error {
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
		return i.root.attach(tree, Mount{Target: target}, true)
	case slices.Contains(openProc, name) || strings.Trim(name, "0123456789") == "":
		return nil
	}
	return i.root.cover(Mount{Target: target, Mode: Covered})
}

var deviceNames = []string{"null", "zero", "full", "random", "urandom"}

// openDevices opens them in the order of deviceNames.
func openDevices() (devices []source, err error) {
	for _, name := range deviceNames {
		d, err := openSource("/dev/" + name)
		if err != nil {
			return nil, err
		}
		// A device is written to all the same. What must not change is the file: its mode,
		// its owner and its times are the host's.
		if err := setAttributes(d.tree, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return nil, err
		}
		devices = append(devices, d)
	}
	return devices, nil
}

// makeDev has no terminal, not even a name for one.
func (i *initProcess) makeDev(devices []source) error {
	err := i.root.addFilesystem("/dev", "tmpfs", unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC, "mode=755", "size=64k", "nr_inodes=64")
	if err != nil {
		return err
	}
	for n, d := range devices {
		err := i.root.attach(d.tree, Mount{Target: "/dev/" + deviceNames[n]}, false)
		unix.Close(d.tree)
		if err != nil {
			return err
		}
	}
	dev, err := i.root.folder("/dev")
	if err != nil {
		return err
	}
	defer unix.Close(dev)
	for _, link := range [][2]string{{"fd", "/proc/self/fd"}, {"stdin", "fd/0"}, {"stdout", "fd/1"}, {"stderr", "fd/2"}} {
		if err := unix.Symlinkat(link[1], dev, link[0]); err != nil {
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
	return i.root.addFilesystem("/dev/shm", "tmpfs", unix.MOUNT_ATTR_NODEV, tmpfs("1777", i.Limits.TmpBytes/4)...)
}

// tmpfs are the options of a file system of a size. The number of files is bounded too,
// for they hold memory that is not counted in the size.
func tmpfs(mode string, bytes int64) []string {
	return []string{"mode=" + mode, fmt.Sprintf("size=%d", bytes), fmt.Sprintf("nr_inodes=%d", 1000+bytes/4096)}
}

func (i *initProcess) makeFolders() error {
	i.root.rw = append(i.root.rw, "/tmp", "/dev/shm")
	err := i.root.addFilesystem("/tmp", "tmpfs", unix.MOUNT_ATTR_NODEV, tmpfs("1777", i.Limits.TmpBytes)...)
	if err != nil || i.Home != "" {
		return err
	}
	i.root.rw = append(i.root.rw, CommandHome)
	return i.root.addFilesystem(CommandHome, "tmpfs", unix.MOUNT_ATTR_NODEV, tmpfs("700", i.Limits.TmpBytes)...)
}

// makeUsers names the user inside. It does nothing where a mount lies over /etc.
func (i *initProcess) makeUsers() error {
	etc, err := i.root.folder("/etc")
	if err != nil {
		return err
	}
	defer unix.Close(etc)
	own, err := i.root.isOwn(etc)
	if err != nil || !own {
		return err
	}
	// The first entry of a number is the one that programs find.
	for _, f := range []struct{ name, text string }{
		{"passwd", fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh\n", CommandUser, i.UID, i.GID, CommandHome) +
			"root:x:0:0:root:/:/bin/false\nnobody:x:65534:65534:nobody:/:/bin/false\n"},
		{"group", fmt.Sprintf("%s:x:%d:\n", CommandUser, i.GID) + "root:x:0:\nnogroup:x:65534:\n"},
	} {
		fd, err := unix.Openat(etc, f.name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o444)
		if err == unix.EEXIST {
			continue // a mount lies there
		}
		if err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte(f.text))
		unix.Close(fd)
		if err != nil {
			return err
		}
	}
	return nil
}

// openStreams puts the sandbox's own /dev/null in the place of the host's, which a program
// would otherwise hold past all mounts. A stream that the host reads or writes is a pipe.
func openStreams() error {
	for fd := range 3 {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if st.Mode&unix.S_IFMT == unix.S_IFIFO {
			continue
		}
		null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		err = unix.Dup3(null, fd, 0)
		unix.Close(null)
		if err != nil {
			return err
		}
	}
	return nil
}

// bringUpLoopback makes 127.0.0.1 work, as tests of programs expect, and opens the one
// listener whose other side is outside.
func (i *initProcess) bringUpLoopback() error {
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
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil || !i.Loopback {
		return err
	}
	i.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var port int
	if _, err := fmt.Sscanf(LoopbackAddress, "127.0.0.1:%d", &port); err != nil {
		return err
	}
	if err := unix.Bind(i.listener, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	return unix.Listen(i.listener, 128)
}
