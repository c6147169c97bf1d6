package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// insideName is the argv[0] under which the test program runs inside a sandbox, or as a
// host that is killed.
const insideName = "air-test-inside"

// serveIfInside does one thing that a shell cannot, and does not return, when the test
// program was started for that.
func serveIfInside() {
	if len(os.Args) < 2 || os.Args[0] != insideName {
		return
	}
	err := errors.New("no such act")
	switch os.Args[1] {
	case "get":
		err = get(os.Args[2])
	case "dial":
		err = dial(os.Args[2], os.Args[3])
	case "type":
		err = typeIntoTerminals()
	case "nest":
		err = nest()
	case "set-id":
		err = makeSetID(os.Args[2])
	case "devices":
		err = changeDevices()
	case "start":
		_, err = Command{Argv: []string{"true"}, Mounts: System()}.Start(context.Background())
	case "host":
		err = hostSleep(os.Args[2])
	case "untraced":
		err = untraced(os.Args[2])
	}
	if err != nil {
		fmt.Println(err)
		unix.Exit(1)
	}
	unix.Exit(0)
}

func get(url string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}

// typeIntoTerminals tries each descriptor, and fails unless each refuses.
func typeIntoTerminals() error {
	for fd := range uintptr(10) {
		c := byte('x')
		if _, _, errno := unix.RawSyscall(unix.SYS_IOCTL, fd, unix.TIOCSTI, uintptr(unsafe.Pointer(&c))); errno != unix.EPERM {
			return fmt.Errorf("descriptor %d: %v", fd, errno)
		}
	}
	return nil
}

// nest starts a sandbox inside the sandbox.
func nest() error {
	_, err := Command{Argv: []string{"true"}}.Start(context.Background())
	if !isUnavailable(err) {
		return fmt.Errorf("got %v, want an UnavailableError", err)
	}
	return nil
}

func isUnavailable(err error) bool {
	var unavailable *UnavailableError
	return errors.As(err, &unavailable)
}

// makeSetID tries each way to make a set-user-id file, also with bits set that the kernel does
// not look at, and fails unless each is refused.
func makeSetID(dir string) error {
	native, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	const mode, here, high = 0o4755, uintptr(1<<64 + unix.AT_FDCWD), 1 << 32
	var kept []*byte
	pointer := func(name string) uintptr {
		p, err := unix.BytePtrFromString(name)
		if err != nil {
			panic(err)
		}
		kept = append(kept, p)
		return uintptr(unsafe.Pointer(p))
	}
	f, err := os.Open(filepath.Join(dir, "file"))
	if err != nil {
		return err
	}
	defer f.Close()
	file, added, folder := pointer(f.Name()), pointer(filepath.Join(dir, "new")), pointer(dir)
	for _, c := range []struct {
		name string
		args [4]uintptr
		want unix.Errno
	}{
		{"chmod", [4]uintptr{file, mode}, unix.EPERM},
		{"chmod", [4]uintptr{file, mode | high}, unix.EPERM},
		{"chmod", [4]uintptr{file, 0o2755}, unix.EPERM},
		{"fchmod", [4]uintptr{f.Fd(), mode}, unix.EPERM},
		{"fchmodat", [4]uintptr{here, file, mode}, unix.EPERM},
		{"fchmodat", [4]uintptr{here, file, mode | high}, unix.EPERM},
		{"fchmodat2", [4]uintptr{here, file, mode}, unix.EPERM},
		{"creat", [4]uintptr{added, mode}, unix.EPERM},
		{"open", [4]uintptr{added, unix.O_WRONLY | unix.O_CREAT, mode}, unix.EPERM},
		{"openat", [4]uintptr{here, added, unix.O_WRONLY | unix.O_CREAT, mode}, unix.EPERM},
		{"openat", [4]uintptr{here, added, unix.O_WRONLY | unix.O_CREAT | high, mode | high}, unix.EPERM},
		{"openat", [4]uintptr{here, folder, unix.O_WRONLY | unix.O_TMPFILE, mode}, unix.EPERM},
		{"mknod", [4]uintptr{added, unix.S_IFREG | mode}, unix.EPERM},
		{"mknodat", [4]uintptr{here, added, unix.S_IFREG | mode}, unix.EPERM},
		{"openat2", [4]uintptr{here, added, added, 24}, unix.ENOSYS},
		{"mkdir", [4]uintptr{pointer(filepath.Join(dir, "made")), 0o6755}, 0}, // without the bits
		{"mkdirat", [4]uintptr{here, pointer(filepath.Join(dir, "made at")), 0o6755}, 0},
		{"openat", [4]uintptr{here, file, unix.O_RDONLY, mode}, 0}, // nothing is created
	} {
		number, ok := native.SyscallNames[c.name]
		if !ok {
			continue
		}
		if _, _, errno := unix.RawSyscall6(uintptr(number), c.args[0], c.args[1], c.args[2], c.args[3], 0, 0); errno != c.want {
			return fmt.Errorf("%s %x: %v, not %v", c.name, c.args, errno, c.want)
		}
	}
	runtime.KeepAlive(kept)
	return nil
}

// changeDevices is a host with devices of its own, and a command that would change them.
func changeDevices() error {
	if err := ownDevices(); err != nil {
		return err
	}
	before, err := devices()
	if err != nil {
		return err
	}
	text := `n=0
		for f in /dev/null /dev/zero /dev/full /dev/random /dev/urandom /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2; do
			for change in "chmod 000" "chown 1000" "touch -d 2001-01-01"; do $change $f && n=$((n+1)); done
		done
		echo x > /dev/null && head -c 1 /dev/zero > /dev/full || true
		head -c 1 /dev/urandom > /dev/null || exit 99
		exit $n`
	p, err := Command{Argv: []string{"sh", "-c", text}, Mounts: System()}.Start(context.Background())
	if err != nil {
		return err
	}
	if exit, err := p.Wait(); exit.Code != 0 || err != nil {
		return fmt.Errorf("%d changes worked, %v", exit.Code, err)
	}
	after, err := devices()
	if err == nil && before != after {
		err = fmt.Errorf("before:\n%safter:\n%s", before, after)
	}
	return err
}

// ownDevices lays a /dev of this process's own over that of the machine.
func ownDevices() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("none", "/dev", "tmpfs", unix.MS_NOSUID, "mode=755"); err != nil {
		return err
	}
	unix.Umask(0)
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9} {
		if err := unix.Mknod("/dev/"+name, unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))); err != nil {
			return err
		}
	}
	return nil
}

func devices() (text string, err error) {
	for _, name := range deviceNames {
		var st unix.Stat_t
		if err := unix.Stat("/dev/"+name, &st); err != nil {
			return "", err
		}
		text += fmt.Sprintf("%s %o %d:%d %d\n", name, st.Mode, st.Uid, st.Gid, st.Mtim.Sec)
	}
	return text, nil
}

// hostSleep is a host that says when its command runs, and waits to be killed.
func hostSleep(tag string) error {
	p, err := Command{Argv: []string{"sh", "-c", "echo up; sleep 300 & setsid sleep 300"}, Env: append(DefaultEnv(), tag), Mounts: System(), Stdout: os.Stdout}.Start(context.Background())
	if err != nil {
		return err
	}
	_, err = p.Wait()
	return err
}

// untraced runs a script from a host where no process may be traced.
func untraced(text string) error {
	if err := noNewPrivileges(); err != nil {
		return err
	}
	if err := (systemCalls{otherwise: seccomp.ActionAllow, refuse: []string{"ptrace"}}).install(); err != nil {
		return err
	}
	c := limited(text)
	c.Mounts, c.Stdout = System(), os.Stdout
	p, err := c.Start(context.Background())
	if err != nil {
		return err
	}
	_, err = p.Wait()
	return err
}

// limited runs a script under limits that the init could not live with for long.
func limited(text string) Command {
	c := script(text)
	c.Limits.CPUSeconds, c.Limits.MemoryBytes = 1, 64<<20
	return c
}

// tagged returns the processes that have a variable in their environment.
func tagged(t *testing.T, tag string) (pids []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		environ, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err == nil && strings.Contains(string(environ), tag) {
			pids = append(pids, e.Name())
		}
	}
	return pids
}

// loopback listens on the host's loopback and closes what connects.
func loopback(t *testing.T, network, address string) net.Addr {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return l.Addr()
}
