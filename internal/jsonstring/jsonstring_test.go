package jsonstring_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aircoding/air/internal/jsonstring"
)

// stringsOf are the strings of a JSON text, names marked by a colon.
func stringsOf(t testing.TB, text string) (all []string) {
	jsonstring.Each([]byte(text), func(l jsonstring.Literal) {
		s, valid := jsonstring.Unquote([]byte(text)[l.From:l.To])
		if !valid {
			s = "invalid"
		}
		if l.Name {
			s += ":"
		}
		all = append(all, s)
	})
	return all
}

func TestEach(t *testing.T) {
	for text, want := range map[string][]string{
		`{}`:                                 nil,
		`"a"`:                                {"a"},
		`{"a" : "b:", "c":["d", 1, ":"]}`:    {"a:", "b:", "c:", "d", ":"},
		`{"a\"b":"\\"}`:                      {`a"b:`, `\`},
		`["\u0041\n", "é\\\""]`:              {"A\n", `é\"`},
		`{"a":{"b":"c"},"d":[["e"],"f"]}`:    {"a:", "b:", "c", "d:", "e", "f"},
		"[\"a\" \n\t,{\"b\"\r\n :\"\"}]":     {"a", "b:", ""},
		`{"deep":[[[[[[[["x"]]]]]]]],"y":0}`: {"deep:", "x", "y:"},
	} {
		got := stringsOf(t, text)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestEachOfNoJSON(t *testing.T) {
	for text, want := range map[string][]string{
		`"`: nil, `"a`: nil, `"\`: nil, `"\"`: nil, `{"a":"b`: {"a:"}, `"a"b"`: {"a"}, `"\q"`: {"invalid"}, `a "b" c`: {"b"},
	} {
		if got := stringsOf(t, text); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// The strings are those that a decoder finds.
func FuzzEach(f *testing.F) {
	f.Add(`{"a":["b\"",{"c":"\u00e9"}]}`)
	f.Add(`"\\"`)
	f.Add(`"\`)
	f.Add(`["\ud83d\ude00","\ud83d","\ude00\u0041","\ud83dx","\b\f\/"]`)
	f.Fuzz(func(t *testing.T, text string) {
		got := stringsOf(t, text)
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
			return
		}
		want := 0
		decoder := json.NewDecoder(strings.NewReader(text))
		for {
			token, err := decoder.Token()
			if err != nil {
				break
			}
			if s, is := token.(string); is {
				if want >= len(got) || got[want] != s && got[want] != s+":" {
					t.Fatalf("%s: string %d is %q, got %q", text, want, s, got)
				}
				want++
			}
		}
		if want != len(got) {
			t.Fatalf("%s: got %q, want %d", text, got, want)
		}
	})
}
