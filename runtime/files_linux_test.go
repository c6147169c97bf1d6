package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// A file that another program holds a lease on is busy; nobody spins until it lets go.
func TestLeasedFile(t *testing.T) {
	r := rig.New(t, rig.Options{})
	file, err := os.OpenFile(r.Put("a.txt", "abc"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("the file system has no leases: %v", err)
	}
	started := time.Now()
	e := r.Call("fs.read", object{"path": "a.txt"})
	failed(t, e, fault.Unavailable, "busy")
	if e.Error == nil || !e.Error.Retryable || time.Since(started) > 5*time.Second {
		t.Errorf("after %v: %+v", time.Since(started), e.Error)
	}
}

// A list that could not be read to its end is an error and no short list.
func TestEachReportsErrors(t *testing.T) {
	var dir string
	visited := 0
	each := runtime.Typed[object]{
		Effects: func(object) ([]permission.Effect, error) {
			return []permission.Effect{{Kind: permission.Read, Target: "dir", Recursive: true}}, nil
		},
		Do: func(_ context.Context, access *runtime.Access, _ object) (any, error) {
			return object{}, access.Files.Each("dir", func(runtime.Info) error {
				visited++
				return os.RemoveAll(dir) // the kernel reads no further in a folder that is gone
			})
		},
	}
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{{Name: "test.each", Version: 1, Capability: "test", Implementation: each}}})
	dir = filepath.Join(r.Root, "dir")
	for i := range 800 {
		r.Put(filepath.Join("dir", strconv.Itoa(i)), "")
	}
	failed(t, r.Call("test.each", object{}), fault.NotFound, "no_such_file")
	if visited == 0 || visited == 800 {
		t.Errorf("%d entries were visited", visited)
	}
}
