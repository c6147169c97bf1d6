package wasmbin

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/wasmtests"
)

// stateful is a guest with a start function, mutable globals of all kinds of numbers and
// a constant one, a table, and active data.
func stateful() parts {
	p := good()
	p.functions = vec([]byte{0}, []byte{1})
	p.tables = vec([]byte{0x70, 0, 1})
	p.globals = vec(
		[]byte{0x7f, 0, 0x41, 7, 0x0b},
		[]byte{0x7f, 1, 0x41, 0x7f, 0x0b},
		[]byte{0x7e, 1, 0x42, 0x7e, 0x0b},
		[]byte{0x7d, 1, 0x43, 0, 0, 0x80, 0xbf, 0x0b}, // -1
		[]byte{0x7c, 1, 0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x0b})
	p.start = []byte{1}
	p.elements = vec([]byte{0, 0x41, 0, 0x0b, 1, 0})
	p.code = vec(body(1, 3, 0x7f, 0x41, 0, 0x41, 6, 0x41, 3, 0x71, 0x4a, 0x0b), body(0, 0x0b)) // 0 > 6 & 3
	p.data = vec([]byte{0, 0x41, 5, 0x0b, 3, 'a', 'b', 'c'}, []byte{1, 1, 'p'}, []byte{2, 0, 0x41, 0xc0, 0, 0x0b, 0})
	p.tail = wasmtests.Section(0, slices.Concat(name("name"), []byte{1, 4, 1, 0, 1, 'f'}))
	return p
}

func preparedOf(t *testing.T, module []byte) *Prepared {
	t.Helper()
	p, err := Prepare(module)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPrepare spells out what becomes of a module, section by section.
func TestPrepare(t *testing.T) {
	p := stateful()
	got := preparedOf(t, p.module())
	p.tables, p.memories = vec([]byte{0x70, 1, 1, 0xc0, 0x84, 0x3d}), vec([]byte{1, 1, 0x80, 0x80, 1})
	p.exports = vec(exp("memory", 2, 0), exp("air_call", 0, 0), exp("air.start", 0, 1),
		exp("air.global.1", 3, 1), exp("air.global.2", 3, 2), exp("air.global.3", 3, 3), exp("air.global.4", 3, 4))
	p.start, p.data = nil, nil // nothing can name a segment
	p.code = vec(body(1, 3, 0x7f, 0x41, 0, 0x41, 6, 0x41, 3, 0x71, 0x41, 0, 0x72, 0x4a, 0x0b), body(0, 0x0b))
	if want := p.module(); !bytes.Equal(got.Full, want) {
		t.Errorf("full module\ngot  %x\nwant %x", got.Full, want)
	}
	p.code = vec(body(0, 0, 0x0b), body(0, 0, 0x0b))
	if want := p.module(); !bytes.Equal(got.Skeleton, want) {
		t.Errorf("skeleton\ngot  %x\nwant %x", got.Skeleton, want)
	}
	image := Image{Freezable: true, Pages: 1, Runs: []Run{{5, []byte("abc")}}, Globals: []Global{
		{1, 0xffffffff}, {2, 0xfffffffffffffffe}, {3, 0xbf800000}, {4, 0x3ff0000000000000},
	}}
	if !reflect.DeepEqual(got.Image, image) {
		t.Errorf("image %+v\nwant %+v", got.Image, image)
	}
	validate(t, got.Full)
	validate(t, got.Skeleton)
}

// TestSegmentsKeepTheirIndex: instructions may name segments where a section announces
// their number.
func TestSegmentsKeepTheirIndex(t *testing.T) {
	p := stateful()
	p.dataCount = []byte{3}
	got := preparedOf(t, p.module())
	for _, module := range [][]byte{got.Full, got.Skeleton} {
		validate(t, module)
		want := slices.Concat(wasmtests.Section(11, vec([]byte{1, 0}, []byte{1, 1, 'p'}, []byte{1, 0})), p.tail)
		if !bytes.HasSuffix(module, want) {
			t.Errorf("got  %x\nwant %x at the end", module, want)
		}
	}
}

// TestFreezable tells the modules of which an image can hold whatever an instance becomes.
func TestFreezable(t *testing.T) {
	for what, test := range map[string]struct {
		code string
		want bool
	}{
		"memory.init":        {"00 fc 08 00 00 0b", true},
		"memory.grow":        {"00 40 00 0b", true},
		"table.get":          {"00 25 00 1a 41 00 0b", true},
		"table.size":         {"00 fc 10 00 0b", true},
		"table.set":          {"00 26 00 0b", false},
		"table.init":         {"00 fc 0c 00 00 0b", false},
		"table.copy":         {"00 fc 0e 00 00 0b", false},
		"table.grow":         {"00 fc 0f 00 0b", false},
		"table.fill":         {"00 fc 11 00 0b", false},
		"elem.drop":          {"fc 0d 00 00 0b", false},
		"data.drop":          {"fc 09 00 00 0b", false},
		"data.drop, padded":  {"fc 89 00 00 00 0b", false},
		"two of these":       {"fc 09 00 fc 0d 00 00 0b", false},
		"one, and then none": {"fc 09 00 fc 08 00 00 0b", false},
	} {
		p := stateful()
		p.dataCount = []byte{3}
		p.code = vec(body(0, 0x41, 0, 0x0b), body(append([]byte{0}, unhex(t, test.code)...)...))
		checkFreezable(t, what, p, test.want)
	}
	for what, test := range map[string]struct {
		global []byte
		want   bool
	}{
		"a mutable reference":  {[]byte{0x70, 1, 0xd0, 0x70, 0x0b}, false},
		"a mutable vector":     {slices.Concat([]byte{0x7b, 1, 0xfd, 12}, make([]byte, 16), []byte{0x0b}), false},
		"a constant reference": {[]byte{0x70, 0, 0xd0, 0x70, 0x0b}, true},
	} {
		p := stateful()
		p.globals = vec(test.global)
		checkFreezable(t, what, p, test.want)
	}
}

func checkFreezable(t *testing.T, what string, p parts, want bool) {
	t.Helper()
	if got := preparedOf(t, p.module()).Image.Freezable; got != want {
		t.Errorf("%s: freezable %t, want %t", what, got, want)
	}
}

func TestSegments(t *testing.T) {
	// at places data at an address below 2^13.
	at := func(address int, data string) []byte {
		return slices.Concat([]byte{0, 0x41, byte(address&0x7f | 0x80), byte(address >> 7), 0x0b}, name(data))
	}
	for _, test := range []struct {
		what     string
		segments [][]byte
		want     []Run
	}{
		{"none", nil, nil},
		{"an empty one", [][]byte{at(9, "")}, nil},
		{"apart, in any order", [][]byte{at(4000, "b"), at(100, "a")}, []Run{{100, []byte("a")}, {4000, []byte("b")}}},
		{"the later one wins", [][]byte{at(100, "aaaa"), at(101, "bb")}, []Run{{100, []byte("abba")}}},
		{"the later one wins, below", [][]byte{at(101, "bb"), at(100, "aa")}, []Run{{100, []byte("aab")}}},
		{"three, the last one over both", [][]byte{at(102, "cc"), at(100, "aa"), at(101, "dd")}, []Run{{100, []byte("addc")}}},
		{"side by side", [][]byte{at(102, "cc"), at(100, "aa")}, []Run{{100, []byte("aacc")}}},
		{"a small gap", [][]byte{at(100, "a"), at(103, "b")}, []Run{{100, []byte("a\x00\x00b")}}},
		{"zeros that overwrite", [][]byte{at(100, "abc"), at(101, "\x00")}, []Run{{100, []byte("a\x00c")}}},
	} {
		p := stateful()
		p.data = vec(test.segments...)
		if got := preparedOf(t, p.module()).Image.Runs; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.what, got, test.want)
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	for _, test := range []struct {
		what   string
		change func(*parts)
		code   string
	}{
		{"what Prove refuses", func(p *parts) { p.imports = vec(imp("env", "f", 0, 0)) }, "forbidden_import"},
		{"no air_call", func(p *parts) { p.exports = vec(exp("memory", 2, 0)) }, "forbidden_export"},
		{"a module too large", func(p *parts) { p.tail = make([]byte, 33<<20) }, "module_too_large"},
		{"data past the end", func(p *parts) { p.data = vec([]byte{0, 0x41, 0xff, 0xff, 3, 0x0b, 2, 1, 2}) }, "data_segment"},
		{"no data past the end", func(p *parts) { p.data = vec([]byte{0, 0x41, 0x81, 0x80, 4, 0x0b, 0}) }, "data_segment"},
		{"data at a negative address", func(p *parts) { p.data = vec([]byte{0, 0x41, 0x7f, 0x0b, 1, 1}) }, "data_segment"},
		{"data at an i64", func(p *parts) { p.data = vec([]byte{0, 0x42, 0, 0x0b, 1, 1}) }, "invalid_module"},
		{"an unknown instruction", func(p *parts) { p.code = vec(body(0, 0xff, 0x0b), body(0, 0x0b)) }, "invalid_module"},
	} {
		p := stateful()
		test.change(&p)
		_, err := Prepare(p.module())
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.InvalidInput || e.Code != test.code {
			t.Errorf("%s: got %v, want %s", test.what, err, test.code)
		}
	}
	p := stateful()
	p.data = vec([]byte{0, 0x41, 0xff, 0xff, 3, 0x0b, 1, 1}, []byte{0, 0x41, 0x80, 0x80, 4, 0x0b, 0})
	preparedOf(t, p.module()) // up to the last byte, and nothing behind it
}

func TestPrepareSamples(t *testing.T) {
	for sample, module := range samples(t) {
		if _, err := Prove(module, ABIOf(module)); err != nil {
			continue
		}
		got := preparedOf(t, module)
		validate(t, got.Full)
		validate(t, got.Skeleton)
		if image, err := DecodeImage(got.Image.Encode()); err != nil || !reflect.DeepEqual(image, got.Image) {
			t.Errorf("%s: the image does not survive: %v", sample, err)
		}
	}
}

func TestGoGuest(t *testing.T) {
	module := wasmtests.GoModule(t)
	p, err := Prepare(module)
	if err != nil {
		t.Fatal(err)
	}
	validate(t, p.Full)
	validate(t, p.Skeleton)
	if !p.Image.Freezable || len(p.Image.Globals) == 0 || len(p.Image.Runs) > 100 || len(p.Skeleton) > len(p.Full)/4 {
		t.Errorf("freezable %t, %d globals, %d runs, a skeleton of %d bytes", p.Image.Freezable, len(p.Image.Globals), len(p.Image.Runs), len(p.Skeleton))
	}
}

func FuzzPrepare(f *testing.F) {
	f.Add(stateful().module())
	addSeeds(f)
	f.Fuzz(func(t *testing.T, module []byte) {
		p, err := Prepare(module)
		_, proof := Prove(module, hostabi.AirV1)
		if proof != nil {
			_, proof = Prove(module, hostabi.WASICommand)
		}
		if err != nil {
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.InvalidInput {
				t.Errorf("not of our kinds: %v", err)
			}
			return
		}
		if proof != nil {
			t.Fatalf("prepared, though not proven: %v", proof)
		}
		checkPrepared(t, p)
		if _, err := Rewrite(module, Clamp{}); err != nil {
			t.Errorf("not rewritten: %v", err)
		}
	})
}

// checkPrepared checks what an engine relies on.
func checkPrepared(t *testing.T, p *Prepared) {
	t.Helper()
	full, skeleton := outlineFor(t, p.Full), outlineFor(t, p.Skeleton)
	if full.start != none || !reflect.DeepEqual(full.exports, skeleton.exports) || full.definedFunctions() != skeleton.definedFunctions() {
		t.Error("the skeleton is another module")
	}
	for _, g := range p.Image.Globals {
		if e, ok := full.exportNamed(fmt.Sprintf("air.global.%d", g.Index)); !ok || e.kind != kindGlobal {
			t.Errorf("global %d is not exported", g.Index)
		}
	}
	for _, module := range [][]byte{p.Full, p.Skeleton} {
		if !bytes.Equal(rewritten(t, module), module) {
			t.Error("not canonical")
		}
	}
	if image, err := DecodeImage(p.Image.Encode()); err != nil || !reflect.DeepEqual(image, p.Image) {
		t.Errorf("the image does not survive: %v", err)
	}
}

func outlineFor(t *testing.T, module []byte) *outline {
	t.Helper()
	o, err := outlineOf(module, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
