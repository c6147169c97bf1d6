package wasmbin

import (
	"bytes"
	"strings"
	"testing"
)

// TestCure has code in which or32 and or64 stand for what the cure adds. That it is right
// is for the engine's tests to show.
func TestCure(t *testing.T) {
	for name, code := range map[string]string{
		"and":                   "41 00 20 00 20 01 71 or32 48",
		"and of i64":            "42 00 20 00 20 01 83 or64 5a",
		"all ordered compares":  "71 or32 4f 71 or32 49 83 or64 53 83 or64 54",
		"the others":            "71 46 71 47 71 45 83 51 83 52 83 50",
		"of floats":             "71 b2 5d 83 b9 63",
		"no and":                "20 00 20 01 48 20 00 20 01 73 48",
		"another value":         "71 20 00 20 01 6a 48",
		"a load":                "71 41 00 28 02 00 4f",
		"a select":              "71 20 00 1b 4f",
		"a number":              "71 41 05 49 83 42 7f 54",
		"zero, signed":          "71 41 00 48 83 42 00 53",
		"zero, unsigned":        "71 41 00 or32 49 83 42 00 or64 54",
		"an older value":        "71 20 00 21 01 or32 48 71 20 00 1a or32 48 71 01 or32 48",
		"locals":                "71 22 00 or32 48 71 21 00 41 00 20 00 or32 48",
		"shifts":                "71 41 00 74 or32 48 83 42 00 87 or64 53",
		"rotations stay":        "71 41 00 77 48",
		"a block begins":        "71 02 02 or32 48 0b",
		"a block ends":          "02 7f 71 0b 48",
		"a loop":                "71 03 02 48 0b",
		"if, else":              "71 20 00 04 02 48 05 48 0b 48",
		"a branch":              "71 20 00 0d 00 48",
		"a call":                "71 10 00 48 71 11 00 00 48",
		"a store":               "71 41 00 41 00 36 02 00 48 83 41 00 42 00 3e 02 00 53",
		"a global":              "71 20 00 24 00 23 00 48",
		"an and, then a group":  "71 20 00 24 00 71 or32 48",
		"bulk memory and after": "71 fc 0a 00 00 or32 48",
	} {
		added := strings.NewReplacer("or32", "41 00 72", "or64", "42 00 84")
		none := strings.NewReplacer("or32", "", "or64", "")
		code += " 0b"
		got, err := Rewrite(withCode(unhex(t, none.Replace(code))), Clamp{})
		want := withCode(unhex(t, added.Replace(code)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got %x, %v\nwant %x", name, got, err, want)
		}
	}
}

// TestCureForgets has a function that ends in an `and`, and the next begins with a compare.
func TestCureForgets(t *testing.T) {
	w := rewriter{outline: &outline{}}
	for _, code := range []string{"00 41 00 41 00 71 0b", "00 20 00 20 01 48 0b"} {
		w.out = nil
		if err := w.body(&reader{data: unhex(t, code)}); err != nil || !bytes.Equal(w.out, unhex(t, code)) {
			t.Errorf("%s: got %x, %v", code, w.out, err)
		}
	}
}
