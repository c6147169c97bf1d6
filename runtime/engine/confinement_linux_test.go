package engine

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// proc reads a file of /proc about an idle worker.
func proc(t *testing.T, pid int, name string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWorkerHasNothing(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root sees what a worker has: it hides its memory from others")
	}
	t.Setenv("SECRET", "of the host")
	leaked, err := unix.Open(filepath.Join(t.TempDir(), "leak"), unix.O_CREAT|unix.O_RDWR, 0o600) // no O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaked)
	p := newPool(t)
	m := guest(t, "guests/echo")
	m.Limits.MemoryBytes = 32 << 20
	mustInvoke(t, p, m, `{}`)
	pid := p.idle[0].worker.cmd.Process.Pid

	if got := proc(t, pid, "environ"); strings.Contains(got, "SECRET") || strings.Count(got, "\x00") > 4 {
		t.Errorf("environment %q", got)
	}
	if got := proc(t, pid, "cmdline"); got != "air-worker\x00" {
		t.Errorf("command line %q", got)
	}
	limits := proc(t, pid, "limits")
	for _, want := range []string{"Max core file size 0 0", "Max file size 0 0", "Max open files 0 0"} {
		if !strings.Contains(strings.Join(strings.Fields(limits), " "), want) {
			t.Errorf("limits lack %q:\n%s", want, limits)
		}
	}
	if data := dataLimit(t, limits); data < 32<<20 || data > 1<<30 {
		t.Errorf("data limit %d", data)
	}
	for fd, target := range descriptors(t, pid) {
		ours := fd < 3 && strings.HasPrefix(target, "pipe:")
		if !ours && !(fd == 3 && strings.HasPrefix(target, "socket:")) && !strings.HasPrefix(target, "anon_inode:") {
			t.Errorf("descriptor %d is %s", fd, target)
		}
	}
	if session, _ := unix.Getsid(pid); session != pid {
		t.Errorf("session %d of process %d", session, pid)
	}
	if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); cwd != "/" {
		t.Errorf("working directory %s, %v", cwd, err)
	}
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_GETPPID, 0, 0, 0)
	if underCgo := errno == syscall.ENOTSUP; !underCgo && !strings.Contains(proc(t, pid, "status"), "NoNewPrivs:\t1") {
		t.Error("the worker could gain privileges")
	}
}

func dataLimit(t *testing.T, limits string) int64 {
	t.Helper()
	for line := range strings.Lines(limits) {
		if rest, ok := strings.CutPrefix(line, "Max data size"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("no data limit")
	return 0
}

func descriptors(t *testing.T, pid int) map[int]string {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]string{}
	for _, e := range entries {
		fd, _ := strconv.Atoi(e.Name())
		all[fd], _ = os.Readlink(filepath.Join(dir, e.Name()))
	}
	return all
}

func TestCapabilitiesShareNoWorker(t *testing.T) {
	p := newPool(t)
	a := guest(t, "guests/echo")
	b := a
	b.Capability = "another"
	mustInvoke(t, p, a, `{}`)
	mustInvoke(t, p, b, `{}`)
	if len(p.idle) != 2 || p.idle[0].worker == p.idle[1].worker {
		t.Errorf("idle %+v", p.idle)
	}
}

func TestClosedPool(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	w := p.idle[0].worker
	p.Close()
	p.Close()
	if !w.gone(5 * time.Second) {
		t.Error("the worker lives")
	}
	if _, err := invoke(t, p, m, `{}`); err == nil {
		t.Error("a closed pool starts workers")
	}
}

// TestWorkerEndsWithItsHost kills a host in the middle of a call.
func TestWorkerEndsWithItsHost(t *testing.T) {
	m := guest(t, "guests/nested")
	host := exec.Command("/proc/self/exe")
	host.Args = []string{testHost, m.Path, m.SHA256}
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	var worker int
	if _, err := fmt.Fscan(out, &worker); err != nil {
		t.Fatal(err)
	}
	host.Process.Kill()
	io.Copy(io.Discard, out)
	host.Wait()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if unix.Kill(worker, 0) == unix.ESRCH {
			return
		}
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", worker)); err == nil && strings.Contains(string(text), ") Z ") {
			return // dead, and nobody has waited for it yet
		}
	}
	t.Errorf("worker %d outlived its host", worker)
}
