package permission

import (
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

func TestRulesFor(t *testing.T) {
	p := newPlace(t)
	for _, path := range []string{"docs/a*.md", ".vscode/x", p.outside + "/x", p.home + "/.bashrc", p.home + "/.ssh/config"} {
		p.put(path, "")
	}
	e := p.engine("schema_version: 1\nrules:\n  - ask: read(asked/**)\n")
	csv := Caller{Capability: "csv", Digest: digestA, Permissions: Permissions{Read: true}}
	folder := p.resolve(Read, p.outside)
	folder.Recursive = true
	for _, c := range []struct {
		effect  Effect
		chain   []Caller
		project string // "": only a person's own file
		user    string // "": no rule answers
	}{
		{p.resolve(Write, "docs/a*.md"), nil, `overwrite(docs/a\*.md)`, `overwrite(` + p.root + `/docs/a\*.md)`},
		{p.resolve(Delete, "docs/a*.md"), nil, `delete(docs/a\*.md)`, `delete(` + p.root + `/docs/a\*.md)`},
		{p.resolve(Write, ".vscode/x"), nil, "", "overwrite(" + p.root + "/.vscode/x)"},
		{p.resolve(Read, p.outside+"/x"), nil, "", "read(" + p.outside + "/x)"},
		{folder, nil, "", "read(" + p.outside + "/**)"},
		{p.resolve(Write, p.home+"/.bashrc"), nil, "", "overwrite(" + p.home + "/.bashrc)"},
		{p.resolve(Read, p.home+"/.ssh/config"), nil, "", "read(" + p.home + "/.ssh/config)"},
		{p.resolve(Write, "/usr/local/x"), nil, "", "create(/usr/local/x)"},
		{p.resolve(Read, "asked/x"), nil, "", ""},
		{p.resolve(Write, p.outside+"/a\x1bb"), nil, "", ""},
		{Effect{Kind: Run, Target: "git push 'a b' '*'", Risk: RiskNetwork}, nil, "run(git push 'a b' '*')", "run(git push 'a b' '*')"},
		{Effect{Kind: Run, Target: "sudo id", Risk: RiskPrivileged}, nil, "", "run(sudo id)"},
		{Effect{Kind: Run, Target: "bash -c 'a && b\n  c'", Risk: RiskOpaque}, nil, "", "run(bash -c 'a && b\n  c')"},
		{fetch(t, "https://x.example"), nil, "net(https://x.example:443)", "net(https://x.example:443)"},
		{fetch(t, "https://localhost"), nil, "", "net(https://localhost:443)"},
		{Effect{Kind: Env, Target: "A*"}, nil, `env(A\*)`, `env(A\*)`},
		{Effect{Kind: Secret, Target: "token"}, nil, "secret(token)", "secret(token)"},
		{p.resolve(Read, "data/x"), []Caller{csv}, "read(data/x)", "read(" + p.root + "/data/x)"},
		{p.resolve(Read, "data/x"), []Caller{{Capability: "local", Permissions: Permissions{Read: true}}}, "", ""},
	} {
		r := request("shell.run", c.chain, c.effect)
		if c.chain != nil {
			r = request("fs.read", c.chain, c.effect)
		}
		if c.effect.Kind == Net {
			r.Subject.Tool = "network.fetch"
		}
		asks := e.Decide(r)
		if asks[0].Verdict != Ask {
			t.Fatalf("%+v", asks[0])
		}
		rules, open := e.RulesFor(r, asks)
		if c.user == "" {
			if len(rules) != 0 || len(open) != 1 {
				t.Errorf("%s: %+v, %v", c.effect, rules, open)
			}
			continue
		}
		if len(rules) != 1 || len(open) != 0 || rules[0].Project != c.project || rules[0].User != c.user || (rules[0].OwnOnly == "") != (c.project != "") {
			t.Errorf("%s: %+v, %v; want %q and %q", c.effect, rules, open, c.project, c.user)
			continue
		}
		learned(p, r, rules)
	}
}

// learned writes the rules into files that then allow what was asked about.
func learned(p *place, r Request, rules []RuleText) {
	p.Helper()
	for _, tier := range []Tier{TierUser, TierProject} {
		text, err := AppendRules("r", nil, tier, rules, p.paths)
		if tier == TierProject && rules[0].Project == "" {
			if !fault.Is(err, fault.InvalidInput) {
				p.Errorf("%+v in a project's file: %s, %v", rules, text, err)
			}
			continue
		}
		if err != nil {
			p.Errorf("%+v: %v", rules, err)
			continue
		}
		e := p.engine("schema_version: 1\nrules: []\n", func(o *Options) {
			o.GrantsFile, o.Accepted = "", func([]byte) bool { return true }
			if tier == TierUser {
				o.UserFile = p.put(p.outside+"/learned.yaml", string(text))
			} else {
				o.ProjectFile = p.put(".air/shared/permissions.yaml", string(text))
			}
		})
		if d := e.Decide(r)[0]; d.Verdict != Allow || d.Layer != LayerRule {
			p.Errorf("with\n%s%s is %s by %s", text, d.Effect, d.Verdict, d.Rule)
		}
	}
}

func TestRulesForSeveral(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	csv, tsv := reader(), reader()
	csv.Consented, tsv.Consented, tsv.Capability, tsv.Digest = false, false, "tsv", digestB
	f := p.resolve(Read, "data/x")
	r := request("fs.read", []Caller{csv, tsv}, f, f)
	rules, open := e.RulesFor(r, e.Decide(r))
	if len(open) != 0 || len(rules) != 2 || rules[0].For != "csv@"+digestA || rules[1].For != "tsv@"+digestB {
		t.Errorf("%+v, %v", rules, open)
	}
	script := request("shell.run", nil, Effect{Kind: Run, Target: "./x.sh", Risk: RiskNetwork, Script: "./x.sh", ScriptSHA256: scriptOne})
	if rules, _ := e.RulesFor(script, e.Decide(script)); len(rules) != 1 || !strings.Contains(rules[0].Note, "./x.sh") {
		t.Errorf("%+v", rules)
	}
}

func TestAppendRules(t *testing.T) {
	p := newPlace(t)
	add := []RuleText{{Project: "overwrite(docs/x.md)", User: "overwrite(/p/docs/x.md)"}, {Project: "run(echo 'a: #b')", User: "run(echo 'a: #b')", For: "csv@" + digestA}}
	const items = "- allow: overwrite(docs/x.md)\n- allow: \"run(echo 'a: #b')\"\n  for: csv@" + digestA + "\n"
	indented := "  " + strings.ReplaceAll(strings.TrimSuffix(items, "\n"), "\n", "\n  ") + "\n"
	for _, c := range []struct{ name, before, want string }{
		{"no file", "", "schema_version: 1\nrules:\n" + indented},
		{"an empty list", "schema_version: 1\nrules: []\n", "schema_version: 1\nrules:\n" + indented},
		{"an empty list with words", "# mine\nschema_version: 1\nrules: [ ] # none yet\n# end\n", "# mine\nschema_version: 1\nrules: # none yet\n" + indented + "# end\n"},
		{"no list", "schema_version: 1", "schema_version: 1\nrules:\n" + indented},
		{"nothing in the list", "schema_version: 1\nrules:\n", "schema_version: 1\nrules:\n" + indented},
		{"comments", "# top\nschema_version: 1\n\nrules:\n  # first\n  - deny: read(a) # why\n    reason: \"x\"\n\n  # last\n", "# top\nschema_version: 1\n\nrules:\n  # first\n  - deny: read(a) # why\n    reason: \"x\"\n" + indented + "\n  # last\n"},
		{"keys behind", "rules:\n  - deny: read(a)\n\n# the version\nschema_version: 1\n", "rules:\n  - deny: read(a)\n" + indented + "\n# the version\nschema_version: 1\n"},
		{"without indentation", "schema_version: 1\nrules:\n- deny: read(a)\n- deny: read(b)", "schema_version: 1\nrules:\n- deny: read(a)\n- deny: read(b)\n" + items},
		{"more of it", "schema_version: 1\nrules:\n      - deny: read(a)\n        match:\n          - a\n", "schema_version: 1\nrules:\n      - deny: read(a)\n        match:\n          - a\n      " + strings.ReplaceAll(strings.TrimSuffix(items, "\n"), "\n", "\n      ") + "\n"},
		{"a text of lines", "schema_version: 1\nrules:\n  - deny: read(a)\n    reason: |\n      first\n      # not a comment\n", "schema_version: 1\nrules:\n  - deny: read(a)\n    reason: |\n      first\n      # not a comment\n" + indented},
		{"CRLF", "schema_version: 1\r\nrules:\r\n  - deny: read(a)\r\n", "schema_version: 1\r\nrules:\r\n  - deny: read(a)\r\n" + strings.ReplaceAll(indented, "\n", "\r\n")},
	} {
		got, err := AppendRules("r", []byte(c.before), TierProject, add, p.paths)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
	for name, text := range map[string]string{
		"a list in one line": "schema_version: 1\nrules: [{deny: read(a)}]\n",
		"JSON":               `{"schema_version": 1, "rules": []}`,
		"broken":             "schema_version: 1\nrules:\n  - alow: read(a)\n",
		"another version":    "schema_version: 2\nrules: []\n",
	} {
		if got, err := AppendRules("r", []byte(text), TierProject, add, p.paths); err == nil || fault.From(err).Hint == "" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	bad := []RuleText{{Project: "overwrite(../x)", User: "overwrite(../x)"}}
	if got, err := AppendRules("r", nil, TierUser, bad, p.paths); err == nil {
		t.Errorf("a rule that does not load: %s", got)
	}
	if got, err := AppendRules("r", []byte("x"), TierUser, nil, p.paths); err != nil || string(got) != "x" {
		t.Errorf("no rules: %s, %v", got, err)
	}
}

// FuzzAppendRules: whatever is in the file stays in it, and comes first.
func FuzzAppendRules(f *testing.F) {
	f.Add("schema_version: 1\nrules:\n  - deny: read(a)\n    reason: >\n     # x\n", "overwrite(a)")
	f.Add("rules:\n- deny: read(a)\nschema_version: 1\n", "run(echo 'a: #b\n')")
	f.Add("schema_version: 1\n# rules:\nrules: []", `read(\{a,b}: c)`)
	p := NewPaths(PathsConfig{ProjectRoot: f.TempDir(), Home: "/nowhere"})
	f.Fuzz(func(t *testing.T, text, effect string) {
		got, err := AppendRules("r", []byte(text), TierUser, []RuleText{{User: effect}}, p)
		if err != nil {
			return
		}
		after, err := parseRules(got, "r", TierUser, p)
		if err != nil || len(after) == 0 {
			t.Fatalf("%q: %v", got, err)
		}
		kind, pattern, err := parseEffect(effect)
		if last := after[len(after)-1]; err != nil || last.kind != kind || last.pattern != pattern || last.verdict != Allow {
			t.Errorf("%q became %s", effect, last.text())
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "rules:") && !strings.Contains(string(got), line) {
				t.Errorf("%q is gone from %q", line, got)
			}
		}
	})
}

func TestRules(t *testing.T) {
	p := newPlace(t)
	file := p.put("rules.yaml", `schema_version: 1
rules:
  - deny: write(**)
  - allow: write(docs/**)
  - allow: read(a)
    expires: 2026-05-01
  - allow: read(.env)
  - allow: env(A)
    for: csv
`)
	rules := func(change func(*Options)) []RuleInfo {
		return p.engine("schema_version: 1\nrules: []\n", change).Rules()
	}
	infos := rules(func(o *Options) { o.ProjectFile, o.Accepted = file, func([]byte) bool { return true } })
	if len(infos) != 5 {
		t.Fatalf("%+v", infos)
	}
	for i, want := range []string{"", "shadowed by " + file + ":3", "it expired", "can never match", "can never match"} {
		if got := infos[i].Inactive + infos[i].Warning; (got == "") != (want == "") || !strings.Contains(got, want) || infos[i].Tier != "project" || infos[i].File != file {
			t.Errorf("%+v, want %q", infos[i], want)
		}
	}
	if infos := rules(func(o *Options) { o.UserFile = file }); infos[3].Warning != "" {
		t.Errorf("a person's own: %+v", infos)
	}
}
