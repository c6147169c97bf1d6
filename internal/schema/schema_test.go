package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aircoding/air/internal/schema"
)

func TestValidate(t *testing.T) {
	const person = `{"type":"object","properties":{"name":{"type":"string","pattern":"^[a-z]+$","maxLength":8},
		"age":{"type":"integer","minimum":0,"maximum":150},"tags":{"type":"array","items":{"enum":["a","b"]},"uniqueItems":true},
		"half":{"multipleOf":0.5}},"required":["name"],"additionalProperties":false}`
	for _, c := range []struct{ schema, doc, want string }{
		{"", `{"any":["thing",1]}`, ""},
		{" \n", `null`, ""},
		{"true", `1`, ""},
		{"false", `1`, "document: nothing is allowed here"},
		{person, `{"name":"ann","age":150,"tags":["a","b"],"half":1.5}`, ""},
		{person, `{"name":"ann","age":7.0}`, ""}, // 7.0 is an integer in draft 2020-12
		{person, `{}`, "document: missing property 'name'"},
		{person, `{"name":5}`, "/name: got number, want string"},
		{person, `{"name":"ANN"}`, `/name: "ANN" does not match the pattern "^[a-z]+$"`},
		{person, `{"name":"abcdefghi"}`, "/name: maxLength: got 9, want 8"},
		{person, `{"name":"a","age":-1}`, "/age: must be at least 0"},
		{person, `{"name":"a","age":151}`, "/age: must be at most 150"},
		{person, `{"name":"a","half":0.3}`, "/half: must be a multiple of 0.5"},
		{person, `{"name":"a","tags":["a","a"]}`, "/tags: items at 0 and 1 are equal"},
		{person, `{"name":"a","tags":["a","c"]}`, "/tags/1: value must be one of 'a', 'b'"},
		{person, `{"name":"a","x/y":1}`, `document: unknown property "x/y"`},
		{person, `{"name":"a","age":"x","half":0.1}`, "/age: got string, want integer\n/half: must be a multiple of 0.5"},
		{`{"$defs":{"n":{"type":"number"}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":""}`, "/a: got string, want number"},
		{`{"$id":"https://example.test/x","$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#/$defs/n","$defs":{"n":{"type":"null"}}}`, `1`, "document: got number, want null"},
		{`{"propertyNames":{"pattern":"^a"}}`, `{"b":1}`, `document: the name "b": "b" does not match the pattern "^a"`},
		{`{"items":{"exclusiveMaximum":10,"exclusiveMinimum":1}}`, `[10,1]`, "/0: must be less than 10\n/1: must be more than 1"},
		{`{"additionalProperties":{"type":"null"}}`, `{"a/b~c":1}`, "/a~1b~0c: got number, want null"},
		{`{"type":"integer"}`, `9007199254740993`, ""},
		{`{"const":9007199254740992}`, "", ""},
	} {
		s, err := schema.Compile(json.RawMessage(c.schema))
		if c.doc == "" { // the schema itself is what is refused: 2^53 cannot be told from its neighbour
			if err == nil {
				t.Errorf("%s: compiled", c.schema)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.schema, err)
		}
		got := ""
		if err := s.Validate([]byte(c.doc)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s of %s:\n got %q\nwant %q", c.doc, c.schema, got, c.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{`, "unexpected"},
		{`[]`, "got array"},
		{`7`, "got number"},
		{`{"type":"strin"}`, "/type"},
		{`{"pattern":"("}`, "regex"},
		{`{"pattern":"(?=a)b"}`, "regex"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#"}`, "draft 2020-12"},
		{`{"$schema":"file:///etc/passwd"}`, "draft 2020-12"},
		{`{"$ref":"https://example.test/schema"}`, "within the schema"},
		{`{"$ref":"file:///etc/passwd"}`, "within the schema"},
		{`{"$ref":"other.json#/a"}`, "within the schema"},
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "within the schema"},
		{`{"$ref":7}`, "within the schema"},
		{`{"$ref":"#/$defs/none"}`, "nothing there"},
		{`{"$ref":"#/allOf/7","allOf":[true]}`, "nothing there"},
		{`{"$ref":"#name"}`, "within the schema"},
		{`{"properties":{"a":{"$id":"https://example.test/other"}}}`, "$id"},
		{`{"items":{"$dynamicRef":"#x"}}`, "$dynamicRef"},
		{`{"type":"object","type":"string"}`, "duplicate key"},
		{`{"properties":{"__proto__":{}}}`, "__proto__"},
		{`{"maximum":1e999999}`, "exponent"},
	} {
		_, err := schema.Compile(json.RawMessage(c.schema))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.schema, err, c.want)
		}
	}
}

func TestG19DoublingSchema(t *testing.T) {
	defs := []string{`"a0":{"type":"string"}`}
	for i := 1; i <= 60; i++ {
		defs = append(defs, fmt.Sprintf(`"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i-1, i-1))
	}
	refused(t, `{"$ref":"#/$defs/a60","$defs":{`+strings.Join(defs, ",")+`}}`, "2000 nodes")

	wide := strings.Repeat(`{"type":"string"},`, 1_998) + `true`
	if _, err := schema.Compile(json.RawMessage(`{"anyOf":[` + wide + `]}`)); err != nil {
		t.Errorf("2,000 nodes: %v", err)
	}
	refused(t, `{"anyOf":[true,`+wide+`]}`, "2000 nodes")
}

func TestG19SelfReference(t *testing.T) {
	for _, s := range []string{
		`{"$ref":"#"}`,
		`{"properties":{"next":{"$ref":"#"}}}`,
		`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"items":{"$ref":"#/properties/a"}}}}`,
		`{"$defs":{"unused":{"items":{"$ref":"#/$defs/unused"}}}}`,
		`{"$defs":{"x":{"not":{"$ref":"#/%24defs/x"}}}}`,
		`{"enum":[{"$ref":"#/enum/0"}],"$ref":"#/enum/0"}`,
	} {
		refused(t, s, "refers to itself")
	}
}

func TestG19HostilePattern(t *testing.T) {
	refused(t, `{"pattern":"`+strings.Repeat("a", 1_001)+`"}`, "1001 bytes")
	refused(t, `{"pattern":"`+strings.Repeat("(a{0,200}b{0,200}){0,4}", 20)+`"}`, "instructions")
	refused(t, `{"patternProperties":{"`+strings.Repeat("(a{0,200}b{0,200}){0,4}", 20)+`":true}}`, "instructions")

	// Within the bounds a schema may still ask for more work than it is worth. What
	// fails then is the validation: a "not" must not make a match of it.
	s, err := schema.Compile(json.RawMessage(`{"not":{"pattern":"^b{900}"}}`))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Validate([]byte(`"` + strings.Repeat("a", 400_000) + `"`))
	if err == nil || !strings.Contains(err.Error(), "takes too long") {
		t.Errorf("got %v", err)
	}
	if err := s.Validate([]byte(`"c"`)); err != nil {
		t.Errorf("the next document: %v", err)
	}
}

func TestG19HugeNumbers(t *testing.T) {
	s, err := schema.Compile(json.RawMessage(`{"items":{"multipleOf":0.1,"type":"integer"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{`[1e999999]`, `[1e-999999]`, `[1E+401]`, `[` + strings.Repeat("9", 100_000) + `]`} {
		if err := s.Validate([]byte(doc)); err == nil {
			t.Errorf("%.20s: accepted", doc)
		}
	}
	if err := s.Validate([]byte(`[1e400]`)); err != nil {
		t.Error(err)
	}
}

func TestTooManySteps(t *testing.T) {
	s, err := schema.Compile(json.RawMessage(`{"items":{"anyOf":[` + strings.Repeat(`{"type":"string"},`, 500) + `true]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate([]byte(`[` + strings.Repeat("1,", 200_000) + `1]`)); err == nil || !strings.Contains(err.Error(), "too many for a schema") {
		t.Errorf("got %v", err)
	}
}

func TestMistakesAreBounded(t *testing.T) {
	s, err := schema.Compile(json.RawMessage(`{"additionalProperties":false,"properties":{"list":{"items":{"pattern":"^b"}}},"propertyNames":{"maxLength":50}}`))
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.Repeat("\x1b[31ms3cr3t", 10_000)
	doc, err := json.Marshal(map[string]any{secret: 1, "list": []string{secret, "a1", "a2", "a3", "a4", "a5", "a6"}})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Validate(doc)
	if err == nil {
		t.Fatal("accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[5], "and ") {
		t.Errorf("lines: %q", lines)
	}
	for _, l := range lines {
		if len(l) > 300 || strings.Contains(l, "\x1b") || strings.Count(l, "s3cr3t") > 80/len("s3cr3t") {
			t.Errorf("line %q", l)
		}
	}
	if again := s.Validate(doc); again.Error() != err.Error() {
		t.Errorf("another time it says %v", again)
	}
}

func TestConcurrentUse(t *testing.T) {
	s, err := schema.Compile(json.RawMessage(`{"pattern":"^a+$"}`))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if s.Validate([]byte(`"aaa"`)) != nil || s.Validate([]byte(`"b"`)) == nil {
					t.Error("wrong answer")
				}
			}
		})
	}
	group.Wait()
}

func FuzzCompile(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"pattern":"^a"}}}`), []byte(`{"a":"b"}`))
	f.Add([]byte(`{"$ref":"#"}`), []byte(`{}`))
	f.Add([]byte(`{"oneOf":[{"type":"string"},{"minLength":2}],"if":true,"then":{"not":false}}`), []byte(`"abc"`))
	f.Add([]byte(`{"dependencies":{"a":["b"]},"dependentRequired":{"a":["b"]},"unevaluatedProperties":false}`), []byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, text, doc []byte) {
		s, err := schema.Compile(text)
		if err != nil {
			return
		}
		if err := s.Validate(doc); err != nil && strings.Count(err.Error(), "\n") > 5 {
			t.Errorf("too long: %v", err)
		}
	})
}

func refused(t *testing.T, text, want string) {
	t.Helper()
	if _, err := schema.Compile(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%.80s: got %v, want an error with %q", text, err, want)
	}
}
