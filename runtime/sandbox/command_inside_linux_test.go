package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// insideName is the argv[0] under which the test program runs inside a sandbox, or as a
// host that is killed.
const insideName = "air-test-inside"

// serveIfInside does one thing that a shell cannot, and does not return, when the test
// program was started for that.
func serveIfInside() {
	if len(os.Args) < 2 || os.Args[0] != insideName {
		return
	}
	err := errors.New("no such act")
	switch os.Args[1] {
	case "get":
		err = get(os.Args[2])
	case "dial":
		err = dial(os.Args[2], os.Args[3])
	case "type":
		err = typeIntoTerminals()
	case "nest":
		err = nest()
	case "host":
		err = hostSleep(os.Args[2])
	}
	if err != nil {
		fmt.Println(err)
		unix.Exit(1)
	}
	unix.Exit(0)
}

func get(url string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}

// typeIntoTerminals tries each descriptor, and fails unless each refuses.
func typeIntoTerminals() error {
	for fd := range uintptr(10) {
		c := byte('x')
		if err := call(unix.SYS_IOCTL, fd, unix.TIOCSTI, at(&c)); !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("descriptor %d: %v", fd, err)
		}
	}
	return nil
}

// nest starts a sandbox inside the sandbox.
func nest() error {
	_, err := Command{Argv: []string{"true"}}.Start(context.Background())
	var tier *TierError
	if !errors.As(err, &tier) || !errors.Is(err, ErrNoNamespaces) {
		return fmt.Errorf("got %v, want a TierError", err)
	}
	return nil
}

// hostSleep is a host that says when its command runs, and waits to be killed.
func hostSleep(tag string) error {
	p, err := Command{Argv: []string{"sh", "-c", "echo up; sleep 300 & setsid sleep 300"}, Env: append(DefaultEnv(), tag), Mounts: System(), Stdout: os.Stdout}.Start(context.Background())
	if err != nil {
		return err
	}
	_, err = p.Wait()
	return err
}

// tagged returns the processes that have a variable in their environment.
func tagged(t *testing.T, tag string) (pids []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		environ, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err == nil && strings.Contains(string(environ), tag) {
			pids = append(pids, e.Name())
		}
	}
	return pids
}

// loopback listens on the host's loopback and closes what connects.
func loopback(t *testing.T, network, address string) net.Addr {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return l.Addr()
}
