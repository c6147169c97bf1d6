package canon_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/canon"
)

func TestCheck(t *testing.T) {
	strict := canon.Limits{Strict: true}
	for _, c := range []struct {
		doc    string
		limits canon.Limits
		want   string // "" for accepted
	}{
		{`{"a":[1,2.5,"x",null,true,{}]}`, strict, ""},
		{` 7 `, strict, ""},
		{`"\u00e9\ud83d\ude00\"\\\/"`, strict, ""},
		{`"[[[[{{{{"`, canon.Limits{Depth: 1}, ""},
		{`"\\"`, canon.Limits{Depth: 1}, ""},
		{``, strict, "document: unexpected end of JSON"},
		{`{`, strict, "document: unexpected end of JSON"},
		{`{"a":[1,`, strict, "/a/1: unexpected end of JSON"},
		{`{"a":[1}`, strict, "/a"},
		{`{a:1}`, strict, "document: "},
		{`[1,]`, strict, "/1: "},
		{`1 2`, strict, "more than one JSON value"},
		{`{} x`, strict, "more than one JSON value"},
		{"\xef\xbb\xbf{}", strict, "document: "},
		{"\"\xff\"", canon.Limits{}, "document is not UTF-8"},
		{"\"\xc0\xaf\"", canon.Limits{}, "document is not UTF-8"}, // G17: an overlong "/"
		{`"\ud800"`, canon.Limits{}, "byte 1: half a surrogate pair"},
		{`"\udc00\ud800"`, canon.Limits{}, "byte 1: half a surrogate pair"},
		{`"a\ud83dx"`, canon.Limits{}, "byte 2: half a surrogate pair"},
		{`"\ud83d\ud83d\ude00"`, canon.Limits{}, "byte 1: half a surrogate pair"},
		{`"\\ud800"`, canon.Limits{}, ""}, // a backslash and five letters
		{`{"a":1,"b":{"c":1,"c":2}}`, strict, "/b/c: duplicate key"},
		{`{"a":1,"\u0061":2}`, strict, "/a: duplicate key"},
		{`{"a":1,"a":2}`, canon.Limits{}, "/a: duplicate key"},
		{`{"__proto__":1}`, strict, `/__proto__: the key "__proto__" is refused`},
		{`[{"prototype":1}]`, strict, `/0/prototype: the key "prototype" is refused`},
		{`{"constructor":1}`, strict, `/constructor: the key "constructor" is refused`},
		{`{"constructor":1}`, canon.Limits{}, ""},
		{`{"a/b":{"~":[0,{"\u001b[2J":1e401}]}}`, strict, "/a~1b/~0/1/\\u{1b}[2J: number exponent beyond ±400"},
		{`123456`, canon.Limits{Bytes: 5}, "document has 6 bytes, the limit is 5"},
		{`[1,2]`, canon.Limits{Values: 2}, "/1: more than 2 values"},
		{`[1,2]`, canon.Limits{Values: 3}, ""},
		{`[[1]]`, canon.Limits{Depth: 2}, ""},
		{`[[[1]]]`, canon.Limits{Depth: 2}, "nesting deeper than 2 levels"},
		{`[{"a":{}}]`, canon.Limits{Depth: 2}, "nesting deeper than 2 levels"},
		{`[{},{},[],[]]`, canon.Limits{Depth: 2}, ""},
	} {
		err := canon.Check([]byte(c.doc), c.limits)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.doc, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q", c.doc, err, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for doc, want := range map[string]int{`1`: 1, `[]`: 1, `[1,[2,3],{}]`: 6, `{"a":{"b":null}}`: 3} {
		if got, err := canon.Count([]byte(doc), canon.Limits{}); got != want || err != nil {
			t.Errorf("%s: got %d, %v; want %d", doc, got, err, want)
		}
	}
}

func TestG5NestedHundredThousandDeep(t *testing.T) {
	const n = 100_000
	for _, doc := range []string{
		strings.Repeat("[", n) + strings.Repeat("]", n),
		strings.Repeat("[", n),
		strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n),
		strings.Repeat("]", n) + strings.Repeat("[", 2*n),
		"[" + strings.Repeat("[],", n) + strings.Repeat("[", n),
	} {
		if err := canon.Check([]byte(doc), canon.Limits{}); err == nil {
			t.Errorf("%.20s: accepted", doc)
		}
	}
	fits := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	if err := canon.Check([]byte(fits), canon.Limits{}); err != nil {
		t.Errorf("64 levels: %v", err)
	}
	if err := canon.Check([]byte("["+fits+"]"), canon.Limits{}); err == nil {
		t.Error("65 levels: accepted")
	}
}

func TestG19HugeNumbers(t *testing.T) {
	for doc, ok := range map[string]bool{
		`1e400`: true, `1e-400`: true, `1E+0400`: true, `-0.5e3`: true, strings.Repeat("1", 512): true,
		`1e401`: false, `1e-401`: false, `1e999999`: false, `[1E+999999]`: false, `{"a":-1e99999999999999999999}`: false,
		strings.Repeat("1", 513): false, `0.` + strings.Repeat("0", 100_000): false,
	} {
		if err := canon.Check([]byte(doc), canon.Limits{}); (err == nil) != ok {
			t.Errorf("%.40s: %v", doc, err)
		}
	}
}

// 2^53+1 reads as 2^53 in a double, so that two manifests could have one hash.
func TestG21IntegersBeyondDoubles(t *testing.T) {
	for doc, ok := range map[string]bool{
		`9007199254740991`: true, `-9007199254740991`: true, `9007199254740990.5`: true, `0.1`: true, `-0`: true,
		`9007199254740992`: false, `9007199254740993`: false, `-9007199254740992`: false, `-9007199254740993`: false,
		`9007199254740993.0`: false, `9.007199254740993e15`: false, `900719925474099300e-2`: false, `1e16`: false, `1e308`: false, `1e309`: false,
	} {
		if err := canon.Check([]byte(`{"n":[`+doc+`]}`), canon.Limits{Strict: true}); (err == nil) != ok {
			t.Errorf("%s: %v", doc, err)
		}
		if err := canon.Check([]byte(doc), canon.Limits{}); err != nil {
			t.Errorf("%s, not strict: %v", doc, err)
		}
	}
}

// The pointers of 100,000 values under a key of two megabytes would be 200 gigabytes.
func TestLongKeyAboveManyValues(t *testing.T) {
	doc := `{"` + strings.Repeat("k", 2<<20) + `":[` + strings.Repeat("1,", 100_000) + `x]}`
	start := time.Now()
	err := canon.Check([]byte(doc), canon.Limits{})
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("got %.500v", err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

// Expected values are those of RFC 8785 section 3.2 and appendix B.
func TestRFC8785(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"{\"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],\n\"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\",\n\"literals\": [null, true, false]}",
			"{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"},
		{`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
		{`[-0, 9007199254740991, 1e-7, 1e21, 5e-324, 1.0]`, `[0,9007199254740991,1e-7,1e+21,5e-324,1]`},
	} {
		got, err := canon.JSON([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
		}
	}
}

func TestMarshal(t *testing.T) {
	got, err := canon.Marshal(map[string]any{"b": 1, "a": "<&>", "é": []int{2}})
	if want := `{"a":"<&>","b":1,"é":[2]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if _, err := canon.Marshal(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

func TestDigest(t *testing.T) { // the digest of nothing, FIPS 180-4 examples
	if got := canon.Digest(nil); got != "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error(got)
	}
	if got := canon.Digest([]byte("abc")); got != "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error(got)
	}
}

func TestEscapePointer(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "a/b": "a~1b", "~1": "~01", "~/": "~0~1"} {
		if got := canon.EscapePointer(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzCheck holds what Check promises to those who decode after it: encoding/json
// reads the document, and its canonical form is one that means the same.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e3,"x\ud83d\ude00",null,true,{}]}`, `"\ud800"`, `[1e401]`, `{"a":1,"a":2}`, `[[[[`, `]]]]`, "\"\xff\"", `9007199254740993`, `{"":{"~":"/"}}`, `-0.0`, `"\u2028\u0000"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		n, err := canon.Count(doc, canon.Limits{Strict: true})
		if err != nil {
			if len(err.Error()) > 600 {
				t.Errorf("long message: %v", err)
			}
			return
		}
		if n < 1 || !json.Valid(doc) {
			t.Fatalf("%q: passed with %d values", doc, n)
		}
		canonical, err := canon.JSON(doc)
		if err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		again, err := canon.JSON(canonical)
		if err != nil || !bytes.Equal(again, canonical) {
			t.Errorf("%q: %s, then %s, %v", doc, canonical, again, err)
		}
		var a, b any
		if err := json.Unmarshal(doc, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(canonical, &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%q became %s: %v", doc, canonical, err)
		}
	})
}
