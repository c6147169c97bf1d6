package wazero

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/aircoding/air/internal/wasmbin"
	"github.com/aircoding/air/wasmtests"
)

// TestSpecification runs the tests of the WebAssembly specification, which come with
// wazero's source, after rewriting. What fails must fail without rewriting, too.
func TestSpecification(t *testing.T) {
	for _, suite := range []struct {
		version string
		floor   int // assertions: a suite that shrinks is a runner that broke
		known   int // of them, those that wazero by itself does not pass
	}{{"v1", 18_000, 25}, {"v2", 51_000, 15}} {
		if wasmtests.Slowdown > 1 && suite.version == "v1" {
			continue // v2 has nearly all of it
		}
		scripts := wasmtests.Specification[specCommand](t, suite.version)
		for name, config := range specEngines() {
			t.Run(suite.version+" "+name, func(t *testing.T) {
				t.Parallel()
				ran, known := 0, 0
				for _, script := range scripts {
					n, k := runScript(t, script, config)
					ran, known = ran+n, known+k
				}
				if ran < suite.floor || known > suite.known {
					t.Errorf("%d assertions, want %d or more; %d fail in wazero itself, want %d or less",
						ran, suite.floor, known, suite.known)
				}
			})
		}
	}
}

func specEngines() map[string]wazero.RuntimeConfig {
	return map[string]wazero.RuntimeConfig{
		"compiler":    compiler(),
		"interpreter": configured(wazero.NewRuntimeConfigInterpreter()),
	}
}

type specScript = wasmtests.Script[specCommand]

// runScript runs one. known counts what wazero does not pass without rewriting.
func runScript(t *testing.T, script specScript, config wazero.RuntimeConfig) (ran, known int) {
	t.Helper()
	ran, failed := specRun(t, script, config, func(module []byte) ([]byte, error) {
		return wasmbin.Rewrite(module, wasmbin.Clamp{MemoryPages: 1 << 16, TableEntries: math.MaxUint32})
	})
	if len(failed) == 0 {
		return ran, 0
	}
	_, raw := specRun(t, script, config, func(module []byte) ([]byte, error) { return module, nil })
	for line, err := range failed {
		if raw[line] != nil {
			known++
			continue
		}
		t.Errorf("%s:%d: %v", filepath.Base(script.Path), line, err)
	}
	return ran, known
}

func specRun(t *testing.T, script specScript, config wazero.RuntimeConfig, rewrite func([]byte) ([]byte, error)) (ran int, failed map[int]error) {
	t.Helper()
	r := &specRunner{
		dir: filepath.Dir(script.Path), rewrite: rewrite, modules: map[string]api.Module{},
		runtime: wazero.NewRuntimeWithConfig(context.Background(), config),
	}
	defer r.runtime.Close(context.Background())
	if _, err := r.instantiate("../../testdata/spectest.wasm", "spectest"); err != nil {
		t.Fatal(err)
	}
	failed = map[int]error{}
	for i, c := range script.Commands {
		if c.ModuleType == "text" { // malformed as text: there is no such module
			continue
		}
		if c.Type == "module" && i+1 < len(script.Commands) && script.Commands[i+1].Type == "register" {
			c.As = script.Commands[i+1].As
		}
		if err := r.do(c); err != nil {
			failed[c.Line] = err
		}
		if strings.HasPrefix(c.Type, "assert_") {
			ran++
		}
	}
	return ran, failed
}

// specCommand is a command as wabt's wast2json writes it.
type specCommand struct {
	Type       string
	Line       int
	Name       string // of a module
	Filename   string
	As         string
	Text       string // of a trap
	ModuleType string `json:"module_type"`
	Action     struct {
		Type, Module, Field string
		Args                []specValue
	}
	Expected []specValue
}

type specValue struct {
	Type     string
	LaneType string `json:"lane_type"`
	Value    any    // a string, or one for each lane; nil: any
}

// specRunner holds the modules of one file.
type specRunner struct {
	dir     string
	rewrite func([]byte) ([]byte, error)
	runtime wazero.Runtime
	modules map[string]api.Module
	last    api.Module
}

func (r *specRunner) do(c specCommand) error {
	switch c.Type {
	case "module":
		m, err := r.instantiate(c.Filename, c.As)
		r.last, r.modules[c.Name] = m, m
		return err
	case "register":
		if r.runtime.Module(c.As) == nil {
			return fmt.Errorf("%s is not the name of the module before", c.As)
		}
		return nil
	case "assert_return", "action":
		return r.returns(c)
	case "assert_trap", "assert_exhaustion":
		_, _, err := r.act(c)
		if want := specTrap(c.Text); err == nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("got %v, want %s", err, want)
		}
		return nil
	case "assert_invalid", "assert_malformed", "assert_unlinkable", "assert_uninstantiable":
		if _, err := r.instantiate(c.Filename, ""); err == nil {
			return fmt.Errorf("%s: accepted", c.Type)
		}
		return nil
	}
	return fmt.Errorf("unknown command %s", c.Type)
}

func (r *specRunner) instantiate(file, as string) (api.Module, error) {
	module, err := os.ReadFile(filepath.Join(r.dir, file))
	if err != nil {
		return nil, err
	}
	if module, err = r.rewrite(module); err != nil {
		return nil, err
	}
	return r.runtime.InstantiateWithConfig(context.Background(), module, wazero.NewModuleConfig().WithName(as))
}

// act invokes a function or reads a global.
func (r *specRunner) act(c specCommand) (values []uint64, types []api.ValueType, err error) {
	m := r.last
	if c.Action.Module != "" {
		m = r.modules[c.Action.Module]
	}
	if m == nil {
		return nil, nil, errors.New("there is no module")
	}
	if c.Action.Type == "get" {
		g := m.ExportedGlobal(c.Action.Field)
		return []uint64{g.Get()}, []api.ValueType{g.Type()}, nil
	}
	var args []uint64
	for _, a := range c.Action.Args {
		args = append(args, a.bits()...)
	}
	f := m.ExportedFunction(c.Action.Field)
	values, err = f.Call(context.Background(), args...)
	return values, f.Definition().ResultTypes(), err
}

func (r *specRunner) returns(c specCommand) error {
	got, types, err := r.act(c)
	if err != nil || c.Type == "action" {
		return err
	}
	if len(types) != len(c.Expected) {
		return fmt.Errorf("%d results, want %d", len(types), len(c.Expected))
	}
	rest := got
	for _, want := range c.Expected {
		n := want.words()
		if !want.matches(rest[:n]) {
			return fmt.Errorf("got %x, want %v", got, c.Expected)
		}
		rest = rest[n:]
	}
	return nil
}

// specTrap is how wazero says what the specification's text of a trap means.
func specTrap(text string) string {
	for prefix, words := range map[string]string{
		"undefined":                  "invalid table access",
		"uninitialized":              "invalid table access",
		"out of bounds table access": "invalid table access",
		"indirect call":              "indirect call type mismatch",
		"call stack exhausted":       "stack overflow",
	} {
		if strings.HasPrefix(text, prefix) {
			return words
		}
	}
	return text
}

// lanes are the parts of a value that are compared by themselves.
func (v specValue) lanes() []string {
	switch value := v.Value.(type) {
	case string:
		return []string{value}
	case []any:
		lanes := make([]string, len(value))
		for i, lane := range value {
			lanes[i] = lane.(string)
		}
		return lanes
	}
	return nil
}

func (v specValue) lane() string {
	if v.Type == "v128" {
		return v.LaneType
	}
	return v.Type
}

// width is that of a lane in bits.
func (v specValue) width() int {
	if n, err := strconv.Atoi(strings.TrimLeft(v.lane(), "if")); err == nil {
		return n
	}
	return 64 // a reference
}

// words is how many wazero takes for a value.
func (v specValue) words() int {
	if v.Type == "v128" {
		return 2
	}
	return 1
}

func (v specValue) bits() []uint64 {
	words := make([]uint64, v.words())
	for i, lane := range v.lanes() {
		at := i * v.width()
		words[at/64] |= v.number(lane) << (at % 64)
	}
	return words
}

func (v specValue) number(text string) uint64 {
	if text == "null" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	if v.Type == "externref" {
		n++ // 0 is null in wazero
	}
	return n
}

func (v specValue) matches(words []uint64) bool {
	for i, lane := range v.lanes() {
		at := i * v.width()
		got := words[at/64] >> (at % 64)
		if v.width() < 64 {
			got &= 1<<v.width() - 1
		}
		if !v.laneMatches(lane, got) {
			return false
		}
	}
	return true
}

// laneMatches compares bit by bit. Of a canonical NaN the sign is free, of an arithmetic
// one also the payload.
func (v specValue) laneMatches(want string, got uint64) bool {
	canonical, sign := uint64(0x7fc00000), uint64(1)<<31
	if v.width() == 64 {
		canonical, sign = 0x7ff8000000000000, 1<<63
	}
	switch want {
	case "nan:canonical":
		return got&^sign == canonical
	case "nan:arithmetic":
		return got&canonical == canonical
	}
	return got == v.number(want)
}

func TestSpecValues(t *testing.T) {
	for _, c := range []struct {
		value specValue
		words []uint64
		want  bool
	}{
		{specValue{"i32", "", "7"}, []uint64{7}, true},
		{specValue{"i32", "", "7"}, []uint64{8}, false},
		{specValue{"f32", "", "nan:canonical"}, []uint64{0xffc00000}, true},
		{specValue{"f32", "", "nan:canonical"}, []uint64{0xffc00001}, false},
		{specValue{"f64", "", "nan:arithmetic"}, []uint64{0x7ff8000000000001}, true},
		{specValue{"f64", "", "nan:arithmetic"}, []uint64{0x7ff4000000000001}, false},
		{specValue{"externref", "", "1"}, []uint64{2}, true},
		{specValue{"externref", "", "null"}, []uint64{0}, true},
		{specValue{"funcref", "", nil}, []uint64{9}, true},
		{specValue{"v128", "i32", []any{"1", "2", "3", "4"}}, []uint64{2<<32 | 1, 4<<32 | 3}, true},
		{specValue{"v128", "i32", []any{"1", "2", "3", "4"}}, []uint64{2<<32 | 1, 4<<32 | 4}, false},
	} {
		if got := c.value.matches(c.words); got != c.want {
			t.Errorf("%v and %x: %v", c.value, c.words, got)
		}
		if s, ok := c.value.Value.(string); c.want && ok && !strings.HasPrefix(s, "nan") && !slices.Equal(c.value.bits(), c.words) {
			t.Errorf("%v is %x", c.value, c.value.bits())
		}
	}
}
