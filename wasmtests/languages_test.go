package wasmtests

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/runtime/engine/wazero"
)

// TestLanguagesAnswerAlike gives the same inputs to the same guest in four languages.
func TestLanguagesAnswerAlike(t *testing.T) {
	modules := map[string][]byte{"guests/go": GoModule(t)}
	for _, name := range languages() {
		modules[name] = Module(t, name)
	}
	for name, module := range modules {
		for engine, e := range map[string]*wazero.Engine{"compiler": {}, "interpreter": {Interpreter: true}} {
			t.Run(name+"/"+engine, func(t *testing.T) {
				if Slowdown > 1 && e.Interpreter && name == "guests/go" {
					t.Skip("takes minutes under the race detector")
				}
				if err := e.Load(module, hostabi.AirV1, 64<<20); err != nil {
					t.Fatal(err)
				}
				answersAlike(t, e)
				e.Freeze()
				answersAlike(t, e)
			})
		}
	}
}

// languages are the guests that answer alike, beside that of GoModule.
func languages() []string {
	return []string{"guests/c/words", "guests/c/words-free", "guests/rust/words", "guests/assemblyscript/words"}
}

func answersAlike(t *testing.T, e *wazero.Engine) {
	for _, test := range languageTests() {
		host := &host{answer: test.answer, code: test.code}
		c := &hostabi.Call{
			Input: []byte(`{"tool":"words.run","input":` + test.input + `,"config":{"text":"not this one"}}`), Host: host,
			Limits: hostabi.Limits{OutputBytes: 1 << 20, HostCalls: 1000, LogBytes: 1 << 20},
		}
		status, err := e.Run(c)
		if err != nil {
			t.Fatalf("%s: %v", test.input, err)
		}
		if status != test.status || !sameJSON(t, c.Output, test.want) {
			t.Errorf("%s: status %d, %s, want %d, %s", test.input, status, c.Output, test.status, test.want)
		}
		if string(c.Log) != test.log {
			t.Errorf("%s: log %q, want %q", test.input, c.Log, test.log)
		}
		test.asked(t, host.asked)
		e.Reset()
	}
}

type languageTest struct {
	input  string
	status uint32
	want   string
	log    string
	answer string // to every tool call
	code   hostabi.Code
	asked  func(t *testing.T, asked []string)
}

func languageTests() []languageTest {
	nothing := func(t *testing.T, asked []string) {
		if len(asked) > 0 {
			t.Errorf("host saw %q", asked)
		}
	}
	const many = 5000 / Slowdown
	return []languageTest{
		{input: `{"op":"words","text":"hello wasm world"}`, want: `{"upper":"HELLO WASM WORLD","words":3}`, asked: nothing},
		{input: `{"op":"words","text":""}`, want: `{"upper":"","words":0}`, asked: nothing},
		{input: `{"op":"words"}`, want: `{"upper":"","words":0}`, asked: nothing},
		{input: ` { "text" : " a\tb\r\n c " , "op" : "words" } `, want: `{"upper":" A\tB\r\n C ","words":3}`, asked: nothing},
		{
			input: `{"op":"words","text":"say \"\u0061\" \\ \/ é \u00e9 世界 \ud83d\ude00 \u0000\u001f ]}{["}`,
			want:  `{"upper":"SAY \"A\" \\ / é é 世界 😀 \u0000\u001f ]}{[","words":10}`, asked: nothing,
		},
		{
			input: `{"op":"words","text":"` + strings.Repeat("abc ", many) + `"}`,
			want:  fmt.Sprintf(`{"upper":%q,"words":%d}`, strings.Repeat("ABC ", many), many), asked: nothing,
		},
		{
			input: `{"op":"calls","count":20,"size":1024}`, want: `{"calls":20,"bytes":180}`,
			answer: `{"ok":true,"tool":"fs.read","artifacts":[],"output":{"a":"}"}}`, asked: func(t *testing.T, asked []string) {
				if want := `tool fs.read {"path":"` + strings.Repeat("x", 1013) + `"}`; len(asked) != 20 || asked[0] != want || asked[19] != want {
					t.Errorf("host saw %d requests, %.60q", len(asked), asked)
				}
			},
		},
		{input: `{"op":"calls","count":0,"size":10}`, want: `{"calls":0,"bytes":0}`, asked: nothing},
		{
			input: `{"op":"calls","count":3,"size":64}`, status: 1, code: hostabi.ECANCELED,
			want: `{"code":"no_call","message":"no call was made","details":{"code":-4}}`, asked: func(t *testing.T, asked []string) {
				if len(asked) != 1 {
					t.Errorf("host saw %q", asked)
				}
			},
		},
		{input: `{"op":"fail","text":"no \"luck\""}`, status: 1, want: `{"code":"asked_to","message":"no \"luck\"","details":{"op":"fail"}}`, asked: nothing},
		{input: `{"op":"emit","text":"é\n"}`, want: `{"emitted":4}`, asked: func(t *testing.T, asked []string) {
			want := []string{`{"level":"info","msg":"é\n"}`, `{"fraction":0.5,"message":"é\n"}`, `"é\n"`, `{"name":"noted","payload":{"text":"é\n"}}`}
			for kind, w := range want {
				payload, ok := strings.CutPrefix(asked[kind], fmt.Sprintf("emit %d ", kind))
				if !ok || !sameJSON(t, []byte(payload), w) {
					t.Errorf("host saw %s, want kind %d and %s", asked[kind], kind, w)
				}
			}
		}},
		{input: `{"op":"print","text":"to stderr"}`, want: `{"printed":true}`, log: "to stderr\n", asked: nothing},
		{input: `{"op":"random"}`, want: `{"differ":true}`, asked: nothing},
		{input: `{"op":"clock"}`, want: `{"set":true,"forward":true}`, asked: nothing},
		{input: `{"op":"count"}`, want: `{"count":1}`, asked: nothing},
		{input: `{"op":"count"}`, want: `{"count":1}`, asked: nothing},
		{input: `{"op":"unheard-of"}`, status: 1, want: `{"code":"bad_input","message":"unknown op"}`, asked: nothing},
	}
}

// host answers every call alike and remembers it.
type host struct {
	answer string
	code   hostabi.Code
	asked  []string
}

func (h *host) ToolCall(name string, request []byte) ([]byte, hostabi.Code) {
	h.asked = append(h.asked, "tool "+name+" "+string(request))
	return []byte(h.answer), h.code
}

func (h *host) Emit(kind int32, payload []byte) hostabi.Code {
	h.asked = append(h.asked, fmt.Sprintf("emit %d %s", kind, payload))
	return h.code
}

func sameJSON(t *testing.T, got []byte, want string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		return false
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(a, b)
}
