package fs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

// A file of 100 MB is edited in bounded time, and one that is too large for a backup is
// refused before it is read.
func TestEditLarge(t *testing.T) {
	r := rig.New(t, rig.Options{})
	line := []byte(strings.Repeat("x", 63) + "\n")
	large := bytes.Repeat(line, 100<<20/64)
	copy(large[50<<20:], "needle")
	path := filepath.Join(r.Root, "large")
	must(t, os.WriteFile(path, large, 0o600))
	r.Must("fs.read", object{"path": "large", "limit_lines": 1}, nil)
	var got editOutput
	r.Must("fs.edit", object{"path": "large", "old_string": "needle", "new_string": "thread"}, &got) // seen by its digest
	time.Sleep(3100 * time.Millisecond)
	r.Must("fs.read", object{"path": "large", "limit_lines": 1}, nil)
	info, err := os.Stat(path)
	must(t, err)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteAt([]byte("y"), 7)
	must(t, errors.Join(err, file.Close(), os.Chtimes(path, info.ModTime(), info.ModTime())))
	failed(t, r.Call("fs.edit", object{"path": "large", "old_string": "thread", "new_string": "pin"}), fault.Conflict, "stale")
	time.Sleep(3100 * time.Millisecond)
	r.Must("fs.read", object{"path": "large", "limit_lines": 1}, nil)
	r.Must("fs.edit", object{"path": "large", "old_string": "thread", "new_string": "pin"}, &got) // by its version
	if diff := diffOf(t, r, got.DiffArtifactID); len(diff) > 1000 || !strings.Contains(diff, "+pinxxx") {
		t.Errorf("a diff of %d bytes", len(diff))
	}
	must(t, os.Truncate(path, 300<<20))
	r.Must("fs.read", object{"path": "large", "limit_lines": 1}, nil)
	failed(t, r.Call("fs.edit", object{"path": "large", "old_string": "pin", "new_string": "x"}), fault.ResourceExhausted, "artifact_size")
}

// Replacements that make a file much larger have a sentence for a diff, and end soon.
func TestEditGrows(t *testing.T) {
	r := rig.New(t, rig.Options{})
	path := seen(t, r, "f.txt", strings.Repeat("a\n", 200_000))
	var got editOutput
	started := time.Now()
	r.Must("fs.edit", object{"path": "f.txt", "old_string": "a", "new_string": strings.Repeat("\n", 120), "replace_all": true}, &got)
	if took := time.Since(started); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if diff, want := diffOf(t, r, got.DiffArtifactID), "f.txt: 200000 replacements, from 400000 bytes to 24200000, which change too much for a diff\n"; diff != want {
		t.Errorf("%.200q", diff)
	}
	if got := content(t, path); got != strings.Repeat("\n", 200_000*121) {
		t.Errorf("%d bytes", len(got))
	}
	seen(t, r, "g.txt", strings.Repeat("a\n", 200_000))
	failed(t, r.Call("fs.edit", object{"path": "g.txt", "old_string": "a", "new_string": strings.Repeat("\n", 1400), "replace_all": true}), fault.ResourceExhausted, "artifact_size")
}

// A file that changes while it is edited is not replaced.
func TestEditRace(t *testing.T) {
	r := rig.New(t, rig.Options{})
	path := seen(t, r, "f.txt", "1\n")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, _ = file.WriteString("+")
				_ = file.Close()
			}
		}
	}()
	refused := 0
	for range 30 {
		r.Must("fs.read", object{"path": "f.txt"}, nil)
		if e := r.Call("fs.edit", object{"path": "f.txt", "old_string": "1\n", "new_string": "1\n" + "-"}); e.Error != nil {
			failed(t, e, fault.Conflict, "stale")
			refused++
		}
	}
	cancel()
	<-done
	if refused == 0 {
		t.Error("the race did not happen")
	}
}

// A capability edits what it has read in the same call, and nothing that only others have.
func TestEditByGuest(t *testing.T) {
	guest := func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		change := object{"path": "f.txt", "old_string": "a", "new_string": "b"}
		first := rig.Call(ctx, access, "fs.edit", change)
		rig.Call(ctx, access, "fs.read", object{"path": "f.txt"})
		second := rig.Call(ctx, access, "fs.edit", change)
		return object{"first": first, "second": second}, nil
	}
	r := rig.New(t, rig.Options{Provider: rig.Guests{"g": guest}})
	path := seen(t, r, "f.txt", "a\n")
	var out struct{ First, Second runtime.Envelope }
	e := r.Must("g.run", object{}, &out)
	failed(t, out.First, fault.Conflict, "not_read")
	if out.Second.Error != nil || content(t, path) != "b\n" {
		t.Fatalf("%v, the file holds %q", out.Second.Error, content(t, path))
	}
	r.Must("air.undo", object{"run_id": e.RunID}, nil)
	if content(t, path) != "a\n" {
		t.Errorf("undone: %q", content(t, path))
	}
	failed(t, r.Call("fs.edit", object{"path": "f.txt", "old_string": "b", "new_string": "a"}), fault.Conflict, "no_match") // undone, it is as it was read
}
