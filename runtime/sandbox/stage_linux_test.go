package sandbox

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// TestCommandCallsAreKnown finds a name that is misspelt, or that the library does not know
// yet: a list of refusals would be silent about it.
func TestCommandCallsAreKnown(t *testing.T) {
	// Those that some architecture, or all that we build for, does not have.
	elsewhere := []string{"create_module", "iopl", "ioperm", "stime", "umount", "nfsservctl", "uselib", "lookup_dcookie"}
	calls := commandCalls()
	names := calls.refuse
	for _, c := range calls.refuseWhen {
		names = append(names, c.Name)
	}
	for _, info := range []*arch.Info{arch.X86_64, arch.AARCH64} {
		for _, name := range names {
			if _, ok := info.SyscallNames[name]; !ok && !slices.Contains(elsewhere, name) {
				t.Errorf("%s has no %s", info.Name, name)
			}
		}
	}
	if _, err := calls.program(); err != nil {
		t.Error(err)
	}
}

func TestLookPath(t *testing.T) {
	sh, err := filepath.Abs("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		env        []string
		dir        string
		err        error
	}{
		{"sh", sh, []string{"PATH=/none:/bin"}, "/", nil},
		{"sh", sh, []string{"PATH=/none", "PATH=/bin"}, "/", nil}, // the last counts, as for execve's callers
		{"sh", sh, []string{"PATH=bin"}, "/", nil},
		{"sh", "", []string{"PATH=/none"}, "/", exec.ErrNotFound},
		{"sh", "", nil, "/", exec.ErrNotFound},
		{"bin", "", []string{"PATH=/"}, "/", exec.ErrNotFound}, // a folder
		{"./sh", "./sh", nil, "/", nil},
	} {
		got, err := lookPath(c.name, c.env, c.dir)
		if got != c.want || err != c.err {
			t.Errorf("%s in %v: got %q, %v", c.name, c.env, got, err)
		}
	}
}

func TestKernelAtLeast(t *testing.T) {
	if !kernelAtLeast(2, 6) || kernelAtLeast(1000, 0) {
		t.Errorf("the kernel is %s", kernelRelease())
	}
}
