package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/aircoding/air/runtime/engine"
	"github.com/aircoding/air/runtime/runner"
	"github.com/aircoding/air/runtime/sandbox"
)

// The test binary is air itself: for testscript by the name it is started under, and
// for guests as their worker.
func TestMain(m *testing.M) {
	engine.ServeIfWorker()
	runner.ServeIfKeeper()
	if os.Getenv("AIR_TEST_MAIN") != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"air": main, "person": person})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		WorkdirRoot:         t.TempDir(),
		Setup: func(e *testscript.Env) error {
			e.Setenv("AIR_HOME", filepath.Join(e.WorkDir, ".home"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, ".person"))
			e.Setenv("REPO", repository(t))
			for _, name := range []string{"GOCACHE", "GOMODCACHE"} { // HOME is a new one: keep Go's caches
				value, err := goEnv(name)
				if err != nil {
					return err
				}
				e.Setenv(name, value)
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "race":
				return underRace, nil
			case "namespaces":
				return sandbox.CommandTier(t.Context()).Held, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":    status,
			"registry":  registry,
			"wasm":      wasm,
			"interrupt": interrupt,
			"hangup":    hangup,
			"silent":    silent,
		},
	})
}

func repository(t *testing.T) string {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	return strings.TrimSpace(string(out)), err
}

// status N COMMAND... runs a command that must end with exactly the exit code N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// registry VAR serves an embedded registry until the script ends and puts its address
// into a variable.
func registry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: registry VAR")
	}
	self, err := exec.LookPath("air")
	ts.Check(err)
	c := exec.Command(self, "registry", "serve", "--addr", "127.0.0.1:0")
	c.Env = []string{"AIR_HOME=" + ts.Getenv("AIR_HOME"), "HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH")}
	out, err := c.StdoutPipe()
	ts.Check(err)
	ts.Check(c.Start())
	ts.Defer(func() {
		_ = c.Process.Kill() // it may have ended by itself
		_ = c.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	ts.Setenv(args[0], strings.TrimSpace(address))
}

// silent VAR puts the address of a server into a variable that accepts connections and
// says nothing.
func silent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: silent VAR")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { ts.Check(l.Close()) })
	ts.Setenv(args[0], l.Addr().String())
}

// interrupt PATTERN N COMMAND... starts a command, interrupts it once the current
// session has an event that PATTERN finds, and expects the exit code N.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	signalled(ts, neg, args, os.Interrupt)
}

// hangup is interrupt for a terminal that is gone, which is told twice.
func hangup(ts *testscript.TestScript, neg bool, args []string) {
	if signal.Ignored(syscall.SIGHUP) {
		ts.Logf("these tests run under nohup, and so does what they start")
		return
	}
	signalled(ts, neg, args, syscall.SIGHUP, syscall.SIGHUP)
}

func signalled(ts *testscript.TestScript, neg bool, args []string, signals ...os.Signal) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt pattern N command...")
	}
	path, err := exec.LookPath(args[2])
	ts.Check(err)
	c := exec.Command(path, args[3:]...)
	c.Dir = ts.MkAbs(".")
	c.Env = []string{"AIR_HOME=" + ts.Getenv("AIR_HOME"), "HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH")}
	ts.Check(c.Start())
	ts.Defer(func() {
		_ = c.Process.Kill() // it may have ended by itself
	})
	deadline := time.Now().Add(20 * time.Second)
	for {
		look := exec.Command(path, "event", "ls")
		look.Dir, look.Env = c.Dir, c.Env
		out, err := look.Output()
		ts.Check(err)
		if bytes.Contains(out, []byte(args[0])) {
			break
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no event %q in time", args[0])
		}
	}
	for _, s := range signals {
		ts.Check(c.Process.Signal(s))
	}
	_ = c.Wait() // the exit code is what counts
	if code := c.ProcessState.ExitCode(); fmt.Sprint(code) != args[1] {
		ts.Fatalf("exit code %d, want %s", code, args[1])
	}
}

// wasm NAME FILE copies a committed guest of wasmtests, such as hostile/loop.
func wasm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: wasm NAME FILE")
	}
	module, err := os.ReadFile(filepath.Join(ts.Getenv("REPO"), "wasmtests", args[0]+".wasm"))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), module, 0o644))
}
