package undo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

const (
	crashDir  = "AIR_TEST_CRASH_DIR"
	crashTool = "AIR_TEST_CRASH_TOOL"
)

const crashFiles = 40

// rewrite replaces the files of a folder and adds as many.
func rewrite(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
	for i := range crashFiles {
		for _, path := range []string{fmt.Sprintf("d/old%d", i), fmt.Sprintf("d/new%d", i)} {
			input := object{"path": path, "content": strings.Repeat(path, 10_000)}
			if e := rig.Call(ctx, access, "fs.write", input); e.Error != nil {
				return nil, e.Error
			}
		}
	}
	return object{}, nil
}

func crashRig(t *testing.T, dir string) *rig.Rig {
	t.Helper()
	return rig.New(t, rig.Options{Dir: dir, Provider: rig.Guests{"a": rewrite}})
}

// TestCrashChild is what the other tests kill.
func TestCrashChild(t *testing.T) {
	if dir := os.Getenv(crashDir); dir != "" {
		crashRig(t, dir).Must(os.Getenv(crashTool), object{}, nil)
	}
}

// crash calls a tool in another process and kills that at some moment after a file has
// changed or gone.
func crash(t *testing.T, dir, tool, watched string) {
	t.Helper()
	path := filepath.Join(dir, "project", watched)
	was, _ := os.Stat(path) // nil: it is not there
	child := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
	child.Env = append(os.Environ(), crashDir+"="+dir, crashTool+"="+tool)
	must(t, child.Start())
	for range 4000 {
		now, err := os.Stat(path)
		if (err != nil) != (was == nil) || err == nil && !now.ModTime().Equal(was.ModTime()) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(rand.N(150 * time.Millisecond))
	must(t, child.Process.Kill())
	_ = child.Wait() // it was killed
}

// A call that is killed in the middle is undone as far as it got; an undo that is killed
// in the middle goes on when it is called again.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	r := crashRig(t, dir)
	for i := range crashFiles {
		r.Put(fmt.Sprintf("d/old%d", i), fmt.Sprintf("old %d", i))
	}
	before := tree(t, r.Root)
	for range 3 {
		crash(t, dir, "a.run", "d/old0")
		var out undone
		r.Must("air.undo", object{}, &out)
		t.Logf("killed with %d files recorded", out.FileCount)
		if got := tree(t, r.Root); got != before {
			t.Fatalf("after undo\n%s\nbefore\n%s", got, before)
		}
	}
	for range 3 {
		wrote := r.Must("a.run", object{}, nil)
		crash(t, dir, "air.undo", fmt.Sprintf("d/new%d", crashFiles-1))
		left := 0
		for i := range crashFiles {
			if _, err := os.Stat(filepath.Join(r.Root, "d", fmt.Sprintf("new%d", i))); err == nil {
				left++
			}
		}
		t.Logf("killed with %d of %d files left to remove", left, crashFiles)
		got := withoutTemporaries(tree(t, r.Root)) // of the end of the undo: the next write removes them
		if left > 0 {
			r.Must("air.undo", object{"run_id": wrote.RunID}, nil)
			got = tree(t, r.Root)
		}
		if got != before {
			t.Fatalf("after the second undo\n%s\nbefore\n%s", got, before)
		}
	}
}
