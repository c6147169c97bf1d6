package permission

import (
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

// TestBadRules: each mistake is an error that names file and line.
func TestBadRules(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct{ text, want string }{
		{"rules: []", "rules.yaml:1: schema_version: 1 is missing"},
		{"schema_version: 0\nrules: []", "rules.yaml:1: schema_version is 0"},
		{"schema_version: 2\nrules: []", "rules.yaml:1: schema_version is 2"},
		{"schema_version: 1\nrule: []", `rules.yaml:2: unknown key "rule", did you mean "rules"`},
		{"schema_version: 1\nrules:\n  - alow: read(x)", `rules.yaml:3: unknown key "alow", did you mean "allow"`},
		{"schema_version: 1\nrules:\n  - reason: none", "rules.yaml:3: a rule needs one of"},
		{"schema_version: 1\nrules:\n  - allow: read(x)\n    deny: read(x)", "rules.yaml:3: more than one of"},
		{"schema_version: 1\nrules:\n  - allow: raed(x)", `rules.yaml:3: unknown effect "raed", did you mean "read"`},
		{"schema_version: 1\nrules:\n  - allow: read", "rules.yaml:3: \"read\": effect(pattern) is wanted"},
		{"schema_version: 1\nrules:\n  - allow: read(x) or else", "effect(pattern) is wanted"},
		{"schema_version: 1\nrules:\n  - allow: read()", "the pattern is empty"},
		{"schema_version: 1\nrules:\n  - allow: read(../x)", "has \"..\""},
		{"schema_version: 1\nrules:\n  - allow: \"read([a)\"", "malformed"},
		{"schema_version: 1\nrules:\n  - allow: \"read(" + strings.Repeat("{a,b}", 20) + ")\"", "braces"},
		{"schema_version: 1\nrules:\n  - allow: \"read(a\\u202eb)\"", `\u{202e}`},
		{"schema_version: 1\nrules:\n  - allow: read(x)\n    for: Not A Capability", "rules.yaml:3: for:"},
		{"schema_version: 1\nrules:\n  - allow: read(x)\n    for: csv@sha256:12", "rules.yaml:3: for:"},
		{"schema_version: 1\nrules:\n  - allow: read(x)\n    expires: tomorrow", "rules.yaml:3: expires:"},
		{"schema_version: 1\nrules:\n  - allow: read(data/*.csv)\n    match: [data/a.txt]", "does not match its example"},
		{"schema_version: 1\nrules:\n  - allow: read(data/*)\n    not_match: [data/a.txt]", "which not_match says it must not"},
		{"schema_version: 1\nrules:\n  - allow: 5", "rules.yaml:3: "},
		{"schema_version: 1\nrules:\n  - allow: run(go test && ls)", "rules.yaml:3: \"&\" is no part of a word"},
		{"schema_version: 1\nrules:\n  - allow: \"run(echo \\\"x\\\")\"", "is no part of a word"},
		{"schema_version: 1\nrules:\n  - allow: run(echo 'x)", "a quote that does not end"},
		{"schema_version: 1\nrules:\n  - allow: \"run(echo 'a\\u202eb')\"", `\u{202e}`},
		{"schema_version: 1\nrules:\n  - allow: run(go test **)\n    match: [go vet]", "does not match its example"},
		{"schema_version: 1\nrules:\n  - allow: run(go test **)\n    match: [go test && rm x]", "rules.yaml:3: match: the example"},
		{"schema_version: 1\nrules:\n  - allow: run(go **)\n    not_match: [go test 'a b']", "which not_match says it must not"},
		{"schema_version: 1\nrules:\n  - allow: net(example.com)", "scheme://host:port is wanted"},
		{"schema_version: 1\nrules:\n  - allow: net(https://x.example:443)\n    match: [\"https://x.example@evil\"]", "match: the example"},
		{"schema_version: 1\nrules:\n  - allow: net(https://x.example:443)\n    not_match: [\"https://X.example./y\"]", "which not_match says it must not"},
		{"schema_version: 1\nrules:\n  - allow: read(x)\n    expire: 2026-12-31", `unknown key "expire", did you mean "expires"`},
		{"schema_version: 1\nrules:\n  - allow: read(x)\n    matches: [x]", `unknown key "matches", did you mean "match"`},
		{"schema_version: 1\nrules:\n  - allow: nett(*)", `unknown effect "nett", did you mean "net"`},
		{"schema_version: 1\nrules:\n  - allow: telepathy(*)", `unknown effect "telepathy", known are read, create`},
		{"\t: ", "rules.yaml:"},
		{"schema_version: 1\nrules: &a []", "anchors"},
	} {
		_, err := parseRules([]byte(c.text), "rules.yaml", TierUser, p.paths)
		if !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.text, err, c.want)
		}
	}
}

func TestGoodRules(t *testing.T) {
	p := newPlace(t)
	rules, err := parseRules([]byte(`schema_version: 1
rules:
  - allow: run(go test **)
  - ask:   overwrite(docs/**)
  - deny:  net(https://*.internal:*)
    reason: "internal hosts only from CI"
    match: ["https://db.internal:443"]
  - allow: read(data/**)
    for: acme-csv@`+digestA+`
    expires: 2026-12-31
    match: [data/x.csv, ./data/a/b]
    not_match: [date/x, "data2/x"]
  - deny: tool(acme-*)
    match: [acme-csv.summarize]
  - allow: artifact(report)
  - allow: read(~/notes/**)
    match: [~/notes/today]
  - allow: read(odd (name).txt)
    match: [odd (name).txt]
  - allow: read(\[literal\].txt)
    match: ["[literal].txt"]
`), "rules.yaml", TierUser, p.paths)
	if err != nil {
		t.Fatal(err)
	}
	if got := rules[2].source; got != "rules.yaml:5: deny: net(https://*.internal:*)" {
		t.Errorf("source %q", got)
	}
	if rules[3].capability != "acme-csv" || rules[3].digest != digestA || rules[3].expires.Format("2006-01-02T15") != "2027-01-01T00" {
		t.Errorf("rule %+v", rules[3])
	}
}

func TestMissingAndEmptyFiles(t *testing.T) {
	p := newPlace(t)
	if e := p.engine(""); len(e.Rules()) != 0 {
		t.Errorf("rules from nowhere: %v", e.Rules())
	}
	if _, err := Load(Options{UserFile: p.outside, Paths: p.paths}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a folder as rule file: %v", err)
	}
	if _, err := Load(Options{UserFile: p.put("big", strings.Repeat("#", maxFile+1)), Paths: p.paths}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("an endless rule file: %v", err)
	}
}

func TestWarnings(t *testing.T) {
	p := newPlace(t)
	e := p.engine(`schema_version: 1
rules:
  - allow: read(a/**)
  - allow: read(a/**)
  - deny: read(a/**)
  - allow: read(~/.air/keys/*)
  - allow: write(/dev/*)
  - allow: read(b/**)
`, func(o *Options) {
		o.ProjectFile = p.put(".air/shared/permissions.yaml", "schema_version: 1\nrules:\n  - allow: read(.env)\n  - deny: read(.env)\n    for: csv\n")
		o.Accepted = func([]byte) bool { return true }
	})
	want := []string{"shadowed by " + p.air + "/permissions.yaml:5, which is stronger: deny: read(a/**)", "shadowed by " + p.air + "/permissions.yaml:5, which is stronger", "", "can never match", "can never match", "", "can never match", ""}
	for i, info := range e.Rules() {
		if (want[i] == "") != (info.Warning == "") || !strings.Contains(info.Warning, want[i]) {
			t.Errorf("rule %d %s: warning %q, want %q", i, info.Rule, info.Warning, want[i])
		}
	}
}

func TestRelativeRulesWithoutProject(t *testing.T) {
	p := newPlace(t)
	none := NewPaths(PathsConfig{Home: p.home})
	rules, err := parseRules([]byte("schema_version: 1\nrules:\n  - allow: read(docs/**)\n    match: [docs/x]\n  - deny: read(~/x)\n"), "r", TierUser, none)
	if err != nil || rules[0].inactive == "" || rules[1].inactive != "" {
		t.Errorf("%v, %+v", err, rules)
	}
}

// The characters of a pattern in the names of folders are only characters.
func TestRootWithPatternCharacters(t *testing.T) {
	p := newPlace(t)
	root := p.outside + "/a[b]{c,d}*"
	p.put(root+"/data/x", "")
	paths := NewPaths(PathsConfig{ProjectRoot: root})
	rules, err := parseRules([]byte("schema_version: 1\nrules:\n  - deny: read(data/**)\n    match: [data/x]\n"), "r", TierUser, paths)
	if err != nil {
		t.Fatal(err)
	}
	if !rules[0].decides(nil, &Effect{Kind: Read, Target: root + "/data/x", Class: ClassProject}, targetOf(Read, root+"/data/x"), nil) {
		t.Error("the rule does not match in a project with such a name")
	}
	if got := paths.rulePattern(root + "/~x*"); got != `\~x\*` {
		t.Errorf("pattern %s", got)
	}
}
