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

// decision runs a list as the kernel would.
func decision(t *testing.T, s systemCalls, name string, args ...uint64) seccomp.Action {
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

func TestWorkerLists(t *testing.T) {
	const high = 1 << 32
	const eperm, enosys = seccomp.ActionErrno | 1, seccomp.ActionErrno | 38
	loading := (&Worker{CacheDir: "/x", loaded: &loaded{wakers: []int{5}}}).loadingCalls()
	compiling := (&Worker{CacheDir: "/x", Compile: true, loaded: &loaded{wakers: []int{5}}}).loadingCalls()
	serving := (&Worker{loaded: &loaded{wakers: []int{5}}}).servingCalls()
	const shared, growing = unix.MAP_SHARED | unix.MAP_ANONYMOUS, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_GROWSDOWN
	const exec, write, read = unix.PROT_EXEC, unix.PROT_WRITE, unix.PROT_READ
	const kill, allow = seccomp.ActionKillProcess, seccomp.ActionAllow
	self := uint64(os.Getpid())
	for _, c := range []struct {
		list systemCalls
		call string
		args []uint64
		want seccomp.Action
	}{
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
		{serving, "mmap", []uint64{0, 1, exec, anonymous}, kill},
		{serving, "mmap", []uint64{0, 1, unix.PROT_NONE, anonymous | unix.MAP_NORESERVE}, allow},
		{serving, "mmap", []uint64{0, 1, read | write, anonymous | unix.MAP_FIXED | unix.MAP_STACK}, allow},
		{serving, "mmap", []uint64{0, 1, read, anonymous}, kill},
		{serving, "mmap", []uint64{0, 1, read | write, unix.MAP_DROPPABLE | unix.MAP_ANONYMOUS}, allow},
		{serving, "mmap", []uint64{0, 1, read | write, anonymous | high}, kill},
		{serving, "mmap", []uint64{0, 1, read | write | high, anonymous}, kill},
		{serving, "mmap", []uint64{0, 1, read | write, shared}, kill},
		{serving, "mmap", []uint64{0, 1, read | write, unix.MAP_SHARED_VALIDATE | unix.MAP_ANONYMOUS}, kill},
		{serving, "mmap", []uint64{0, 1, read | write, growing}, kill},
		{serving, "mmap", []uint64{0, 1, read | write, anonymous | unix.MAP_HUGETLB}, kill},
		{serving, "mmap", []uint64{0, 1, read | write, anonymous | unix.MAP_LOCKED}, kill},
		{serving, "mprotect", []uint64{0, 1, read | write}, allow},
		{serving, "mprotect", []uint64{0, 1, read}, kill},
		{serving, "mprotect", []uint64{0, 1, unix.PROT_NONE}, kill},
		{serving, "mprotect", []uint64{0, 1, read | write | unix.PROT_GROWSDOWN}, kill},
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
		{loading, "mprotect", []uint64{0, 1, read}, kill},
		{loading, "mmap", []uint64{0, 1, read | exec, unix.MAP_PRIVATE}, kill},
		{loading, "mmap", []uint64{0, 1, read | write, anonymous}, allow},
		{loading, "mmap", []uint64{0, 1, read | write, shared}, kill},
		{loading, "mmap", []uint64{0, 1, read | write, growing}, kill},
		{loading, "mmap", []uint64{0, 1, read | write, anonymous | unix.MAP_HUGETLB}, eperm},
		{loading, "prctl", []uint64{unix.PR_SET_MDWE}, allow},
		{loading, "prctl", []uint64{unix.PR_SET_PDEATHSIG}, kill},
		{loading, "prlimit64", []uint64{1}, kill},
		{loading, "socket", nil, kill},

		{compiling, "openat", []uint64{0, 0, unix.O_RDWR | unix.O_CREAT}, allow},
		{compiling, "openat", []uint64{0, 0, unix.O_RDWR | unix.O_CREAT, 0o600}, allow},
		{compiling, "openat", []uint64{0, 0, unix.O_RDWR | unix.O_CREAT, unix.S_ISUID | 0o700}, kill},
		{compiling, "openat", []uint64{0, 0, unix.O_RDWR | unix.O_TMPFILE, unix.S_ISGID | 0o700}, kill},
		{compiling, "mkdirat", []uint64{0, 0, 0o700}, allow},
		{compiling, "mkdirat", []uint64{0, 0, unix.S_ISGID | 0o700}, kill},
		{compiling, "fchmod", []uint64{9, 0o600}, kill},
		{compiling, "mmap", []uint64{0, 1, read | write, shared}, kill},
		{compiling, "mprotect", []uint64{0, 1, read | exec}, allow},
		{compiling, "write", []uint64{9}, allow},
		{compiling, "unlinkat", nil, allow},
		{compiling, "linkat", nil, kill},
		{compiling, "execve", nil, kill},
	} {
		if got := decision(t, c.list, c.call, c.args...); got != c.want {
			t.Errorf("%s%x: %#x, not %#x", c.call, c.args, uint32(got), uint32(c.want))
		}
	}
}

// TestListsOfAnyShape: an argument is not taken for the number of a call that follows, the
// arms of a condition that is named twice are looked at both, and a list may be as long as
// there are calls.
func TestListsOfAnyShape(t *testing.T) {
	native, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	list := systemCalls{otherwise: seccomp.ActionKillProcess}
	for name := range native.SyscallNames {
		if name != "read" && name != "write" {
			list.allowWhen = append(list.allowWhen, when(name, is(5, 1), not(4, 2), some(3, 12), none(2, 12)))
		}
	}
	list.refuseWhen = []seccomp.NameWithConditions{when("read", is(0, 3), is(1, 4)), when("read", is(0, 5))}
	list.allowWhen = append(list.allowWhen, when("read", is(2, 9)), when("write", is(1, 7)))
	const eperm, kill, allow = seccomp.ActionErrno | 1, seccomp.ActionKillProcess, seccomp.ActionAllow
	const high = 1 << 32
	for _, c := range []struct {
		call string
		args []uint64
		want seccomp.Action
	}{
		{"read", []uint64{uint64(native.SyscallNames["write"]), 7}, kill},
		{"read", []uint64{3, 7, uint64(native.SyscallNames["write"])}, kill},
		{"read", []uint64{3, 4, 9}, eperm},
		{"read", []uint64{5, 0, 9}, eperm},
		{"read", []uint64{3, 5, 9}, allow},
		{"write", []uint64{0, 7}, allow},
		{"write", []uint64{0, 7 | high}, kill},
		{"openat", []uint64{0, 0, 0, 4, 0, 1}, allow},
		{"openat", []uint64{0, 0, 3 | high, 8 | high, 2 | high, 1}, allow},
		{"openat", []uint64{0, 0, 4, 4, 0, 1}, kill},
		{"openat", []uint64{0, 0, 0, 3, 0, 1}, kill},
		{"openat", []uint64{0, 0, 0, 4, 2, 1}, kill},
		{"openat", []uint64{0, 0, 0, 4, 0, 1 | high}, kill},
		{"execve", []uint64{0, 0, 0, 4, 0, 1}, allow},
		{"execve", nil, kill},
	} {
		if got := decision(t, list, c.call, c.args...); got != c.want {
			t.Errorf("%s%x: %#x, not %#x", c.call, c.args, uint32(got), uint32(c.want))
		}
	}
}

// TestListsOnBothArchitectures: a name that neither amd64 nor arm64 knows would silently be
// left out, and so would one that the other has under another name.
func TestListsOnBothArchitectures(t *testing.T) {
	type known struct{ amd64, arm64 bool }
	ofOne := map[string]known{ // each has a newer name or another one beside it
		"mkdir": {amd64: true}, "rename": {amd64: true}, "unlink": {amd64: true}, "newfstatat": {amd64: true}, "fstatat": {arm64: true},
	}
	s := (&Worker{CacheDir: "/x", Compile: true, loaded: &loaded{}}).loadingCalls()
	names := slices.Clone(s.allow)
	for _, c := range s.allowWhen {
		names = append(names, c.Name)
	}
	for _, name := range names {
		want, one := ofOne[name]
		if !one {
			want = known{true, true}
		}
		_, amd64 := arch.X86_64.SyscallNames[name]
		_, arm64 := arch.AARCH64.SyscallNames[name]
		if got := (known{amd64, arm64}); got != want {
			t.Errorf("%s: %+v, not %+v", name, got, want)
		}
	}
}

// TestThreadThatCannotFollow: a thread with a list of its own cannot take over another's,
// which the kernel reports as a positive result.
func TestThreadThatCannotFollow(t *testing.T) {
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
	config, _ := landlockConfig()
	if err := restrictFiles(config, landlock.RODirs(dir)); err != nil {
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

// A jump is 8 bits wide.
func TestListOfManyConditions(t *testing.T) {
	list := func(n int) systemCalls {
		conditions := make([]seccomp.Condition, n)
		for i := range conditions {
			conditions[i] = none(0, 1<<i)
		}
		return systemCalls{otherwise: seccomp.ActionAllow, refuseWhen: []seccomp.NameWithConditions{when("read", conditions...)}}
	}
	if got := decision(t, list(63), "read", 0); got != seccomp.ActionErrno|1 {
		t.Errorf("63 conditions that hold: %#x", uint32(got))
	}
	if got := decision(t, list(63), "read", 1); got != seccomp.ActionAllow {
		t.Errorf("63, of which the first fails: %#x", uint32(got))
	}
	if _, err := list(64).program(); err == nil {
		t.Error("64 conditions were taken")
	}
}
