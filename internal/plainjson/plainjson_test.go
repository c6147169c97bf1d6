package plainjson_test

import (
	"encoding/json"
	"testing"

	"github.com/aircoding/air/internal/plainjson"
)

func TestMarshal(t *testing.T) { // RFC 8259 section 7: only ", \ and control characters have to be escaped
	v := map[string]any{"a": "<i> & \"b\"\n", "raw": json.RawMessage(`{ "x": "a>b" }`)}
	for got, want := range map[string]string{
		text(t, plainjson.Marshal, v): `{"a":"<i> & \"b\"\n","raw":{"x":"a>b"}}`,
		text(t, plainjson.Lines, v):   "{\n  \"a\": \"<i> & \\\"b\\\"\\n\",\n  \"raw\": {\n    \"x\": \"a>b\"\n  }\n}\n",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if _, err := plainjson.Marshal(func() {}); err == nil {
		t.Error("a function has become JSON")
	}
}

func text(t *testing.T, marshal func(any) ([]byte, error), v any) string {
	t.Helper()
	b, err := marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
