package sandbox

import (
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// TestCommandCallsAreKnown finds a name that is misspelt, or that the library does not know
// yet: a list of refusals would be silent about it.
func TestCommandCallsAreKnown(t *testing.T) {
	// Those that only amd64 has, and those that neither has, for a command that is built for
	// an older one.
	onAMD64 := []string{
		"create_module", "iopl", "ioperm", "uselib", "chmod", "creat", "mknod", "mkdir", "open",
	}
	nowhere := []string{"stime", "umount"}
	calls := commandCalls()
	names := slices.Concat(calls.absent, calls.refuse)
	for _, c := range calls.refuseWhen {
		names = append(names, c.Name)
	}
	for _, name := range names {
		_, amd64 := arch.X86_64.SyscallNames[name]
		_, arm64 := arch.AARCH64.SyscallNames[name]
		if amd64 == slices.Contains(nowhere, name) || arm64 == slices.Contains(slices.Concat(onAMD64, nowhere), name) {
			t.Errorf("%s: amd64 %v, arm64 %v", name, amd64, arm64)
		}
	}
	// The number of fchmodat2 is the same everywhere, and so is that of the newest.
	for _, info := range []*arch.Info{arch.X86_64, arch.AARCH64} {
		if newest := newestCall(info); info.SyscallNames["fchmodat2"] != 452 || newest < 467 || newest > 1000 {
			t.Errorf("%s: the newest call is %d", info.Name, newest)
		}
	}
}

func TestCommandCalls(t *testing.T) {
	const high = 1 << 32
	const eperm, enosys = seccomp.ActionErrno | 1, seccomp.ActionErrno | 38
	const allow = seccomp.ActionAllow
	native, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		call string
		args []uint64
		want seccomp.Action
	}{
		{"getpid", nil, allow},
		{"mount", nil, eperm},
		{"open_tree_attr", nil, eperm},
		{"clone3", nil, enosys},
		{"openat2", nil, enosys},
		{"clone", []uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, allow},
		{"clone", []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, eperm},
		{"clone", []uint64{unix.CLONE_NEWUSER | high}, eperm},
		{"socket", []uint64{unix.AF_INET}, allow},
		{"socket", []uint64{unix.AF_INET6}, allow},
		{"socket", []uint64{unix.AF_UNIX}, eperm},
		{"socket", []uint64{unix.AF_INET | high}, eperm},
		{"socketpair", []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"socketpair", []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, allow},
		{"socketpair", []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, eperm},
		{"socketpair", []uint64{unix.AF_UNIX, unix.SOCK_RAW}, eperm},
		{"socketpair", []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | high}, eperm},
		{"socketpair", []uint64{unix.AF_INET, unix.SOCK_STREAM}, eperm},
		{"ioctl", []uint64{1, unix.TIOCGWINSZ}, allow},
		{"ioctl", []uint64{1, unix.TIOCSTI}, eperm},
		{"ioctl", []uint64{1, unix.TIOCSTI | high}, eperm},
		{"ioctl", []uint64{1, tiocLinux | high}, eperm},
		{"personality", []uint64{0}, allow},
		{"personality", []uint64{0xffffffff}, allow},
		{"personality", []uint64{addressNoRandomize}, allow},
		{"personality", []uint64{0x400000}, eperm},
		{"personality", []uint64{0x400000 | high}, eperm},
		{"fchmodat", []uint64{0, 0, 0o1755}, allow},
		{"fchmodat", []uint64{0, 0, 0o2755}, eperm},
		{"fchmodat", []uint64{0, 0, 0o4755 | high}, eperm},
		{"fchmodat", []uint64{0, 0o6000, 0o755}, allow},
		{"fchmodat2", []uint64{0, 0, 0o4755}, eperm},
		{"fchmod", []uint64{0o4000, 0o777}, allow},
		{"fchmod", []uint64{0, 0o6777}, eperm},
		{"mknodat", []uint64{0, 0, unix.S_IFREG | 0o4755}, eperm},
		{"mkdirat", []uint64{0, 0, 0o2755}, allow}, // the kernel takes no such bit from it
		{"openat", []uint64{0, 0, unix.O_RDONLY, 0o6755}, allow},
		{"openat", []uint64{0, 0, unix.O_DIRECTORY, 0o6755}, allow},
		{"openat", []uint64{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o755}, allow},
		{"openat", []uint64{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o4755}, eperm},
		{"openat", []uint64{0, 0, unix.O_CREAT | high, 0o4755 | high}, eperm},
		{"openat", []uint64{0, 0, unix.O_TMPFILE | unix.O_WRONLY, 0o2755}, eperm},
		{"open", []uint64{0, unix.O_CREAT, 0o4755}, eperm},
		{"creat", []uint64{0, 0o4755}, eperm},
		{"chmod", []uint64{0, 0o4755}, eperm},
		{"mknod", []uint64{0, 0o4755}, eperm},
		{"mkdir", []uint64{0, 0o4755}, allow},
	} {
		if _, ok := native.SyscallNames[c.call]; !ok {
			continue // of another architecture
		}
		if got := decision(t, commandCalls(), c.call, c.args...); got != c.want {
			t.Errorf("%s%#x: %#x, not %#x", c.call, c.args, uint32(got), uint32(c.want))
		}
	}
}
