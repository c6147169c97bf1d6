package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestStart(t *testing.T) {
	ended, err := Start(exec.Command("/bin/sh", "-c", "exit 7"))
	if err != nil {
		t.Fatal(err)
	}
	var status *exec.ExitError
	if err := <-ended; !errors.As(err, &status) || status.ExitCode() != 7 {
		t.Errorf("the process ended with %v", err)
	}
	if err, more := <-ended; err != nil || more {
		t.Errorf("a second look: %v, %v", err, more)
	}
	ended, err = Start(exec.Command("/no/such/program"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing was started: %v", err)
	}
	if _, more := <-ended; more {
		t.Error("a process that never was has ended")
	}
}

// TestStartKeepsItsThread: a process that gets a signal when its thread ends lives on while
// goroutines come and go, each with a thread that ends.
func TestStartKeepsItsThread(t *testing.T) {
	cmd := exec.Command("/bin/cat")
	cmd.SysProcAttr = processAttributes()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	ended, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		manyThreads(10)
		runtime.GC()
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

// TestStartsLeaveNothing starts many processes, and ones that cannot be started.
func TestStartsLeaveNothing(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	most := threads(t) + 16 // the runtime keeps some that wait
	for range 1000 {
		ended, err := Start(exec.Command("/bin/true"))
		if err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if _, err := Start(exec.Command("/no/such/program")); err == nil {
			t.Fatal("nothing was started")
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for threads(t) > most || runtime.NumGoroutine() > goroutines {
		if time.Now().After(deadline) {
			t.Fatalf("%d threads, at most %d are expected; %d goroutines, %d before", threads(t), most, runtime.NumGoroutine(), goroutines)
		}
		time.Sleep(time.Millisecond) // a thread ends a little after its goroutine
	}
}

func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

// TestStartBoundsItsProcesses: what the starting thread gave up, its processes never had.
// The others of this process keep it.
func TestStartBoundsItsProcesses(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has a bounding set to give up")
	}
	var out strings.Builder
	cmd := exec.Command("/bin/sh", "-c", "while read -r name value; do case $name in CapBnd:) echo $value;; esac; done < /proc/self/status")
	cmd.Stdout = &out
	ended, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || strings.TrimSpace(out.String()) != "0000000000000000" {
		t.Errorf("the bounding set is %s, %v", out.String(), err)
	}
	if held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_ADMIN, 0, 0, 0); err != nil || held != 1 {
		t.Errorf("a thread of the host holds %d of its bounding set, %v", held, err)
	}
}
