package wasmbin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/wasmtests"
)

func rewritten(t testing.TB, module []byte) []byte {
	t.Helper()
	out, err := Rewrite(module, Clamp{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// samples are all guests and hostile modules.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../wasmtests/*/*.wasm")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d modules, %v", len(paths), err)
	}
	modules := map[string][]byte{"nested blocks": wasmtests.Nest(), "br_table": wasmtests.BranchTable(), "loops": wasmtests.LocalsTimesLoops()}
	for _, path := range paths {
		if modules[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return modules
}

func TestRewriteIsAFixedPoint(t *testing.T) {
	for name, module := range samples(t) {
		t.Run(name, func(t *testing.T) {
			once := rewritten(t, module)
			if twice := rewritten(t, once); !bytes.Equal(once, twice) {
				t.Error("rewriting again gives another module")
			}
			validate(t, once)
		})
	}
}

// validate asks another implementation whether a module is valid. Features beyond
// WebAssembly 2.0 are off by default in it, and SIMD and bulk memory on.
func validate(t testing.TB, module []byte) {
	t.Helper()
	if text, err := validator(t, module); err != nil {
		t.Errorf("not valid: %v\n%s", err, text)
	}
}

func validator(t testing.TB, module []byte) (string, error) {
	t.Helper()
	text, err := exec.Command(wasmtests.Installed(t, "wasm-validate", "wabt"), wasmtests.File(t, module)).CombinedOutput()
	return string(text), err
}

// everySection has all that sections can hold, as it is canonical.
func everySection() parts {
	p := good()
	p.types = append([]byte{3}, append(p.types[1:], 0x60, 2, 0x7b, 0x6f, 2, 0x70, 0x7c)...)
	p.imports = vec(imp("m", "f", 0, 1), imp("m", "t", 1, 0x70, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f), imp("m", "u", 1, 0x6f, 0, 1), imp("", "é", 3, 0x7f, 0), imp("m", "v", 3, 0x7b, 1))
	p.functions = vec([]byte{0}, []byte{2})
	p.tables = vec([]byte{0x70, 1, 1, 9})
	p.memories = vec([]byte{1, 1, 2})
	p.globals = vec(
		[]byte{0x7f, 0, 0x23, 0, 0x0b}, []byte{0x7e, 1, 0x42, 0x7f, 0x0b}, []byte{0x7d, 0, 0x43, 1, 2, 3, 4, 0x0b},
		[]byte{0x7c, 0, 0x44, 1, 2, 3, 4, 5, 6, 7, 8, 0x0b}, []byte{0x70, 0, 0xd0, 0x70, 0x0b}, []byte{0x70, 1, 0xd2, 0, 0x0b},
		append(append([]byte{0x7b, 0, 0xfd, 12}, make([]byte, 16)...), 0x0b))
	p.exports = vec(exp("memory", 2, 0), exp("air_call", 0, 1), exp("t", 1, 2), exp("g", 3, 1))
	p.start = []byte{0}
	p.elements = vec(
		[]byte{0, 0x41, 0, 0x0b, 1, 0}, []byte{1, 0, 1, 0}, []byte{2, 2, 0x23, 0, 0x0b, 0, 1, 0}, []byte{3, 0, 1, 0},
		[]byte{4, 0x41, 0, 0x0b, 1, 0xd2, 0, 0x0b}, []byte{5, 0x6f, 1, 0xd0, 0x6f, 0x0b}, []byte{6, 1, 0x41, 0, 0x0b, 0x6f, 0}, []byte{7, 0x70, 0})
	p.dataCount = []byte{3}
	p.code = vec([]byte{4, 0, 0x41, 0, 0x0b}, []byte{7, 2, 2, 0x7f, 1, 0x7b, 0, 0x0b})
	p.data = vec([]byte{0, 0x41, 0, 0x0b, 1, 9}, []byte{1, 2, 8, 9}, []byte{2, 0, 0x23, 0, 0x0b, 0})
	p.tail = wasmtests.Section(0, slices.Concat(name("name"), []byte{0, 2, 1, 'm'}, []byte{1, 7, 2, 0, 1, 'f', 2, 1, 'g'}))
	return p
}

func TestEverySection(t *testing.T) {
	module := everySection().module()
	validate(t, module)
	if got := rewritten(t, module); !bytes.Equal(got, module) {
		t.Errorf("got  %x\nwant %x", got, module)
	}
}

func TestRefusedSections(t *testing.T) {
	for _, test := range []struct {
		what       string
		change     func(*parts)
		code, text string
	}{
		{"an import of an unknown kind", func(p *parts) { p.imports = vec(imp("m", "f", 5, 0)) }, "invalid_module", "kind 5"},
		{"an imported tag", func(p *parts) { p.imports = vec(imp("m", "f", 4, 0, 0)) }, "unsupported_module", "exceptions"},
		{"an imported memory and one more", func(p *parts) { p.imports = vec(imp("m", "m", 2, 0, 1)) }, "unsupported_module", "several memories"},
		{"two imported memories", func(p *parts) {
			p.imports, p.memories = vec(imp("m", "m", 2, 0, 1), imp("m", "m", 2, 0, 1)), nil
		}, "unsupported_module", "several memories"},
		{"mutability 2", func(p *parts) { p.globals = vec([]byte{0x7f, 2, 0x41, 0, 0x0b}) }, "invalid_module", "mutability 2"},
		{"a global without a value", func(p *parts) { p.globals = vec([]byte{0x7f, 0, 0x0b}) }, "invalid_module", "0xb in a constant expression"},
		{"an extended constant expression", func(p *parts) { p.globals = vec([]byte{0x7f, 0, 0x41, 0, 0x41, 0, 0x6a, 0x0b}) }, "unsupported_module", "several instructions"},
		{"a vector instruction as a constant", func(p *parts) { p.globals = vec([]byte{0x7b, 0, 0xfd, 13, 0x0b}) }, "invalid_module", "constant expression"},
		{"a global from one that is not imported", func(p *parts) { p.globals = vec([]byte{0x7f, 0, 0x23, 2, 0x0b}) }, "invalid_module", "global 2 of 2 imported"},
		{"elements of kind 8", func(p *parts) { p.elements = vec([]byte{8, 0, 0}) }, "invalid_module", "element segment of kind 8"},
		{"elements that are no functions", func(p *parts) { p.elements = vec([]byte{1, 1, 0}) }, "invalid_module", "elements of kind 1"},
		{"more elements than bytes", func(p *parts) { p.elements = vec([]byte{1, 0, 200, 1}) }, "invalid_module", "200 elements in 0 bytes"},
		{"data of kind 3", func(p *parts) { p.data = vec([]byte{3, 0}, []byte{1, 0}, []byte{1, 0}) }, "invalid_module", "data segment of kind 3"},
		{"data for another memory", func(p *parts) {
			p.data = vec([]byte{2, 1, 0x41, 0, 0x0b, 0}, []byte{1, 0}, []byte{1, 0})
		}, "invalid_module", "data for memory 1"},
		{"data announced and not there", func(p *parts) { p.data = nil }, "invalid_module", "3 data segments are announced, there are 0"},
		{"more data than announced", func(p *parts) { p.dataCount = []byte{2} }, "invalid_module", "2 data segments are announced, there are 3"},
		{"data used without announcement", func(p *parts) {
			p.dataCount, p.code = nil, vec(body(0, 0xfc, 9, 0, 0x41, 0, 0x0b), []byte{2, 0, 0x0b})
		}, "invalid_module", "announces"},
		{"bytes behind the globals", func(p *parts) { p.globals = append(p.globals, 0) }, "invalid_module", "too many"},
		{"an unknown form of type", func(p *parts) { p.types = vec([]byte{0x7f, 0}) }, "invalid_module", "form of type 0x7f"},
	} {
		t.Run(test.what, func(t *testing.T) {
			p := everySection()
			test.change(&p)
			wantFault(t, p.module(), test.code, test.text)
		})
	}
}

func TestPaddedSections(t *testing.T) {
	p := good()
	p.functions = []byte{0x81, 0x80, 0x00, 0x80, 0x80, 0x80, 0x80, 0x00}
	p.tables, p.elements = []byte{0x80, 0x00}, []byte{0}
	p.memories = []byte{0x81, 0x00, 0, 0x81, 0x00}
	p.code = []byte{0x81, 0x00, 0x87, 0x00, 0x81, 0x00, 0x82, 0x00, 0x7f, 0x00, 0x0b}
	p.data = vec([]byte{0x80, 0x00, 0x41, 0x80, 0x00, 0x0b, 0x81, 0x00, 9})
	padded := p.module()
	p.functions, p.tables, p.elements = vec([]byte{0}), nil, nil
	p.memories = vec([]byte{1, 1, 0x80, 0x80, 1}) // clamped
	p.code = vec(body(1, 2, 0x7f, 0x00, 0x0b))
	p.data = vec([]byte{0, 0x41, 0, 0x0b, 1, 9})
	if got, want := rewritten(t, padded), p.module(); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

func TestClamp(t *testing.T) {
	for _, test := range []struct{ memory, table, wantMemory, wantTable []byte }{
		{[]byte{0, 1}, []byte{0, 1}, []byte{1, 1, 20}, []byte{1, 1, 30}},
		{[]byte{1, 1, 19}, []byte{1, 1, 29}, []byte{1, 1, 19}, []byte{1, 1, 29}},
		{[]byte{1, 1, 21}, []byte{1, 1, 31}, []byte{1, 1, 20}, []byte{1, 1, 30}},
		{[]byte{0, 40}, []byte{0, 40}, []byte{1, 40, 40}, []byte{1, 40, 40}},
		{[]byte{1, 40, 50}, []byte{1, 40, 50}, []byte{1, 40, 40}, []byte{1, 40, 40}},
		{[]byte{1, 40, 40}, []byte{1, 40, 40}, []byte{1, 40, 40}, []byte{1, 40, 40}},
	} {
		module := func(memory, table []byte) []byte {
			p := good()
			p.memories, p.tables = vec(memory), vec(append([]byte{0x70}, table...))
			return p.module()
		}
		got, err := Rewrite(module(test.memory, test.table), Clamp{MemoryPages: 20, TableEntries: 30})
		if want := module(test.wantMemory, test.wantTable); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v %v: got %x, %v\nwant %x", test.memory, test.table, got, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	section := func(content ...[]byte) []byte {
		return wasmtests.Section(0, append(name("name"), bytes.Join(content, nil)...))
	}
	moduleName, functions, local := []byte{0, 2, 1, 'm'}, []byte{1, 4, 1, 0, 1, 'f'}, []byte{2, 6, 1, 0, 1, 0, 1, 'l'}
	good2 := section(moduleName, functions)
	sized := func(b ...byte) []byte { return append(binary.AppendUvarint(nil, uint64(len(b))), b...) }
	named := func(text string) []byte { // the module and its function
		n := sized([]byte(text)...)
		return section([]byte{0}, sized(n...), []byte{1}, sized(append([]byte{1, 0}, n...)...))
	}
	for _, test := range []struct {
		what       string
		tail, want []byte
	}{
		{"as it is", good2, good2},
		{"as long as it may be", named(strings.Repeat("n", 256)), named(strings.Repeat("n", 256))},
		{"too long", named(strings.Repeat("n", 1<<20)), named(strings.Repeat("n", 256))},
		{"too long, cut in a character", named("n" + strings.Repeat("é", 200)), named("n" + strings.Repeat("é", 127))},
		{"locals", section(moduleName, functions, local), good2},
		{"what is not known", section(moduleName, functions, []byte{9, 1, 7}), good2},
		{"no function", section(moduleName), section(moduleName)},
		{"empty", section(), nil},
		{"locals only", section(local), nil},
		{"padded", section([]byte{0, 0x83, 0, 0x81, 0, 'm'}, []byte{1, 0x85, 0, 1, 0x80, 0, 1, 'f'}), good2},
		{"twice", append(bytes.Clone(good2), section(moduleName)...), good2},
		{"other sections around it", slices.Concat(wasmtests.Section(0, name("a")), good2, wasmtests.Section(0, append(name("b"), 1, 2))), good2},
		{"out of order", section(functions, moduleName), nil},
		{"an unknown function", section([]byte{1, 4, 1, 1, 1, 'f'}), nil},
		{"a function twice", section([]byte{1, 7, 2, 0, 1, 'f', 0, 1, 'f'}), nil},
		{"not UTF-8", section([]byte{1, 4, 1, 0, 1, 0xff}), nil},
		{"cut short", section([]byte{1, 4, 1, 0, 2, 'f'}), nil},
		{"bytes behind the names", section([]byte{1, 5, 1, 0, 1, 'f', 0}), nil},
		{"a size past the end", section([]byte{1, 6, 1, 0, 1, 'f'}), nil},
	} {
		t.Run(test.what, func(t *testing.T) {
			p := good()
			p.memories = vec([]byte{1, 1, 1})
			p.tail = test.tail
			module := p.module()
			p.tail = test.want
			if got, want := rewritten(t, module), p.module(); !bytes.Equal(got, want) {
				t.Errorf("got  %x\nwant %x", got, want)
			}
		})
	}
}

// TestEveryCutOfCode rewrites every prefix of a module: an error or a module, never a
// panic.
func TestEveryCutOfCode(t *testing.T) {
	module := everySection().module()
	for i := range len(module) {
		if out, err := Rewrite(module[:i], Clamp{}); err == nil && !bytes.Equal(rewritten(t, out), out) {
			t.Errorf("%d of %d bytes: not canonical", i, len(module))
		}
	}
}

func FuzzRewrite(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, module []byte) {
		out, err := Rewrite(module, Clamp{})
		var e *fault.Error
		if err != nil {
			if !errors.As(err, &e) || e.Kind != fault.InvalidInput {
				t.Errorf("not of our kinds: %v", err)
			}
			return
		}
		if len(out) > 64+4*len(module) {
			t.Errorf("%d bytes became %d", len(module), len(out))
		}
		if !bytes.Equal(rewritten(t, out), out) {
			t.Error("not canonical")
		}
	})
}

func addSeeds(f *testing.F) {
	f.Helper()
	f.Add(good().module())
	f.Add(everySection().module())
	f.Add(withCode(unhex(f, "00 fd 8c 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 1a 0b")))
	for _, sample := range []string{"guests/puppet", "guests/early", "guests/keeper-table", "hostile/table", "hostile/startloop"} {
		f.Add(wasmtests.Module(f, sample))
	}
	f.Add(wasmtests.Locals())
}

func BenchmarkRewrite(b *testing.B) {
	module := wasmtests.GoModule(b)
	b.SetBytes(int64(len(module)))
	for b.Loop() {
		if _, err := Rewrite(module, Clamp{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrepare(b *testing.B) {
	module := wasmtests.GoModule(b)
	b.SetBytes(int64(len(module)))
	for b.Loop() {
		if _, err := Prepare(module); err != nil {
			b.Fatal(err)
		}
	}
}
