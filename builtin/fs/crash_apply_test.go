package fs_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/rig"
)

const crashCall = "AIR_TEST_CRASH_CALL"

// crashCalls are what is killed at every step.
var crashCalls = map[string]struct {
	tool  string
	input object
}{
	"patch":     {"fs.patch", object{"patch": manyPatch}},
	"edit":      {"fs.edit", object{"path": "edit.txt", "old_string": "two", "new_string": "TWO"}},
	"overwrite": {"fs.write", object{"path": "edit.txt", "content": "one\nTWO\n"}},
	"create":    {"fs.write", object{"path": "new/deep/made.sh", "content": "made\n", "create_parent_dirs": true}},
}

// TestCrashCallChild is what TestKilledAtEveryStep kills: it makes one call when it is told
// to.
func TestCrashCallChild(t *testing.T) {
	c, ok := crashCalls[os.Getenv(crashCall)]
	if !ok {
		return
	}
	r := rig.New(t, rig.Options{Dir: os.Getenv(crashDir), Approver: rig.Yes})
	fmt.Println("ready")
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	r.Must(c.tool, c.input, nil)
}

// crashSteps are the system calls before which a call is killed.
const crashSteps = "renameat,renameat2,unlinkat,mkdirat,linkat,fsync,fdatasync,fchmod,ftruncate"

// TestKilledAtEveryStep: whenever a process is killed, each file is as it was or as it was
// to be, what is left under a passing name the next start removes, and an undo brings back
// what was.
func TestKilledAtEveryStep(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not here: apt-get install strace")
	}
	for name := range crashCalls {
		t.Run(name, func(t *testing.T) {
			killed := 0
			for step, survived := 1, 0; survived < 2 && step < 60; step++ {
				if testing.Short() && step%3 != 1 {
					continue
				}
				if crashOnce(t, name, func(c *exec.Cmd) (ready func() error, wait func()) { return traced(t, strace, c, step) }) {
					killed, survived = killed+1, 0
				} else {
					survived++
				}
			}
			if killed < 2 {
				t.Skip("strace does not kill here")
			}
			t.Logf("killed %d times", killed)
		})
	}
}

// TestKilledAtAnyMoment needs no other program.
func TestKilledAtAnyMoment(t *testing.T) {
	for name := range crashCalls {
		for range 4 {
			crashOnce(t, name, func(c *exec.Cmd) (func() error, func()) {
				return func() error { return nil }, func() {
					time.Sleep(rand.N(12 * time.Millisecond))
					_ = c.Process.Kill() // it may have ended
				}
			})
		}
	}
}

// crashOnce has a child make a call, lets something kill it, and looks at what is left. It
// reports whether it was killed.
func crashOnce(t *testing.T, call string, arm func(c *exec.Cmd) (ready func() error, wait func())) bool {
	t.Helper()
	dir := t.TempDir()
	r := rig.New(t, rig.Options{Dir: dir})
	manyFiles(t, r)
	before := treeOf(t, r.Root)
	child := exec.Command(os.Args[0], "-test.run=^TestCrashCallChild$")
	child.Env = append(os.Environ(), crashDir+"="+dir, crashCall+"="+call, "GOMAXPROCS=1")
	in, err := child.StdinPipe()
	must(t, err)
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	ready, wait := arm(child)
	must(t, ready())
	_, err = in.Write([]byte{'\n'})
	must(t, err)
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	wait()
	killed := child.Wait() != nil
	checkCrash(t, dir, before)
	return killed
}

// checkCrash looks at a project as the next process finds it.
func checkCrash(t *testing.T, dir, before string) {
	t.Helper()
	r := rig.New(t, rig.Options{Dir: dir, Approver: rig.Yes})
	clean(t, r.Root)
	for _, f := range strings.Split(strings.TrimSuffix(treeOf(t, r.Root), "|"), "|") {
		if name, _, _ := strings.Cut(f, " "); !strings.Contains(before, f+"|") && !strings.Contains(crashAfter[name], f+"|") {
			t.Errorf("half a file: %q", f)
		}
	}
	if e := r.Call("air.undo", object{}); e.Error != nil && e.Error.Code != "nothing_to_undo" {
		t.Errorf("%+v", e.Error)
	}
	if now := treeOf(t, r.Root); now != before {
		t.Errorf("after the undo\n%s\nbefore\n%s", now, before)
	}
	clean(t, r.Root)
}

// crashAfter are the files as the calls leave them.
var crashAfter = map[string]string{
	"edit.txt":         "edit.txt -rw-r--r-- one\nTWO\n|",
	"sub/to.txt":       "sub/to.txt -rw-r----- moved\n|",
	"new/deep/made.sh": "new/deep/made.sh -rwxr-xr-x made\n|new/deep/made.sh -rw-r--r-- made\n|",
	"run.sh":           "run.sh -rwxr-xr-x run\n|",
}

// traced has strace kill the child before it takes a step.
func traced(t *testing.T, strace string, child *exec.Cmd, step int) (ready func() error, wait func()) {
	t.Helper()
	c := exec.Command(strace, "-f", "-o", filepath.Join(t.TempDir(), "trace"), "-e", "trace="+crashSteps,
		"-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", crashSteps, step), "-p", fmt.Sprint(child.Process.Pid))
	var says bytes.Buffer
	diag, err := c.StderrPipe()
	must(t, err)
	must(t, c.Start())
	attached := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(io.TeeReader(diag, &says)).ReadString('\n') // "Process N attached"
		attached <- err
		_, _ = io.Copy(io.Discard, diag)
	}()
	return func() error {
			if err := <-attached; err != nil || !strings.Contains(says.String(), "attached") {
				_ = child.Process.Kill()
				t.Skipf("strace: %s %v", says.String(), err)
			}
			return nil
		}, func() {
			_ = c.Wait() // with the child
		}
}
