package wazero

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/wasmbin"
	"github.com/aircoding/air/wasmtests"
)

func TestFreeze(t *testing.T) {
	dir := compile(t, wasmtests.Module(t, "guests/state"))
	e := fromFolder(t, dir)
	data := e.Freeze()
	image, err := wasmbin.DecodeImage(data)
	if err != nil || !image.Frozen || !image.Freezable || image.Pages != 3 || len(image.Globals) != 4 || !e.Frozen() {
		t.Fatalf("%v, %+v", err, image)
	}
	if again := e.Freeze(); !bytes.Equal(again, data) {
		t.Error("frozen again, it is another image")
	}
	answers(t, e, "", "clean", "clean", "clean")
	keepFrozen(t, dir, data)
	later := fromFolder(t, dir)
	if !later.Frozen() {
		t.Fatal("the frozen image was not taken")
	}
	answers(t, later, "", "clean", "clean", "clean")
}

func keepFrozen(t *testing.T, dir string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, FrozenFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNotFrozen shows that modules without an image run as before.
func TestNotFrozen(t *testing.T) {
	for _, c := range []struct{ name, log, err string }{
		{"guests/keeper-table", "", ""},
		{"guests/keeper-segment", "", ""},
		{"hostile/inittrap", "", "_initialize: wasm error: unreachable"},
		{"guests/initlog", "hello", ""},
		{"guests/initgrow", "", ""},
	} {
		e := &Engine{}
		if err := e.Load(wasmtests.Module(t, c.name), hostabi.AirV1, 10*hostabi.PageSize); err != nil {
			t.Fatal(err)
		}
		if e.Freeze() != nil || e.Frozen() {
			t.Errorf("%s: frozen", c.name)
		}
		for range 2 {
			run := call("")
			_, err := e.Run(run)
			if (err != nil) != (c.err != "") || err != nil && !strings.HasPrefix(err.Error(), c.err) || string(run.Log) != c.log {
				t.Errorf("%s: %v, log %q", c.name, err, run.Log)
			}
			e.Reset()
		}
	}
}

// TestFrozenThatDoesNotFit gives a folder images that are damaged, of another module, or
// too large.
func TestFrozenThatDoesNotFit(t *testing.T) {
	good := load(t, wasmtests.Module(t, "guests/state")).Freeze()
	damaged := bytes.Clone(good)
	damaged[len(damaged)/2] ^= 1
	plain, err := wasmbin.Prepare(wasmtests.Module(t, "guests/state"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data  []byte
		limit int64
	}{
		"damaged":        {damaged, memoryLimit},
		"empty":          {nil, memoryLimit},
		"cut":            {good[:len(good)-1], memoryLimit},
		"not frozen":     {plain.Image.Encode(), memoryLimit},
		"other module's": {load(t, wasmtests.Module(t, "guests/echo")).Freeze(), memoryLimit},
		"too large":      {good, 2 * hostabi.PageSize},
	} {
		dir := compile(t, wasmtests.Module(t, "guests/state"))
		keepFrozen(t, dir, c.data)
		e := &Engine{}
		if err := e.LoadFolder(dir, hostabi.AirV1, c.limit); err != nil || e.Frozen() {
			t.Errorf("%s: %v, frozen %t", name, err, e.Frozen())
		}
		if c.limit == memoryLimit {
			answers(t, e, "", "clean", "clean")
		}
	}
}

// TestGoGuest runs `for x&y > 0 { x >>= 1 }` as Go compiles it, and compares calls with
// and without an image.
func TestGoGuest(t *testing.T) {
	dir := compile(t, wasmtests.GoModule(t))
	e := fromFolder(t, dir)
	check := func(e *Engine) {
		t.Helper()
		for _, c := range []struct {
			x, y  int64
			count int
		}{{0, 1, 0}, {1, 1, 1}, {7, 1, 3}, {5<<40 | 5, 1 << 42, 1}, {-20, 8, 1}, {5, -1, 3}, {-1, -1, 0}} {
			input := fmt.Sprintf(`{"tool":"words.run","input":{"op":"shift","x":%d,"y":%d}}`, c.x, c.y)
			want := fmt.Sprintf(`{"count":%d}`, c.count)
			answers(t, e, input, want, want)
		}
	}
	check(e)
	data := e.Freeze()
	if data == nil {
		t.Fatal("not frozen")
	}
	check(e)
	keepFrozen(t, dir, data)
	check(fromFolder(t, dir))
}
