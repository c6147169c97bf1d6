package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// desk is a person with a project in front of a terminal.
type desk struct {
	*testing.T
	dir    string
	env    []string
	hand   *os.File // the person's side of the terminal
	screen *os.File // the program's

	mu   sync.Mutex
	text strings.Builder
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	hand, screen, err := openPTY()
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	d := &desk{T: t, dir: t.TempDir(), hand: hand, screen: screen}
	d.env = append(os.Environ(), "AIR_TEST_MAIN=1", "AIR_HOME="+t.TempDir(), "HOME="+t.TempDir())
	go d.watch()
	t.Cleanup(func() {
		screen.Close() // open until here, so that the terminal lives from one process to the next
		hand.Close()
	})
	if code, out := d.wait(d.start("", false, "init")); code != 0 {
		t.Fatalf("air init: %d\n%s", code, out)
	}
	return d
}

func (d *desk) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := d.hand.Read(buffer)
		d.mu.Lock()
		d.text.Write(buffer[:n])
		d.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (d *desk) shown() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

func (d *desk) await(text string, times int) {
	d.Helper()
	for range 1000 {
		if strings.Count(d.shown(), text) >= times {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.Fatalf("%q was not shown %d times in:\n%s", text, times, d.shown())
}

func (d *desk) types(text string) {
	d.Helper()
	if _, err := d.hand.WriteString(text); err != nil {
		d.Fatal(err)
	}
}

// process is air at work.
type process struct {
	*exec.Cmd
	out   bytes.Buffer
	ended chan struct{}
}

// start runs air as an agent would: what it writes to standard input is the agent's, and
// the terminal is there for standard error and, if wanted, as the controlling one.
func (d *desk) start(stdin string, terminal bool, args ...string) *process {
	d.Helper()
	self, err := os.Executable()
	if err != nil {
		d.Fatal(err)
	}
	p := &process{Cmd: exec.CommandContext(d.Context(), self, args...), ended: make(chan struct{})}
	p.Dir, p.Env, p.Stdin, p.Stdout, p.Stderr = d.dir, d.env, strings.NewReader(stdin), &p.out, &p.out
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if terminal {
		p.Stderr = d.screen
		p.SysProcAttr.Setctty, p.SysProcAttr.Ctty = true, 2
	}
	if err := p.Start(); err != nil {
		d.Fatal(err)
	}
	go func() {
		_ = p.Wait() // the exit code is what counts
		close(p.ended)
	}()
	return p
}

func (d *desk) wait(p *process) (code int, out string) {
	d.Helper()
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		d.Fatalf("air does not end; shown:\n%s", d.shown())
	}
	return p.ProcessState.ExitCode(), p.out.String()
}

// waits checks that air goes on waiting.
func (d *desk) waits(p *process) {
	d.Helper()
	select {
	case <-p.ended:
		d.Fatalf("air has ended: %s\n%s", p.out.String(), d.shown())
	case <-time.After(300 * time.Millisecond):
	}
}

func (d *desk) put(name, content string) {
	d.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(content), 0o644); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) holds(name, content string) {
	d.Helper()
	if got, err := os.ReadFile(filepath.Join(d.dir, name)); err != nil || string(got) != content {
		d.Errorf("%s holds %q, want %q: %v", name, got, content, err)
	}
}

const overwrite = `{"path":"a.txt","content":"new"}`

// C5 and C12: neither standard input nor what was typed before is an answer.
func TestC5AgentAnswers(t *testing.T) {
	d := newDesk(t)
	d.put("a.txt", "old")
	d.types("o\np\n")
	p := d.start("o\np\ns\nyes\n", true, "call", "fs.write", overwrite)
	d.await("choice> ", 1)
	d.waits(p)
	d.holds("a.txt", "old")
	d.types("o\n")
	if code, out := d.wait(p); code != 0 {
		t.Errorf("%d: %s\n%s", code, out, d.shown())
	}
	d.holds("a.txt", "new")
}

// C7: without a terminal, or with prompts switched off, a call ends at once.
func TestC7Headless(t *testing.T) {
	d := newDesk(t)
	d.put("a.txt", "old")
	for _, p := range []*process{
		d.start("o\n", false, "call", "fs.write", overwrite),
		d.start("o\n", true, "--no-prompt", "call", "fs.write", overwrite),
		d.start("1\n", false, "call", "permission.request", `{"subject":"s","risk_level":"low","reason":"r","options":["a"]}`),
	} {
		if code, out := d.wait(p); code != 3 {
			t.Errorf("%v: %d: %s", p.Args[1:], code, out)
		}
	}
	d.holds("a.txt", "old")
	if strings.Contains(d.shown(), "choice> ") {
		t.Errorf("a person was asked:\n%s", d.shown())
	}
}

// C6: a call that was interrupted is not brought back by an answer.
func TestC6Interrupted(t *testing.T) {
	d := newDesk(t)
	d.put("a.txt", "old")
	p := d.start("", true, "call", "fs.write", overwrite)
	d.await("choice> ", 1)
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	d.types("o\n")
	if code, out := d.wait(p); code != 4 {
		t.Errorf("%d: %s\n%s", code, out, d.shown())
	}
	d.holds("a.txt", "old")
}

// C9 and C10: an agent's question looks like one, and uses up refusals as others do.
func TestC10AgentAsksOn(t *testing.T) {
	d := newDesk(t)
	d.put("a.txt", "old")
	question := `{"subject":"air: fs.write asks for permission","risk_level":"low","reason":"x\nchoice> ","options":["yes","no"]}`
	p := d.start("", true, "call", "permission.request", question)
	d.await("answer> ", 1)
	if strings.Contains(d.shown(), "\nair: fs.write asks") || !strings.Contains(d.shown(), "> air: fs.write asks") {
		t.Errorf("%s", d.shown())
	}
	d.types("1\n")
	if code, out := d.wait(p); code != 0 || !strings.Contains(out, `"selected_option":"yes"`) || strings.Contains(out, "decision_id") {
		t.Errorf("%d: %s", code, out)
	}
	for i := range 5 {
		p := d.start("", true, "call", "fs.write", overwrite)
		d.await("choice> ", i+2) // one is in the agent's question
		d.types("d not now\n")
		if code, _ := d.wait(p); code != 3 {
			t.Errorf("refusal %d: %d\n%s", i, code, d.shown())
		}
	}
	for range 2 {
		for _, args := range [][]string{{"fs.write", overwrite}, {"permission.request", question}} {
			if code, out := d.wait(d.start("", true, append([]string{"call"}, args...)...)); code != 3 {
				t.Errorf("%s after five refusals: %d: %s", args[0], code, out)
			}
		}
	}
	if asked := strings.Count(d.shown(), "choice> "); asked != 6 {
		t.Errorf("asked %d times:\n%s", asked, d.shown())
	}
	d.holds("a.txt", "old")
}
