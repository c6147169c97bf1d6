package permission

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAskingChild is what asks in another process, for TestC5.
func TestAskingChild(t *testing.T) {
	if os.Getenv("AIR_TEST_ASK") == "" {
		t.Skip("this is the child of another test")
	}
	terminal, err := OpenTerminal()
	if err != nil {
		t.Fatalf("no terminal: %v", err)
	}
	answer, err := terminal.Approve(t.Context(), Question{Tool: "fs.write"})
	if err != nil {
		t.Fatal(err)
	}
	t.Fatalf("the answer is %q", answer.Choice)
}

// asking is a process of its own that asks, while an agent writes answers to its
// standard input. Its standard error is a terminal; its controlling one, if wanted.
func (s *screen) asking(device string, controlling bool) (*exec.Cmd, *bytes.Buffer) {
	s.Helper()
	self, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	tty, err := os.OpenFile(device, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { tty.Close() })
	out := &bytes.Buffer{}
	c := exec.CommandContext(s.Context(), self, "-test.run=^TestAskingChild$")
	c.Env = append(os.Environ(), "AIR_TEST_ASK=1")
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(strings.Repeat("o\np\ns\n", 100)), out, tty
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: controlling, Ctty: 2}
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	return c, out
}

// C5: only what is typed at the terminal is an answer.
func TestC5StandardInputIsNoAnswer(t *testing.T) {
	s := newScreen(t)
	c, out := s.asking(s.device, true)
	s.await("choice> ", 1)
	told := make(chan struct{})
	go func() {
		_ = c.Wait() // a failed test, by which it tells
		close(told)
	}()
	select {
	case <-told:
		t.Fatalf("answered by nobody:\n%s", out)
	case <-time.After(300 * time.Millisecond):
	}
	s.types("d\n")
	<-told
	if !strings.Contains(out.String(), `the answer is "deny"`) {
		t.Errorf("%s", out)
	}
}

// Without a controlling terminal there is nobody to ask, even with standard error on a
// terminal and an agent that would answer.
func TestC5NoControllingTerminal(t *testing.T) {
	s := newScreen(t)
	c, out := s.asking(s.device, false)
	_ = c.Wait() // a failed test, by which it tells
	if !strings.Contains(out.String(), "no terminal: nobody can be asked") || s.shown() != "" {
		t.Errorf("%s\n%s", out, s.shown())
	}
}
