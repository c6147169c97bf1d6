package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// testInstaller is the argv[0] of a process that compiles the module argv[1] of the
// checksum argv[2] into the cache argv[3] and calls it. With argv[4] it puts a file system
// of that size there first.
const testInstaller = "air-test-installer"

func serveIfInstaller() {
	if os.Args[0] != testInstaller {
		return
	}
	if err := install(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

func install(path, sha256, cache string, size []string) error {
	if len(size) > 0 {
		if err := unix.Mount("tmpfs", cache, "tmpfs", 0, "size="+size[0]); err != nil {
			return fmt.Errorf("mount: %w", err)
		}
	}
	p := NewPool(PoolOptions{CacheDir: cache, Log: func(m string) { fmt.Println("log:", m) }})
	defer p.Close()
	m := Module{Capability: "t", Tool: "t.t", Path: path, SHA256: sha256}
	if err := p.Compile(context.Background(), m); err != nil {
		return err
	}
	for range 2 {
		result, err := p.invoke(context.Background(), m, nil, &fakeHandler{})
		if err != nil {
			return err
		}
		fmt.Printf("output: %s\n", result.output)
	}
	return nil
}

func installer(m Module, cache string, size ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{testInstaller, m.Path, m.SHA256, cache}, size...)
	return cmd
}

// TestTwoProcessesInstallAtOnce has processes compile the same module into one cache.
func TestTwoProcessesInstallAtOnce(t *testing.T) {
	m, cache := guest(t, "guests/nested"), filepath.Join(t.TempDir(), "cache")
	var all []*exec.Cmd
	var said []*strings.Builder
	for range 3 {
		cmd, out := installer(m, cache), &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all, said = append(all, cmd), append(said, out)
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil || strings.Count(said[i].String(), "output: {}") != 2 {
			t.Errorf("%v, said %s", err, said[i])
		}
	}
	mustHold(t, cache, 1)
}

// TestFullDisk has the file system of the cache fill up at each point: in the compiler, in
// what follows it, and when the frozen image is kept.
func TestFullDisk(t *testing.T) {
	m := guest(t, "guests/nested")
	logged := 0
	for pages := 1; pages <= 10; pages++ {
		cmd := installer(m, t.TempDir(), fmt.Sprint(pages*os.Getpagesize()))
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || strings.HasPrefix(string(out), "mount: operation not permitted") {
			t.Skipf("this system refuses namespaces, without which no small file system can be had: %v", err)
		}
		if err != nil || strings.Count(string(out), "output: {}") != 2 {
			t.Errorf("%d pages: %v, said %s", pages, err, out)
		}
		if strings.Contains(string(out), "no space left") {
			logged++
		}
	}
	if logged == 0 || logged == 10 {
		t.Errorf("the disk was full for %d of 10 sizes", logged)
	}
}
