//go:build !wasip1

package air

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

type greeting struct {
	Name string `json:"name"`
}

func init() {
	Handle("greet", func(c *Context, in greeting) (map[string]string, error) {
		return map[string]string{"text": "Hello, <" + in.Name + ">!"}, nil
	})
	Handle("fail", func(*Context, struct{}) (any, error) {
		return nil, fmt.Errorf("row 7: %w", Fail("bad_row", "two values in one").With("row", 7))
	})
	Handle("plain", func(*Context, struct{}) (any, error) { return nil, errors.New("no more paper") })
	Handle("odd", func(*Context, struct{}) (any, error) {
		return nil, Fail("odd", "not for JSON").With("f", func() {})
	})
	Handle("nested", func(c *Context, in struct{ Path string }) (any, error) {
		_, err := c.ReadFile(in.Path)
		return nil, err
	})
	Handle("wrapped", func(c *Context, in struct{ Path string }) (any, error) {
		_, err := c.ReadFile(in.Path)
		return nil, Fail("no_table", "reading the table: %w", err).With("path", in.Path)
	})
	Handle("configured", func(c *Context, _ struct{}) (any, error) {
		cfg := struct {
			Top   int    `json:"top"`
			Sep   string `json:"sep"`
			Fixed string `json:"fixed"`
		}{Top: 5, Fixed: "kept"}
		err := c.Config(&cfg)
		return cfg, err
	})
}

func TestServe(t *testing.T) {
	refused := func(tool string) any {
		return map[string]any{"ok": false, "error": map[string]any{
			"kind": "permission_denied", "code": "protected_path", "message": "may not read .env", "retryable": false, "hint": "ask"}}
	}
	cause := `"cause":{"kind":"permission_denied","code":"protected_path","message":"may not read .env","retryable":false,"hint":"ask"}`
	tests := []struct {
		name, call, want string
		status           int32
	}{
		{"output", `{"tool":"hello.greet","input":{"name":"Ada"}}`, `{"text":"Hello, <Ada>!"}`, 0},
		{"unknown tool", `{"tool":"hello.wave","input":{}}`, `{"code":"unknown_tool","message":"this module has no tool \"wave\""}`, 1},
		{"no JSON", `{"tool"`, `{"code":"bad_invocation","message":"reading the invocation: unexpected end of JSON input"}`, 1},
		{"unknown key", `{"tool":"hello.greet","input":{"nmae":"Ada"}}`, `{"code":"bad_input","message":"reading the input of hello.greet: json: unknown field \"nmae\""}`, 1},
		{"wrong type", `{"tool":"hello.greet","input":{"name":1}}`, `{"code":"bad_input","message":"reading the input of hello.greet: json: cannot unmarshal number into Go struct field greeting.name of type string"}`, 1},
		{"no input", `{"tool":"hello.greet"}`, `{"code":"bad_input","message":"reading the input of hello.greet: EOF"}`, 1},
		{"wrapped failure", `{"tool":"x.fail","input":{}}`, `{"code":"bad_row","message":"row 7: two values in one","details":{"row":7}}`, 1},
		{"plain error", `{"tool":"x.plain","input":{}}`, `{"code":"failed","message":"no more paper"}`, 1},
		{"details that are no JSON", `{"tool":"x.odd","input":{}}`, `{"code":"failed","message":"not for JSON"}`, 1},
		{"refusal passed on", `{"tool":"x.nested","input":{"Path":".env"}}`, `{"code":"call_failed","message":"fs.stat: may not read .env","details":{` + cause + `,"tool":"fs.stat"}}`, 1},
		{"refusal wrapped", `{"tool":"x.wrapped","input":{"Path":".env"}}`, `{"code":"no_table","message":"reading the table: fs.stat: may not read .env","details":{` + cause + `,"path":".env","tool":"fs.stat"}}`, 1},
		{"no configuration", `{"tool":"x.configured","input":{}}`, `{"top":5,"sep":"","fixed":"kept"}`, 0},
		{"configuration", `{"tool":"x.configured","input":{},"config":{"top":2,"sep":";"}}`, `{"top":2,"sep":";","fixed":"kept"}`, 0},
		{"unknown configuration", `{"tool":"x.configured","input":{},"config":{"tpo":2}}`, `{"code":"bad_config","message":"reading the configuration: json: unknown field \"tpo\""}`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			written, status := serve(fake{"fs.stat": func(json.RawMessage) any { return refused("fs.stat") }}, []byte(tt.call))
			if string(written) != tt.want || status != tt.status {
				t.Errorf("got status %d\n%s\nwant status %d\n%s", status, written, tt.status, tt.want)
			}
		})
	}
}

func TestHandleRefusesASecondHandler(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second handler of greet was taken")
		}
	}()
	Handle("greet", func(*Context, struct{}) (any, error) { return nil, nil })
}

func TestCallErrors(t *testing.T) {
	tests := []struct{ name, reply, want string }{
		{"no JSON", `{`, "calling a.b: reading its envelope: unexpected end of JSON input"},
		{"neither", `{"ok":false}`, "calling a.b: its envelope has neither an output nor an error"},
		{"another output", `{"ok":true,"output":[]}`, "calling a.b: reading its envelope: json: cannot unmarshal array into Go struct field .output of type int"},
		{"another output with an error", `{"ok":false,"output":[],"error":{"kind":"timeout","message":"too slow"}}`, "a.b: too slow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Context{host: fixed(tt.reply)}
			var out int
			if err := c.Call("a.b", nil, &out); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestCodesReachTheCaller(t *testing.T) {
	c := Context{host: broken(EQUOTA)}
	err := c.Call("fs.read", map[string]any{}, nil)
	if !errors.Is(err, EQUOTA) || err.Error() != "calling fs.read: a limit of this call is used up (EQUOTA)" {
		t.Errorf("got %v", err)
	}
	if err := c.Event("done", nil); !errors.Is(err, EQUOTA) {
		t.Errorf("event: got %v", err)
	}
	c.Infof("lost, and no failure")
	for code := EQUOTA; code <= 0; code++ {
		if code < 0 && strings.Contains(code.Error(), "unknown") {
			t.Errorf("code %d has no text", code)
		}
	}
}

func TestEmit(t *testing.T) {
	var log strings.Builder
	c := Context{host: emitter{&log}}
	c.Warnf("%d rows", 3)
	c.Progress(0.5, "half")
	c.Progress(-1, "")
	c.Progress(7, "")
	if err := errors.Join(c.Partial([]int{1}), c.Event("done", map[string]int{"rows": 3})); err != nil {
		t.Fatal(err)
	}
	want := `0 {"level":"warn","msg":"3 rows"}
1 {"fraction":0.5,"message":"half"}
1 {}
1 {"fraction":1}
2 [1]
3 {"name":"done","payload":{"rows":3}}
`
	if log.String() != want {
		t.Errorf("got\n%s\nwant\n%s", log.String(), want)
	}
}

// fake answers each tool by a function from input to envelope.
type fake map[string]func(input json.RawMessage) any

func (f fake) Call(tool string, input []byte) ([]byte, error) {
	answer, ok := f[tool]
	if !ok {
		return refusal("not_found", "no tool "+tool)
	}
	return json.Marshal(answer(input))
}

func (fake) Emit(Kind, []byte) error { return nil }

type fixed string

func (f fixed) Call(string, []byte) ([]byte, error) { return []byte(f), nil }
func (fixed) Emit(Kind, []byte) error               { return nil }

type broken Code

func (b broken) Call(string, []byte) ([]byte, error) { return nil, Code(b) }
func (b broken) Emit(Kind, []byte) error             { return Code(b) }

type emitter struct{ *strings.Builder }

func (emitter) Call(string, []byte) ([]byte, error) { return nil, EBADSTATE }
func (e emitter) Emit(kind Kind, payload []byte) error {
	fmt.Fprintf(e, "%d %s\n", kind, payload)
	return nil
}
