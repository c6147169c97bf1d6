package wasmbin

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

// withCode is a module of functions with a local each, and with all that
// they may name: two types, a table, a memory, a global, segments.
func withCode(codes ...[]byte) []byte {
	p := good()
	var functions, bodies [][]byte
	for _, code := range codes {
		functions = append(functions, []byte{1})
		bodies = append(bodies, body(append([]byte{1, 1, 0x7f}, code...)...))
	}
	p.functions = vec(functions...)
	p.tables = vec([]byte{0x70, 1, 1, 1})
	p.memories = vec([]byte{1, 1, 1})
	p.globals = vec([]byte{0x7f, 1, 0x41, 0, 0x0b})
	p.exports = vec(exp("f", 0, 0)) // so that ref.func may name it
	p.elements = vec([]byte{1, 0, 0})
	p.dataCount = []byte{1}
	p.code = vec(bodies...)
	p.data = vec([]byte{1, 0})
	return p.module()
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The bytes are those of the specification 2.0, section 5.4.
func TestInstructions(t *testing.T) {
	for what, code := range map[string]string{
		"block without type":     "02 40 0b 0b",
		"block with a value":     "02 7f 41 00 0b 1a 0b",
		"block with a vector":    "02 7b 00 0b 1a 0b",
		"block with a reference": "02 6f d0 6f 0b 1a 0b",
		"loop of a type":         "03 01 0b 0b",
		"if and else":            "41 00 04 40 01 05 01 0b 0b",
		"br, br_if":              "02 40 41 00 0d 00 0c 00 0b 0b",
		"br_table":               "02 40 41 00 0e 02 00 01 00 0b 0b",
		"call":                   "10 00 0b",
		"call_indirect":          "41 00 11 01 00 0b",
		"select of a type":       "00 1c 01 7f 1a 0b",
		"ref.null, ref.is_null":  "d0 70 d1 1a 0b",
		"ref.func":               "d2 00 1a 0b",
		"local.get":              "20 80 01 1a 0b",
		"table.get, table.set":   "41 00 41 00 25 00 26 00 0b",
		"a load":                 "41 00 2d 00 ff ff ff ff 0f 1a 0b",
		"memory.size":            "3f 00 1a 0b",
		"smallest i32":           "41 80 80 80 80 78 1a 0b",
		"largest i32":            "41 ff ff ff ff 07 1a 0b",
		"smallest i64":           "42 80 80 80 80 80 80 80 80 80 7f 1a 0b",
		"largest i64":            "42 ff ff ff ff ff ff ff ff ff 00 1a 0b",
		"a number with bit 6":    "41 c0 00 1a 0b",
		"f32, a signalling NaN":  "43 01 00 a0 7f 1a 0b",
		"f64, a signalling NaN":  "44 01 00 00 00 00 00 f4 ff 1a 0b",
		"i32.trunc_sat_f32_s":    "43 00 00 00 00 fc 00 1a 0b",
		"memory.init":            "00 fc 08 00 00 0b",
		"memory.copy":            "00 fc 0a 00 00 0b",
		"memory.fill":            "00 fc 0b 00 0b",
		"table.init, table.copy": "00 fc 0c 00 00 fc 0e 00 00 0b",
		"v128.const":             "fd 0c 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 1a 0b",
		"v128.load":              "41 00 fd 00 04 00 1a 0b",
		"i8x16.shuffle":          "00 fd 0d 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 1f 1a 0b",
		"i8x16.extract_lane_s":   "00 fd 15 0f 1a 0b",
		"v128.load8_lane":        "00 fd 54 00 00 0f 1a 0b",
		"i16x8.abs":              "00 fd 80 01 1a 0b",
		"i32x4.trunc_sat_f32x4":  "00 fd f8 01 1a 0b",
	} {
		t.Run(what, func(t *testing.T) {
			module := withCode(unhex(t, code))
			if got := rewritten(t, module); !bytes.Equal(got, module) {
				t.Errorf("got  %x\nwant %x", got, module)
			}
		})
	}
}

// Numbers may be padded, by the specification 2.0, section 5.2.2, up to their largest
// size; engines have disagreed about them, so none is left (G17).
func TestPadded(t *testing.T) {
	for _, test := range []struct{ what, code, want string }{
		{"opcode of v128.const", "fd 8c 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 1a 0b", "fd 0c 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 1a 0b"},
		{"opcode of v128.const, five bytes", "fd 8c 80 80 80 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 1a 0b", "fd 0c 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 1a 0b"},
		{"opcode of i16x8.abs", "00 fd 80 81 00 1a 0b", "00 fd 80 01 1a 0b"},
		{"opcode of i32.trunc_sat_f32_s", "00 fc 80 00 1a 0b", "00 fc 00 1a 0b"},
		{"local", "20 80 80 80 80 00 1a 0b", "20 00 1a 0b"},
		{"i32", "41 80 80 80 80 00 1a 0b", "41 00 1a 0b"},
		{"i32 -1", "41 ff ff ff ff 7f 1a 0b", "41 7f 1a 0b"},
		{"i64 -1", "42 ff ff ff ff ff ff ff ff ff 7f 1a 0b", "42 7f 1a 0b"},
		{"i64 64", "42 c0 80 00 1a 0b", "42 c0 00 1a 0b"},
		{"block type", "02 81 80 80 80 00 0b 0b", "02 01 0b 0b"},
		{"labels", "02 40 41 00 0e 82 00 80 00 81 00 80 00 0b 0b", "02 40 41 00 0e 02 00 01 00 0b 0b"},
		{"alignment and offset", "41 00 2d 80 00 81 00 1a 0b", "41 00 2d 00 01 1a 0b"},
		{"call_indirect", "41 00 11 81 00 80 00 0b", "41 00 11 01 00 0b"},
		{"select", "00 1c 81 00 7f 1a 0b", "00 1c 01 7f 1a 0b"},
	} {
		t.Run(test.what, func(t *testing.T) {
			got, want := rewritten(t, withCode(unhex(t, test.code))), withCode(unhex(t, test.want))
			if !bytes.Equal(got, want) {
				t.Errorf("got  %x\nwant %x", got, want)
			}
		})
	}
}

func TestRefusedCode(t *testing.T) {
	for _, test := range []struct{ what, code, text string }{
		{"no end", "01", "1 bytes wanted"},
		{"no end of a block", "02 40 0b", "1 bytes wanted"},
		{"an instruction behind the end", "0b 01", "1 bytes too many"},
		{"a second end", "0b 0b", "1 bytes too many"},
		{"else in a function", "05 0b 0b", "else without if"},
		{"else in a block", "02 40 05 0b 0b", "else without if"},
		{"else in the block of an if", "41 00 04 40 02 40 05 0b 0b 0b", "else without if"},
		{"a second else", "41 00 04 40 05 05 0b 0b", "else without if"},
		{"a number of six bytes", "20 80 80 80 80 80 00 0b", "32 bits"},
		{"a number of 33 bits", "20 ff ff ff ff 1f 0b", "32 bits"},
		{"an i32 of six bytes", "41 80 80 80 80 80 00 0b", "5 bytes"},
		{"an i32 of 33 bits", "41 80 80 80 80 08 0b", "32 bits"},
		{"a negative i32 of 33 bits", "41 ff ff ff ff 0f 0b", "32 bits"},
		{"an i64 of 65 bits", "42 80 80 80 80 80 80 80 80 80 01 0b", "64 bits"},
		{"an i64 of eleven bytes", "42 ff ff ff ff ff ff ff ff ff ff 7f 0b", "10 bytes"},
		{"a negative block type", "02 60 0b 0b", "value type 0x60"},
		{"a padded value as block type", "02 ff 7f 0b 0b", "block of type -1"},
		{"a block type of 34 bits", "02 80 80 80 80 20 0b 0b", "33 bits"},
		{"a padded memory index", "00 40 80 00 0b", "zero byte"},
		{"another memory", "00 40 01 0b", "zero byte"},
		{"another memory to copy from", "00 fc 0a 00 01 0b", "zero byte"},
		{"an alignment with a memory", "00 28 42 00 0b", "alignment 2^66"},
		{"half a float", "43 00 00 00", "4 bytes wanted"},
		{"more labels than bytes", "00 0e ff ff 03 00 0b", "labels in"},
		{"an opcode of 33 bits", "00 fd 80 80 80 80 10 0b", "32 bits"},
		{"an unknown reference", "d0 7f 0b", "reference type 0x7f"},
	} {
		t.Run(test.what, func(t *testing.T) {
			wantFault(t, withCode(unhex(t, test.code)), "invalid_module", test.text)
		})
	}
}

func wantFault(t *testing.T, module []byte, code, text string) {
	t.Helper()
	_, err := Rewrite(module, Clamp{})
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.InvalidInput || e.Code != code || !strings.Contains(e.Message, text) {
		t.Errorf("got %v, want %s with %q", err, code, text)
	}
}

func TestProposals(t *testing.T) {
	for _, test := range []struct{ code, text string }{
		{"fe 10 02 00 0b", "threads"},
		{"06 40 0b 0b", "exceptions"},
		{"08 00 0b", "exceptions"},
		{"1f 40 00 0b 0b", "exceptions"},
		{"12 00 0b", "tail calls"},
		{"00 13 00 00 0b", "tail calls"},
		{"14 00 0b", "typed references"},
		{"fb 01 00 0b", "garbage collection"},
		{"fd 80 02 0b", "relaxed vector"},
		{"d0 6e 1a 0b", "garbage collection"},
		{"02 69 00 0b 1a 0b", "exceptions"},
	} {
		wantFault(t, withCode(unhex(t, test.code)), "unsupported_module", test.text)
	}
}

// TestEveryOpcode asks wabt which instructions there are. Each stands where code cannot be
// reached, so that it needs no operands.
func TestEveryOpcode(t *testing.T) {
	var accepted [][]byte
	for _, i := range opcodes() {
		code := slices.Concat([]byte{0x00}, i.op, i.immediate, []byte{0x00, 0x0b})
		module := withCode(code)
		_, err := Rewrite(module, Clamp{})
		if err == nil {
			accepted = append(accepted, code)
			if recoded := rewritten(t, module); !bytes.Equal(recoded, module) {
				t.Errorf("%x becomes %x", module, recoded)
			}
		} else if _, peer := validator(t, module); peer == nil {
			t.Errorf("%x is an instruction, and refused: %v", i.op, err)
		}
	}
	validate(t, withCode(accepted...))
	// Those of WebAssembly 1.0 without else and end, the sign extensions, those for
	// references that have one byte; behind 0xfc; SIMD.
	if want := 170 + 5 + 6 + 18 + 236; len(accepted) != want {
		t.Errorf("%d instructions, want %d", len(accepted), want)
	}
}

type opcode struct{ op, immediate []byte }

func opcodes() (all []opcode) {
	for op := range 0xfc {
		if op == 0x05 || op == 0x0b { // else and end need a block
			continue
		}
		all = append(all, opcode{[]byte{byte(op)}, immediateOf(op)})
	}
	for op := range byte(24) {
		immediate := map[byte][]byte{8: {0, 0}, 9: {0}, 10: {0, 0}, 11: {0}, 12: {0, 0}, 13: {0}, 14: {0, 0}, 15: {0}, 16: {0}, 17: {0}}[op]
		all = append(all, opcode{[]byte{0xfc, op}, immediate})
	}
	for op := range 0x110 {
		code := []byte{0xfd, byte(op&0x7f | 0x80), byte(op >> 7)}
		if op < 0x80 {
			code = []byte{0xfd, byte(op)}
		}
		all = append(all, opcode{code, vectorImmediate(op)})
	}
	return all
}

// immediateOf gives an instruction what it needs to be valid in withCode.
func immediateOf(op int) []byte {
	switch {
	case op >= 0x02 && op <= 0x04:
		return []byte{0x40, 0x0b}
	case op == 0x0c, op == 0x0d, op == 0x10, op >= 0x20 && op <= 0x26, op == 0xd2, op == 0x3f, op == 0x40, op == 0x41, op == 0x42:
		return []byte{0}
	case op == 0x0e, op >= 0x28 && op <= 0x3e:
		return []byte{0, 0}
	case op == 0x11:
		return []byte{1, 0}
	case op == 0x1c:
		return []byte{1, 0x7f}
	case op == 0x43:
		return make([]byte, 4)
	case op == 0x44:
		return make([]byte, 8)
	case op == 0xd0:
		return []byte{0x70}
	}
	return nil
}

func vectorImmediate(op int) []byte {
	switch {
	case op <= 11, op == 92, op == 93:
		return []byte{0, 0}
	case op == 12, op == 13:
		return make([]byte, 16)
	case op >= 21 && op <= 34:
		return []byte{0}
	case op >= 84 && op <= 91:
		return []byte{0, 0, 0}
	}
	return nil
}

// TestDepth nests as deep as a body may be large, which takes a byte of memory each.
func TestDepth(t *testing.T) {
	const depth = 2_000_000
	code := slices.Concat(bytes.Repeat([]byte{0x02, 0x40}, depth), bytes.Repeat([]byte{0x0b}, depth+1))
	if _, err := Rewrite(withCode(code), Clamp{}); err != nil {
		t.Error(err)
	}
	wantFault(t, withCode(code[:len(code)-1]), "invalid_module", "1 bytes wanted")
}
