//go:build linux

package runner

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
)

// sleeper is a command of the rig's that runs, and the process in it that sleeps. ended
// gives how it ended.
func sleeper(r *rig) (pid int, ended <-chan runtime.Ended) {
	r.Helper()
	done := make(chan runtime.Ended, 1)
	l := r.line("sleep 300; exit 7")
	l.Bash = true
	go func() {
		e, _ := r.Launch(r.Context(), l)
		done <- e
	}()
	for range 500 {
		time.Sleep(10 * time.Millisecond)
		commands, err := r.commands()
		must(r, err)
		for above := range commands {
			for _, pid := range descendants(above) {
				if p, err := readProcess(pid); err == nil && p.name == "sleep" {
					return pid, done
				}
			}
		}
	}
	r.Fatal("nothing sleeps")
	return 0, nil
}

func descendants(pid int) (below []int) {
	children := childrenByParent()
	for next := children[pid]; len(next) > 0; {
		below = append(below, next[0])
		next = append(next[1:], children[next[0]]...)
	}
	return below
}

func TestKillOwn(t *testing.T) {
	needsSandbox(t)
	r := newRig(t, nil)
	pid, ended := sleeper(r)
	other := r.another("s1") // another air process of the session
	p, err := other.Find(pid)
	if err != nil || !p.Own || p.Forbidden != "" || p.Name != "sleep" {
		t.Fatalf("found %+v, %v", p, err)
	}
	if p, err := r.another("s2").Find(pid); err != nil || p.Own {
		t.Errorf("another session owns %+v, %v", p, err)
	}
	if delivered, err := other.Signal(p, "SIGTERM"); !delivered || err != nil {
		t.Errorf("delivered %v, %v", delivered, err)
	}
	if e := <-ended; e.Code != 7 {
		t.Errorf("the command ended with %+v", e)
	}
	if delivered, err := other.Signal(p, "SIGTERM"); delivered || err != nil {
		t.Errorf("to one that has ended: delivered %v, %v", delivered, err)
	}
	if left, err := os.ReadDir(filepath.Join(r.state, "state", "running")); err != nil || len(left) > 0 {
		t.Errorf("the table holds %v, %v", left, err)
	}
}

// A whole command is ended by its first process.
func TestKillCommand(t *testing.T) {
	needsSandbox(t)
	r := newRig(t, nil)
	_, ended := sleeper(r)
	commands, err := r.commands()
	must(t, err)
	for pid := range commands {
		p, err := r.Find(pid)
		if err != nil || !p.Own {
			t.Fatalf("found %+v, %v", p, err)
		}
		if delivered, err := r.Signal(p, "SIGKILL"); !delivered || err != nil {
			t.Errorf("delivered %v, %v", delivered, err)
		}
	}
	if e := <-ended; !e.Killed {
		t.Errorf("the command ended with %+v", e)
	}
}

// Case P5.
func TestKillStrangers(t *testing.T) {
	r := newRig(t, nil)
	stranger := exec.Command("sleep", "300")
	must(t, stranger.Start())
	pid := stranger.Process.Pid
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	for _, c := range []struct {
		what string
		pid  int
		want string
	}{
		{"the first process", 1, "is the first process of the machine"},
		{"air itself", os.Getpid(), "is air itself, or runs it"},
		{"what runs air", os.Getppid(), "is air itself, or runs it"},
		{"a worker of air", pid, "is a part of air"},
	} {
		p, err := r.Find(c.pid)
		if err != nil || p.Own || p.Forbidden != c.want {
			t.Errorf("%s: %+v, %v, want %q", c.what, p, err, c.want)
		}
		var f *fault.Error
		if delivered, err := r.Signal(p, "SIGKILL"); delivered || !errors.As(err, &f) || f.Kind != fault.PermissionDenied {
			t.Errorf("%s: delivered %v, %v", c.what, delivered, err)
		}
	}
	var f *fault.Error
	if _, err := r.Find(1 << 22); !errors.As(err, &f) || f.Kind != fault.NotFound {
		t.Errorf("a process that is not there: %v", err)
	}
}

// Case P5: an orphan of nobody's is no forbidden one; that it needs a person is the engine's.
func TestKillOrphan(t *testing.T) {
	r := newRig(t, nil)
	out, err := exec.Command("sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!").Output()
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	must(t, err)
	p, err := r.Find(pid)
	must(t, err)
	if p.Own || p.Forbidden != "" {
		t.Errorf("found %+v", p)
	}
	if delivered, err := r.Signal(p, "SIGKILL"); !delivered || err != nil {
		t.Errorf("delivered %v, %v", delivered, err)
	}
}

// Case P5: a table that names a number which is another process's meanwhile.
func TestKillReused(t *testing.T) {
	r := newRig(t, nil)
	stranger := exec.Command("sleep", "300")
	must(t, stranger.Start())
	pid := stranger.Process.Pid
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	now, err := readProcess(pid)
	must(t, err)
	entry := func(e running) string {
		dir, err := r.table()
		must(t, err)
		text, err := json.Marshal(e)
		must(t, err)
		file := filepath.Join(dir, "x.json")
		must(t, os.WriteFile(file, text, 0o600))
		return file
	}
	for _, c := range []struct {
		what       string
		entry      running
		own, swept bool
	}{
		{"another process had the number", running{pid, now.started - 1, "s1", machine()}, false, true},
		{"before the machine booted", running{pid, now.started, "s1", "other pid:[1]"}, false, true},
		{"in another container", running{pid, now.started, "s1", bootOf(machine()) + " pid:[1]"}, false, false},
		{"of another session", running{pid, now.started, "s2", machine()}, false, false},
		{"the first process", running{1, 0, "s1", machine()}, false, false},
		{"its own", running{pid, now.started, "s1", machine()}, true, false},
	} {
		file := entry(c.entry)
		p, err := r.Find(pid)
		if err != nil || p.Own != c.own {
			t.Errorf("%s: own %v, %v", c.what, p.Own, err)
		}
		if _, err := os.Stat(file); (err != nil) != c.swept {
			t.Errorf("%s: swept %v", c.what, err != nil)
		}
		_ = os.Remove(file)
	}
	entry(running{pid, now.started, "s1", machine()})
	p, err := r.Find(pid)
	must(t, err)
	p.Started--
	if delivered, err := r.Signal(p, "SIGKILL"); delivered || err != nil {
		t.Errorf("to a reused number: delivered %v, %v", delivered, err)
	}
	p.Started++
	must(t, os.Remove(entry(running{PID: 2})))
	if delivered, err := r.Signal(p, "SIGKILL"); delivered || err == nil {
		t.Errorf("to one that belongs to no command any more: delivered %v, %v", delivered, err)
	}
	if _, err := readProcess(pid); err != nil {
		t.Errorf("the stranger has gone: %v", err)
	}
}

func TestParseStat(t *testing.T) {
	tail := " 5 6 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2"
	for _, c := range []struct {
		line string
		want process
	}{
		{"12 (a) S" + tail, process{name: "a", parent: 5, started: 98765}},
		{"12 (a) R 1 (b) c) Z" + tail, process{name: "a) R 1 (b) c", parent: 5, started: 98765, zombie: true}},
		{"12 (k) I" + strings.Replace(tail, "4194304", strconv.Itoa(kernelThread), 1), process{name: "k", parent: 5, started: 98765, kernel: true}},
	} {
		if got, err := parseStat(c.line); got != c.want || err != nil {
			t.Errorf("%q: %+v, %v", c.line, got, err)
		}
	}
	for _, line := range []string{"", "12 a S", "12 (a) S 5", "12 (a) S x" + tail} {
		if _, err := parseStat(line); err == nil {
			t.Errorf("%q is read", line)
		}
	}
}
