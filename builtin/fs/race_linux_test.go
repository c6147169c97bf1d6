package fs_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// raceTime is how long each of the races is run.
const raceTime = 300 * time.Millisecond

// patience is how long a race is run at most until a call met the harmless state.
const patience = 20 * time.Second

// swap exchanges two names, at once and for as long as the test runs.
func swap(t *testing.T, a, b string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			time.Sleep(rand.N(300 * time.Microsecond)) // states of different length
			if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
				t.Errorf("swapping: %v", err)
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// race calls a tool while two names change places, and looks at each result.
func race(t *testing.T, r *rig.Rig, a, b, tool string, input object, look func(runtime.Envelope)) {
	t.Helper()
	stop := swap(t, filepath.Join(r.Root, a), filepath.Join(r.Root, b))
	defer stop()
	allowed, refusals := 0, 0
	for started := time.Now(); time.Since(started) < raceTime || allowed == 0 && time.Since(started) < patience; {
		e := r.Call(tool, input)
		if e.OK {
			allowed++
		} else {
			refusals++
		}
		if text, _ := json.Marshal(e); strings.Contains(string(text), secret) {
			t.Fatalf("the secret came out: %s", text)
		}
		look(e)
	}
	t.Logf("%s: %d allowed, %d refused", tool, allowed, refusals)
	if allowed == 0 {
		t.Error("no call met the harmless state: the race shows nothing")
	}
}

func none(runtime.Envelope) {}

func TestF5SwapFileAndLink(t *testing.T) {
	r := rig.New(t, rig.Options{})
	outside := r.Put(filepath.Join(r.Outside, "secret.txt"), secret)
	r.Put("f", "harmless")
	must(t, os.Symlink(outside, filepath.Join(r.Root, "link")))
	race(t, r, "f", "link", "fs.read", object{"path": "f"}, none)
}

func TestF5SwapWhileWriting(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: insideOnly})
	outside := r.Put(filepath.Join(r.Outside, "secret.txt"), secret)
	r.Put("f", "harmless")
	must(t, os.Symlink(outside, filepath.Join(r.Root, "link")))
	race(t, r, "f", "link", "fs.write", object{"path": "f", "content": "new"}, func(runtime.Envelope) {
		if content(t, outside) != secret {
			t.Fatal("written through a link")
		}
	})
	clean(t, r.Root)
	clean(t, r.Outside)
}

// insideOnly is a person who allows what lies in the project and is not protected.
var insideOnly = rig.Person(func(_ context.Context, q permission.Question) (permission.Answer, error) {
	for _, ask := range q.Asks {
		if ask.Effect.Class != permission.ClassProject {
			return permission.Answer{Choice: permission.Refuse}, nil
		}
	}
	return permission.Answer{Choice: permission.Once}, nil
})

func TestF22SwapFolderForHooks(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: insideOnly})
	hook := r.Put(".git/hooks/pre-commit", secret)
	r.Put("dir/pre-commit", "harmless")
	must(t, os.Symlink(".git/hooks", filepath.Join(r.Root, "link")))
	untouched := func(runtime.Envelope) {
		if content(t, hook) != secret {
			t.Fatal("a hook was written")
		}
		if entries, err := os.ReadDir(filepath.Dir(hook)); err != nil || len(entries) != 1 {
			t.Fatalf("something appeared among the hooks: %v %v", entries, err)
		}
	}
	race(t, r, "dir", "link", "fs.read", object{"path": "dir/pre-commit"}, none)
	race(t, r, "dir", "link", "fs.write", object{"path": "dir/pre-commit", "content": "harmless"}, untouched)
	race(t, r, "dir", "link", "fs.write", object{"path": "dir/new/post-commit", "content": "x", "create_parent_dirs": true}, untouched)
	race(t, r, "dir", "link", "fs.list", object{"path": "dir", "recursive": true}, none)
	clean(t, r.Root)
}

func TestF22SwapFileForEnv(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: insideOnly})
	env := r.Put(".env", secret)
	r.Put("f", "harmless")
	must(t, os.Symlink(".env", filepath.Join(r.Root, "link")))
	race(t, r, "f", "link", "fs.read", object{"path": "f"}, none)
	race(t, r, "f", "link", "fs.write", object{"path": "f", "content": "harmless"}, func(runtime.Envelope) {
		if content(t, env) != secret {
			t.Fatal(".env was written")
		}
	})
}

// F5 and F6: a hard link to .env that is replaced between open and fstat leaves the
// file with one name.
func TestF6SwapHardLink(t *testing.T) {
	r := rig.New(t, rig.Options{})
	env := r.Put(".env", secret)
	name, aside := r.Put("f", "harmless"), filepath.Join(r.Root, "aside")
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			err := errors.Join(os.Link(env, aside), os.Rename(aside, name), os.WriteFile(aside, []byte("harmless"), 0o600), os.Rename(aside, name))
			if err != nil {
				t.Errorf("swapping: %v", err)
				return
			}
		}
	})
	allowed := 0
	for started := time.Now(); time.Since(started) < 3*raceTime || allowed == 0 && time.Since(started) < patience; {
		e := r.Call("fs.read", object{"path": "f"})
		if e.OK {
			allowed++
		}
		if strings.Contains(string(e.Output), secret) {
			t.Errorf("the secret came out: %s", e.Output)
			break
		}
	}
	cancel()
	done.Wait()
	if allowed == 0 {
		t.Error("no call met the harmless state: the race shows nothing")
	}
}

// A file that is replaced whole, as fs.write and editors do, can be read all the while.
func TestReadWhileReplaced(t *testing.T) {
	r := rig.New(t, rig.Options{})
	name, aside := r.Put("f", "harmless"), filepath.Join(r.Root, "aside")
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			if err := errors.Join(os.WriteFile(aside, []byte("harmless"), 0o600), os.Rename(aside, name)); err != nil {
				t.Errorf("replacing: %v", err)
				return
			}
		}
	})
	for started := time.Now(); time.Since(started) < raceTime; {
		r.Must("fs.read", object{"path": "f"}, nil)
	}
	cancel()
	done.Wait()
}

// F22 within one call: the decision stands, and every use meets another state.
func TestF22ManyUsesOfOneDecision(t *testing.T) {
	opens, refusals := 0, 0
	loop := runtime.Typed[struct{ Path string }]{
		Effects: func(in struct{ Path string }) ([]permission.Effect, error) {
			return []permission.Effect{{Kind: permission.Read, Target: in.Path}}, nil
		},
		Do: func(_ context.Context, access *runtime.Access, in struct{ Path string }) (any, error) {
			for started := time.Now(); time.Since(started) < raceTime || (opens == 0 || refusals == 0) && time.Since(started) < patience; {
				file, err := access.Files.Open(in.Path)
				if err != nil {
					refusals++
					continue
				}
				opens++
				text := make([]byte, 64)
				n, _ := file.Read(text)
				_ = file.Close()
				if strings.Contains(string(text[:n]), secret) {
					t.Error("a use of the decision opened the secret")
				}
			}
			return struct{}{}, nil
		},
	}
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{{Name: "test.loop", Version: 1, Capability: "test", Implementation: loop}}})
	r.Put("dir/.env", secret)
	r.Put("dir/f", secret)
	r.Put("other/f", "harmless")
	r.Put(".git/f", secret)
	must(t, os.Symlink(".git", filepath.Join(r.Root, "link")))
	for range 100 { // until the decision is about other/f itself
		stop := swap(t, filepath.Join(r.Root, "other"), filepath.Join(r.Root, "link"))
		e := r.Call("test.loop", object{"Path": "other/f"})
		stop()
		if e.OK {
			break
		}
	}
	t.Logf("%d opened, %d refused", opens, refusals)
	if opens == 0 || refusals == 0 {
		t.Error("the race did not happen")
	}
}
