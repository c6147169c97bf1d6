package permission

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/schema"
	"github.com/aircoding/air/internal/yamldoc"
	"github.com/aircoding/air/resources"
)

func ruleSchema(t *testing.T) (text []byte, compiled *schema.Schema) {
	t.Helper()
	text, err := resources.Schema("permissions")
	if err != nil {
		t.Fatal(err)
	}
	if compiled, err = schema.Compile(text); err != nil {
		t.Fatal(err)
	}
	return text, compiled
}

// TestSchemaAgrees: what the loader takes the published schema takes, and what the schema
// refuses the loader refuses. Some mistakes only the loader can tell.
func TestSchemaAgrees(t *testing.T) {
	p := newPlace(t)
	_, published := ruleSchema(t)
	rule := func(text string) string { return "schema_version: 1\nrules:\n  - " + text + "\n" }
	for _, c := range []struct {
		text        string
		loads, fits bool
	}{
		{"schema_version: 1", true, true},
		{"schema_version: 1\nrules:", true, true},
		{"schema_version: 1\nrules: []", true, true},
		{"rules: []", false, false},
		{"schema_version: 2", false, false},
		{"schema_version: \"1\"", false, false},
		{"schema_version: 1\nrule: []", false, false},
		{"schema_version: 1\nrules: {}", false, false},
		{"schema_version: 1\nrules: [x]", false, false},
		{"[]", false, false},
		{rule("allow: read(docs/**)"), true, true},
		{rule("ask: \" read(docs/**) \""), true, true},
		{rule("deny: \"run(echo 'a\\nb')\""), true, true},
		{rule("allow: run(go test **)"), true, true},
		{rule("allow: net(https://*.x.example:*)"), true, true},
		{rule("allow: env(A*)"), true, true},
		{rule("allow: signal(*)"), true, true},
		{rule("allow: secret(a)"), true, true},
		{rule("allow: tool(fs.*)"), true, true},
		{rule("allow: display(*)"), true, true},
		{rule("allow: capture(*)"), true, true},
		{rule("allow: artifact(report)"), true, true},
		{rule("allow: create(a)"), true, true},
		{rule("allow: overwrite(a)"), true, true},
		{rule("allow: delete(a)"), true, true},
		{rule("allow: write(a)\n    reason: x\n    match: [a]\n    not_match: [b]\n    for: csv\n    expires: 2026-12-31"), true, true},
		{rule("allow: write(a)\n    for: csv@" + digestA + "\n    expires: 2026-12-31T10:00:00Z"), true, true},
		{rule("allow: write(a)\n    for: \"\""), false, false},
		{rule("allow: write(a)\n    for:"), false, false},
		{rule("allow: write(a)\n    expires:"), false, false},
		{rule("allow: write(a)\n    reason: ~"), false, false},
		{rule("allow: write(a)\n    not_match: [b, ~]"), false, false},
		{rule("allow: net(*)\n    after:"), false, false},
		{rule("allow:\n    deny: read(a)"), false, false},
		{rule("allow: net(*)\n    after: read(~/.ssh/**)"), true, true},
		{rule("allow: run(aws **)\n    after: [read(~/.aws/**), secret(a)]"), true, true},
		{rule("alow: read(a)"), false, false},
		{rule("allow: read(a)\n    deny: read(a)"), false, false},
		{rule("reason: x"), false, false},
		{rule("allow: read"), false, false},
		{rule("allow: read()"), false, false},
		{rule("allow: raed(a)"), false, false},
		{rule("allow: Read(a)"), false, false},
		{rule("allow: [read(a)]"), false, false},
		{rule("allow: read(a)\n    reason: 5"), false, false},
		{rule("allow: read(a)\n    match: a"), false, false},
		{rule("allow: read(a)\n    match: [5]"), false, false},
		{rule("allow: read(a)\n    for: CSV"), false, false},
		{rule("allow: read(a)\n    for: csv@sha256:12"), false, false},
		{rule("deny: net(*)\n    after: read(~/.ssh/**)"), false, false},
		{rule("allow: net(*)\n    after: []"), false, false},
		{rule("allow: net(*)\n    after: create(x)"), false, false},
		{rule("allow: net(*)\n    after: [5]"), false, false},
		{rule("allow: read(a)\n    after: read(~/.ssh/**)"), false, true},
		{rule("allow: read(../a)"), false, true},
		{rule("allow: net(x)"), false, true},
		{rule("allow: run(a && b)"), false, true},
		{rule("allow: read(a)\n    expires: soon"), false, true},
		{rule("allow: read(a)\n    match: [b]"), false, true},
	} {
		_, err := parseRules([]byte(c.text), "rules.yaml", TierUser, p.paths)
		if (err == nil) != c.loads {
			t.Errorf("%s: the loader says %v", c.text, err)
		}
		doc, _, err := yamldoc.ToJSON([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := published.Validate(doc); (err == nil) != c.fits {
			t.Errorf("%s: the schema says %v", c.text, err)
		}
	}
}

// TestSchemaKeys: the schema has the loader's keys and effects.
func TestSchemaKeys(t *testing.T) {
	text, _ := ruleSchema(t)
	var doc struct {
		Properties map[string]any `json:"properties"`
		Defs       struct {
			Effect struct {
				Pattern string `json:"pattern"`
			} `json:"effect"`
			Rule struct {
				Properties map[string]any `json:"properties"`
			} `json:"rule"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of   reflect.Type
		keys map[string]any
	}{{reflect.TypeFor[ruleFile](), doc.Properties}, {reflect.TypeFor[ruleText](), doc.Defs.Rule.Properties}} {
		var want []string
		for i := range c.of.NumField() {
			want = append(want, c.of.Field(i).Tag.Get("json"))
		}
		for _, key := range want {
			if c.keys[key] == nil {
				t.Errorf("%s: the schema has no %q", c.of, key)
			}
		}
		if len(c.keys) != len(want) {
			t.Errorf("%s: the schema has %d keys, the loader %d", c.of, len(c.keys), len(want))
		}
	}
	inner, _, _ := strings.Cut(strings.TrimPrefix(doc.Defs.Effect.Pattern, `^\s*(`), ")")
	var kinds []string
	for _, kind := range allKinds {
		kinds = append(kinds, string(kind))
	}
	if got := strings.Split(inner, "|"); !slices.Equal(got, kinds) {
		t.Errorf("the schema has the effects %q, the loader %q", got, kinds)
	}
}

// FuzzSchemaAgrees: nothing loads that the schema refuses.
func FuzzSchemaAgrees(f *testing.F) {
	f.Add("schema_version: 1\nrules:\n  - allow: net(*)\n    after: [read(~/.ssh/**)]\n")
	f.Add("schema_version: 1\nrules:\n  - allow: write(a)\n    for: csv\n    expires: 2026-12-31\n    match: [a]\n    reason: x\n")
	text, err := resources.Schema("permissions")
	if err != nil {
		f.Fatal(err)
	}
	published, err := schema.Compile(text)
	if err != nil {
		f.Fatal(err)
	}
	p := NewPaths(PathsConfig{ProjectRoot: f.TempDir(), Home: "/nowhere"})
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parseRules([]byte(text), "r", TierUser, p); err != nil {
			return
		}
		doc, _, err := yamldoc.ToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := published.Validate(doc); err != nil {
			t.Errorf("%q loads, and the schema says %v", text, err)
		}
	})
}
