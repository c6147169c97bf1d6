package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// verdict runs a list as the kernel would.
func verdict(t *testing.T, s systemCalls, name string, args ...uint64) seccomp.Action {
	t.Helper()
	native, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	number, ok := native.SyscallNames[name]
	if !ok {
		t.Fatalf("%s has no number here", name)
	}
	program, err := s.program()
	if err != nil {
		t.Fatal(err)
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	// struct seccomp_data; the machine here reads each word as big-endian.
	data := binary.BigEndian.AppendUint32(nil, uint32(number))
	data = binary.BigEndian.AppendUint32(data, uint32(native.ID))
	data = append(data, make([]byte, 8)...)
	for _, a := range append(args, make([]uint64, 6-len(args))...) {
		data = binary.BigEndian.AppendUint32(data, uint32(a))
		data = binary.BigEndian.AppendUint32(data, uint32(a>>32))
	}
	v, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return seccomp.Action(v)
}

func TestLists(t *testing.T) {
	const high = 1 << 32
	const eperm, enosys = seccomp.ActionErrno | 1, seccomp.ActionErrno | 38
	// The shape of a command's list: long, and open by default.
	denying := systemCalls{
		refuse: []string{"mount", "bpf", "ptrace"},
		refuseWhen: []seccomp.NameWithConditions{
			when("socket", low(0, unix.AF_UNIX)...), when("ioctl", low(1, unix.TIOCSTI)...),
		},
		otherwise: seccomp.ActionAllow,
	}
	loading := (&Worker{CacheDir: "/x", loaded: &loaded{wakers: []int{5}}}).loadingCalls()
	compiling := (&Worker{CacheDir: "/x", Compile: true, loaded: &loaded{wakers: []int{5}}}).loadingCalls()
	serving := (&Worker{loaded: &loaded{wakers: []int{5}}}).servingCalls()
	const exec, write, read = unix.PROT_EXEC, unix.PROT_WRITE, unix.PROT_READ
	const kill, allow = seccomp.ActionKillProcess, seccomp.ActionAllow
	self := uint64(os.Getpid())
	for _, c := range []struct {
		list systemCalls
		call string
		args []uint64
		want seccomp.Action
	}{
		{denying, "mount", nil, eperm},
		{denying, "getpid", nil, allow},
		{denying, "clone3", nil, enosys},
		{denying, "socket", []uint64{unix.AF_UNIX}, eperm},
		{denying, "socket", []uint64{unix.AF_UNIX | high}, eperm},
		{denying, "socket", []uint64{unix.AF_INET}, allow},
		{denying, "socket", []uint64{unix.AF_INET6 | unix.AF_UNIX}, allow},
		{denying, "socket", []uint64{0}, allow},
		{denying, "ioctl", []uint64{1, unix.TIOCSTI | high}, eperm},
		{denying, "ioctl", []uint64{1, unix.TIOCGWINSZ}, allow},

		{serving, "clone3", nil, enosys},
		{serving, "openat", nil, kill},
		{serving, "read", []uint64{3}, allow},
		{serving, "read", []uint64{5}, allow},
		{serving, "read", []uint64{0}, kill},
		{serving, "read", []uint64{3 | high}, kill},
		{serving, "write", []uint64{2}, allow},
		{serving, "write", []uint64{3}, allow},
		{serving, "write", []uint64{1}, kill},
		{serving, "recvfrom", []uint64{3}, allow},
		{serving, "recvfrom", []uint64{2}, kill},
		{serving, "mmap", []uint64{0, 1, read | write, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS}, allow},
		{serving, "mmap", []uint64{0, 1, read, unix.MAP_PRIVATE}, kill},
		{serving, "mmap", []uint64{0, 1, exec, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS}, kill},
		{serving, "mprotect", []uint64{0, 1, read | write}, allow},
		{serving, "mprotect", []uint64{0, 1, read | exec}, kill},
		{serving, "clone", []uint64{runtimeThread | threadPointer}, allow},
		{serving, "clone", []uint64{runtimeThread | threadPointer | unix.CLONE_NEWNS}, kill},
		{serving, "clone", []uint64{uint64(unix.SIGCHLD)}, kill},
		{serving, "tgkill", []uint64{self, 1, uint64(unix.SIGURG)}, allow},
		{serving, "tgkill", []uint64{self, 1, uint64(unix.SIGKILL)}, kill},
		{serving, "tgkill", []uint64{self + 1, 1, uint64(unix.SIGURG)}, kill},
		{serving, "prctl", []uint64{unix.PR_SET_MDWE}, kill},

		{loading, "openat", []uint64{0, 0, unix.O_RDONLY | unix.O_CLOEXEC}, allow},
		{loading, "openat", []uint64{0, 0, unix.O_WRONLY}, kill},
		{loading, "openat", []uint64{0, 0, unix.O_RDWR}, kill},
		{loading, "openat", []uint64{0, 0, unix.O_RDONLY | unix.O_CREAT}, kill},
		{loading, "openat", []uint64{0, 0, unix.O_RDONLY | unix.O_TRUNC}, kill},
		{loading, "read", []uint64{9}, allow},
		{loading, "write", []uint64{9}, kill},
		{loading, "unlinkat", nil, kill},
		{loading, "mprotect", []uint64{0, 1, read | exec}, allow},
		{loading, "mprotect", []uint64{0, 1, read | write | exec}, kill},
		{loading, "mmap", []uint64{0, 1, read | exec, unix.MAP_PRIVATE}, kill},
		{loading, "prctl", []uint64{unix.PR_SET_MDWE}, allow},
		{loading, "prctl", []uint64{unix.PR_SET_PDEATHSIG}, kill},
		{loading, "prlimit64", []uint64{1}, kill},
		{loading, "socket", nil, kill},

		{compiling, "openat", []uint64{0, 0, unix.O_RDWR | unix.O_CREAT}, allow},
		{compiling, "write", []uint64{9}, allow},
		{compiling, "unlinkat", nil, allow},
		{compiling, "linkat", nil, kill},
		{compiling, "execve", nil, kill},
	} {
		if got := verdict(t, c.list, c.call, c.args...); got != c.want {
			t.Errorf("%s%x: %#x, not %#x", c.call, c.args, uint32(got), uint32(c.want))
		}
	}
}

// TestListsOnBothArchitectures: a name that neither amd64 nor arm64 knows would silently be
// left out, and so would one that the other has under another name.
func TestListsOnBothArchitectures(t *testing.T) {
	onlyAMD64 := map[string]string{"mkdir": "mkdirat", "rename": "renameat", "unlink": "unlinkat", "newfstatat": "fstatat"}
	s := (&Worker{CacheDir: "/x", Compile: true, loaded: &loaded{}}).loadingCalls()
	names := slices.Clone(s.allow)
	for _, c := range s.allowWhen {
		names = append(names, c.Name)
	}
	for _, name := range names {
		_, amd64 := arch.X86_64.SyscallNames[name]
		_, arm64 := arch.AARCH64.SyscallNames[name]
		if there := onlyAMD64[name]; there != "" {
			arm64 = slices.Contains(names, there)
		}
		if !arm64 || !amd64 && name != onlyAMD64["newfstatat"] {
			t.Errorf("%s: amd64 %v, arm64 %v", name, amd64, arm64)
		}
	}
}

// TestThreadThatCannotFollow: a thread with a list of its own cannot take over another's,
// which the kernel reports as a positive result.
func TestThreadThatCannotFollow(t *testing.T) {
	needSeccomp(t)
	w := startWorker(t, "has a stray thread", cacheFolder(t))
	w.expect("did not follow")
	w.endsWell()
}

func strayWorker(string) error {
	if err := noNewPrivileges(); err != nil {
		return err
	}
	strayed := make(chan error)
	go func() {
		runtime.LockOSThread()
		all := []unix.SockFilter{{Code: unix.BPF_RET, K: uint32(seccomp.ActionAllow)}}
		program := unix.SockFprog{Len: 1, Filter: &all[0]}
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
		if errno != 0 {
			strayed <- errno
		}
		strayed <- nil
		select {}
	}()
	if err := <-strayed; err != nil {
		return err
	}
	err := systemCalls{otherwise: seccomp.ActionAllow, refuse: []string{"mount"}}.install()
	if err == nil || !strings.Contains(err.Error(), "did not follow") {
		return fmt.Errorf("installing answered %v", err)
	}
	tell("did not follow")
	return nil
}

// TestRestrictFilesReachesThreads: Landlock alone, without a list of system calls, and in a
// thread that was there before.
func TestRestrictFilesReachesThreads(t *testing.T) {
	version := landlockVersion()
	if version == 0 {
		t.Skip("this kernel has no Landlock")
	}
	refused := map[string]int{"read": 1, "list": 1, "write": 1, "connect": 4, "signal": 6} // since which version
	if signalsBreakThreads() {
		delete(refused, "signal")
	}
	w := startWorker(t, "has threads", cacheFolder(t))
	for _, what := range []string{"read", "list", "write", "connect", "signal"} {
		if since, ok := refused[what]; ok && version >= since {
			w.expect(what + " refused")
		} else {
			w.expect(what + " allowed")
		}
	}
	w.expect("inside: <nil>")
	w.endsWell()
}

func threadedWorker(dir string) error {
	restricted, started, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		close(started)
		<-restricted
		tellRefusals(filepath.Dir(dir))
		_, err := os.ReadFile(filepath.Join(dir, "file"))
		tell("inside: %v", err)
	}()
	<-started
	if err := restrictFiles(landlock.RODirs(dir)); err != nil {
		return err
	}
	close(restricted)
	<-done
	return nil
}

// tellRefusals tries what Landlock can refuse. Port 1 of the loopback device has no listener.
func tellRefusals(outside string) {
	attempts := []struct {
		what string
		err  func() error
	}{
		{"read", func() error { _, err := os.ReadFile("/proc/self/status"); return err }},
		{"list", func() error { _, err := os.ReadDir(outside); return err }},
		{"write", func() error { return os.WriteFile(filepath.Join(outside, "new"), nil, 0o600) }},
		{"connect", func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err }},
		{"signal", func() error { return unix.Kill(unix.Getppid(), 0) }},
	}
	for _, a := range attempts {
		err := a.err()
		if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
			tell("%s refused", a.what)
		} else {
			tell("%s allowed", a.what)
		}
	}
}
