package permission

import (
	"strings"
	"testing"
	"time"
)

// TestDefaults is the table of defaults, with what the modes change.
func TestDefaults(t *testing.T) {
	p := newPlace(t)
	for _, path := range []string{"old.txt", ".vscode/old", p.outside + "/old", p.home + "/.bashrc", p.home + "/.ssh/config"} {
		p.put(path, "")
	}
	type row struct {
		kind            Kind
		path            string
		normal, ro, tru Verdict
	}
	engines := []*Engine{p.engine(""), p.engine("", mode(ModeReadOnly)), p.engine("", mode(ModeTrusted))}
	for _, r := range []row{
		{Read, "old.txt", Allow, Allow, Allow},
		{Write, "new.txt", Allow, Ask, Allow},
		{Write, "old.txt", Ask, Ask, Allow},
		{Delete, "old.txt", Ask, Ask, Ask},
		{Read, ".env", Deny, Deny, Deny},
		{Write, ".env", Deny, Deny, Deny},
		{Delete, ".git/config", Deny, Deny, Deny},
		{Read, ".vscode/old", Allow, Allow, Allow},
		{Write, ".vscode/new", Ask, Ask, Ask},
		{Write, ".vscode/old", Ask, Ask, Ask},
		{Read, p.outside + "/old", Ask, Ask, Allow},
		{Write, p.outside + "/new", Ask, Ask, Allow},
		{Write, p.outside + "/old", Ask, Ask, Allow},
		{Delete, p.outside + "/old", Ask, Ask, Ask},
		{Read, p.home + "/.bashrc", Ask, Ask, Ask},
		{Write, p.home + "/.bashrc", Ask, Ask, Ask},
		{Read, "/usr/include/x.h", Allow, Allow, Allow},
		{Write, "/usr/include/x.h", Ask, Ask, Ask},
		{Read, p.home + "/.ssh/config", Ask, Ask, Ask},
		{Write, p.home + "/.ssh/config", Ask, Ask, Ask},
	} {
		for i, want := range []Verdict{r.normal, r.ro, r.tru} {
			d := p.decide(engines[i], r.kind, r.path)
			if d.Verdict != want {
				t.Errorf("mode %d: %s(%s): %s (%s), want %s", i, r.kind, r.path, d.Verdict, d.Rule, want)
			}
			special := d.Effect.Class == ClassObeyed || d.Effect.Class == ClassDangerous || d.Effect.Class == ClassSystem || d.Effect.Class == ClassCredentials
			if d.Verdict == Ask && d.NoAlways != special {
				t.Errorf("mode %d: %s(%s) in class %s: NoAlways %v", i, r.kind, r.path, d.Effect.Class, d.NoAlways)
			}
		}
	}
}

func mode(m string) func(*Options) { return func(o *Options) { o.Mode = m } }

func TestOtherKindsByDefault(t *testing.T) {
	e := newPlace(t).engine("")
	for kind, want := range map[Kind]Verdict{ToolCall: Allow, Artifact: Allow, Run: Ask, Net: Ask, Env: Ask, Signal: Ask, Secret: Ask, Display: Ask, Capture: Ask, "telepathy": Ask} {
		if d := e.Decide(request("fs.read", nil, Effect{Kind: kind, Target: targetFor(kind)}))[0]; d.Verdict != want {
			t.Errorf("%s: %s, want %s", kind, d.Verdict, want)
		}
	}
	if _, err := Load(Options{Mode: "yolo"}); err == nil {
		t.Error("an unknown mode loaded")
	}
}

func targetFor(kind Kind) string {
	if kind == Net {
		return "https://example.com:443"
	}
	return "x"
}

// Any deny wins, then any ask, then any allow, whatever the order and the tier.
func TestOrderOfRules(t *testing.T) {
	p := newPlace(t)
	tiers := func(o *Options) {
		o.AdminFile = p.put(p.outside+"/admin.yaml", "schema_version: 1\nrules:\n  - deny: read(never/**)\n  - allow: read(asked/**)\n")
		o.ProjectFile = p.put(".air/shared/permissions.yaml", "schema_version: 1\nrules:\n  - allow: read(never/**)\n  - ask: read(asked/**)\n  - allow: overwrite(docs/**)\n")
		o.Accepted = func([]byte) bool { return true }
	}
	e := p.engine("schema_version: 1\nrules:\n  - allow: read(never/**)\n  - allow: read(asked/x)\n  - ask: create(docs/**)\n", tiers)
	d := p.decide(e, Read, "never/x")
	p.want(d, Deny, CodeDeniedByRule)
	if want := p.outside + "/admin.yaml:3: deny: read(never/**)"; d.Rule != want {
		t.Errorf("rule %q, want %q", d.Rule, want)
	}
	p.want(p.decide(e, Read, "asked/x"), Ask, CodeAskedByRule)
	p.put("docs/old.md", "")
	p.want(p.decide(e, Write, "docs/old.md"), Allow, "")
	p.want(p.decide(e, Write, "docs/new.md"), Ask, CodeAskedByRule)
}

// Of several rules with one verdict the first is named, wherever its pattern begins.
func TestFirstRuleIsNamed(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - deny: read(a/**)\n  - deny: read(**)\n  - deny: read(a/b)\n")
	for path, line := range map[string]string{"a": ":3: ", "a/b": ":3: ", "a/b/c": ":3: ", "ab": ":4: ", ".": ":4: "} {
		d := p.decide(e, Read, path)
		p.want(d, Deny, CodeDeniedByRule)
		if !strings.Contains(d.Rule, line) {
			t.Errorf("%s is denied by %s, want line%s", path, d.Rule, line)
		}
	}
}

// An ask rule does not make "always" possible where it is not.
func TestAskRuleKeepsNoAlways(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - ask: create(**)\n")
	if d := p.decide(e, Write, ".envrc"); d.Verdict != Ask || !d.NoAlways {
		t.Errorf("%+v", d)
	}
	if d := p.decide(e, Write, "plain"); d.Verdict != Ask || d.NoAlways {
		t.Errorf("%+v", d)
	}
}

func TestWriteRulesMeanThreeEffects(t *testing.T) {
	p := newPlace(t)
	p.put("a/old", "")
	e := p.engine("schema_version: 1\nrules:\n  - deny: write(a/**)\n")
	for kind, path := range map[Kind]string{Create: "a/new", Overwrite: "a/old", Delete: "a/old"} {
		p.want(p.decide(e, kind, path), Deny, CodeDeniedByRule)
	}
	p.want(p.decide(e, Read, "a/old"), Allow, "")
}

// Protected, system and credentials open only to a person's own rule that names them.
func TestRulesMustNameWhatTheyOpen(t *testing.T) {
	p := newPlace(t)
	p.put(".env", "")
	own := "schema_version: 1\nrules:\n"
	for _, c := range []struct {
		rule, path string
		kind       Kind
		want       Verdict
	}{
		{"allow: read(**)", ".env", Read, Deny},
		{"allow: read(**/*)", "sub/.env", Read, Deny},
		{"allow: read(.e*)", ".env", Read, Deny},
		{"allow: read(**/.env)", "sub/.env", Read, Allow},
		{"allow: read(.env)", ".env", Read, Allow},
		{"allow: read(.env)", "sub/.env", Read, Deny},
		{"allow: overwrite(.env)", ".env", Read, Deny},
		{"allow: read(.git/**)", ".git/HEAD", Read, Allow},
		{"allow: read(fixtures/*.pem)", "fixtures/a.pem", Read, Allow},
		{"ask: read(**)", ".env", Read, Deny},
		{"ask: read(.env)", ".env", Read, Ask},
		{"allow: read(~/**)", p.home + "/.ssh/config", Read, Ask},
		{"allow: read(~/.ssh/config)", p.home + "/.ssh/config", Read, Allow},
		{"allow: create(/**)", "/usr/local/x", Create, Ask},
		{"allow: create(/usr/local/**)", "/usr/local/x", Create, Allow},
		{"allow: write(/**)", p.air + "/grants/x.json", Create, Deny},
		{"allow: write(~/.air/**)", p.air + "/grants/x.json", Create, Deny},
		{"allow: write(.air/shared/**)", ".air/shared/permissions.yaml", Create, Deny},
	} {
		e := p.engine(own + "  - " + c.rule + "\n")
		if d := p.decide(e, c.kind, c.path); d.Verdict != c.want {
			t.Errorf("with %q: %s(%s): %s (%s), want %s", c.rule, c.kind, c.path, d.Verdict, d.Rule, c.want)
		}
	}
}

// The project's own file opens nothing of that, accepted or not, and makes nothing weaker.
func TestProjectRulesOpenNothingProtected(t *testing.T) {
	p := newPlace(t)
	project := func(o *Options) {
		o.ProjectFile = p.put(".air/shared/permissions.yaml", "schema_version: 1\nrules:\n  - allow: read(.env)\n  - ask: read(.git/HEAD)\n  - allow: read(~/.ssh/config)\n  - allow: write(~/.bashrc)\n  - allow: write(.github/workflows/**)\n  - allow: env(*)\n  - allow: env(GOFLAGS)\n")
		o.Accepted = func([]byte) bool { return true }
	}
	e := p.engine("", project)
	p.want(p.decide(e, Read, ".env"), Deny, CodeProtectedPath)
	p.want(p.decide(e, Read, ".git/HEAD"), Deny, CodeProtectedPath)
	d := p.decide(e, Read, p.home+"/.ssh/config")
	p.want(d, Ask, CodeCredentials)
	if !d.NoAlways {
		t.Error("a credential may be answered for always")
	}
	p.want(p.decide(e, Write, p.home+"/.bashrc"), Ask, CodeDangerousPath)
	p.want(p.decide(e, Write, ".github/workflows/ci.yml"), Ask, CodeObeyedFile)
	p.want(e.Decide(request("shell.run", nil, Effect{Kind: Env, Target: "LD_PRELOAD"}))[0], Ask, CodeApprovalRequired)
	p.want(e.Decide(request("shell.run", nil, Effect{Kind: Env, Target: "GOFLAGS"}))[0], Allow, "")
}

func TestDoubtfulRules(t *testing.T) {
	p := newPlace(t)
	p.put("docs/x", "")
	p.put("a.txt", "")
	project := func(text string) func(*Options) {
		return func(o *Options) {
			o.ProjectFile = p.put(".air/shared/permissions.yaml", "schema_version: 1\nrules:\n  - "+text+"\n")
			o.Accepted = func([]byte) bool { return true }
		}
	}
	for text, doubtful := range map[string]bool{
		"deny: run(git push)":                   true,
		"deny: run(git push **)":                false,
		"allow: run(git push)":                  false,
		"deny: run(/usr/bin/git push **)":       true,
		"allow: run(FOO=1 go test **)":          true,
		"allow: overwrite(docs)":                true,
		"allow: overwrite(docs/**)":             false,
		"allow: overwrite(a.txt)":               false,
		"allow: overwrite($HOME/x)":             true,
		"allow: read(~foo/x)":                   true,
		"allow: read(docs/**, src/**)":          true,
		"allow: net(http://localhost:8080)":     true,
		"allow: net(https://example.com:443)":   false,
		"allow: env(*)":                         true,
		"allow: env(GOFLAGS)":                   false,
		"allow: write(~/.bashrc)":               true,
		"allow: write(.github/workflows/x.yml)": true,
	} {
		rules := p.engine("", project(text)).Rules()
		if got := rules[0].Warning; (got != "") != doubtful {
			t.Errorf("%s: warning %q", text, got)
		}
	}
}

func TestF13PolicyFiles(t *testing.T) {
	p := newPlace(t)
	e := p.engine("", mode(ModeTrusted))
	for path, code := range map[string]string{
		p.air + "/permissions.yaml":             CodeFloorAirHome,
		p.air + "/grants/x.json":                CodeFloorAirHome,
		p.air + "/config.yaml":                  CodeFloorAirHome,
		p.air + "/trust/new":                    CodeFloorAirHome,
		p.artifacts + "/x/y":                    CodeFloorAirHome,
		"/etc/air/permissions.yaml":             CodeFloorAirHome,
		".air/shared/permissions.yaml":          CodeFloorShared,
		".air/shared/profile.lock.json":         CodeFloorShared,
		".AIR/Shared/capabilities.yaml":         CodeFloorShared,
		".air/local/x":                          CodeFloorShared,
		"sub/.air/shared/project.json":          CodeFloorShared,
		p.outside + "/.air/shared/project.json": CodeFloorShared,
		p.home + "/tools/air":                   CodeFloorBinary,
	} {
		p.want(p.decide(e, Write, path), Deny, code)
	}
	p.want(p.decide(e, Read, p.air+"/secrets/token"), Deny, CodeFloorAirHome)
	for path, code := range map[string]string{".": CodeFloorShared, ".air": CodeFloorShared, p.home: CodeFloorAirHome, p.home + "/tools": CodeFloorBinary} {
		p.want(p.decide(e, Delete, path), Deny, code)
	}
}

// What Resolve has not seen is not decided by rules.
func TestUnresolvedEffects(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - allow: read(**)\n  - allow: write(**)\n", mode(ModeTrusted))
	for _, f := range []Effect{{Kind: Read, Target: p.root + "/x"}, {Kind: Write, Target: p.root + "/x", Class: ClassProject}, {Kind: Read, Target: p.root + "/x", Class: "new"}} {
		if d := e.Decide(request("fs.read", nil, f))[0]; d.Code != CodeFloorUnresolved || d.Verdict != Deny {
			t.Errorf("%+v", d)
		}
	}
}

func TestF19RepositoryBringsRules(t *testing.T) {
	p := newPlace(t)
	p.put(".air/local/permissions.yaml", "schema_version: 1\nrules:\n  - allow: overwrite(**)\n")
	p.put(".air/grants/x.json", "{}")
	project := func(accepted bool) func(*Options) {
		return func(o *Options) {
			o.ProjectFile = p.put(".air/shared/permissions.yaml", "schema_version: 1\nrules:\n  - allow: write(**)\n  - allow: read(/**)\n  - deny: read(private/**)\n  - ask: read(watched/**)\n")
			o.Accepted = func([]byte) bool { return accepted }
		}
	}
	p.put("old", "")
	e := p.engine("", project(false))
	p.want(p.decide(e, Write, "old"), Ask, CodeOverwrite)
	p.want(p.decide(e, Read, p.outside+"/x"), Ask, CodeOutsideProject)
	p.want(p.decide(e, Read, "private/x"), Deny, CodeDeniedByRule)
	p.want(p.decide(e, Read, "watched/x"), Ask, CodeAskedByRule)
	if info := e.Rules()[0]; !strings.Contains(info.Inactive, "air accept") {
		t.Errorf("the rule that does not count is not said to: %+v", info)
	}
	accepted := p.engine("", project(true))
	p.want(p.decide(accepted, Write, "old"), Allow, "")
	p.want(p.decide(accepted, Read, p.outside+"/x"), Allow, "")
	// A link in its place is not read.
	p.link(p.outside+"/rules.yaml", ".air/shared/linked.yaml")
	p.put(p.outside+"/rules.yaml", "schema_version: 1\nrules: []\n")
	if _, err := Load(Options{Paths: p.paths, ProjectFile: p.root + "/.air/shared/linked.yaml"}); err == nil {
		t.Error("a project file that is a link was read")
	}
}

func TestRulesForCapabilities(t *testing.T) {
	p := newPlace(t)
	csv := reader()
	csv.Consented = false
	e := p.engine("schema_version: 1\nrules:\n  - allow: read(open/**)\n  - allow: read(data/**)\n    for: csv\n  - allow: read(exact/**)\n    for: csv@" + digestB + "\n  - deny: read(no/**)\n  - deny: read(notcsv/**)\n    for: csv\n")
	p.want(p.decide(e, Read, "open/x"), Allow, "")
	p.want(p.decide(e, Read, "open/x", csv), Ask, CodeNotConsented) // an allow that names nobody is the person's
	p.want(p.decide(e, Read, "data/x", csv), Allow, "")
	p.want(p.decide(e, Read, "exact/x", csv), Ask, CodeNotConsented)
	p.want(p.decide(e, Read, "no/x", csv), Deny, CodeDeniedByRule)
	p.want(p.decide(e, Read, "notcsv/x", csv), Deny, CodeDeniedByRule)
	p.want(p.decide(e, Read, "notcsv/x"), Allow, "")
}

func TestRulesExpire(t *testing.T) {
	p := newPlace(t)
	now := testNow
	e := p.engine("schema_version: 1\nrules:\n  - deny: read(a)\n    expires: 2026-06-01\n  - deny: read(b)\n    expires: 2026-05-31\n  - deny: read(c)\n    expires: 2026-06-01T12:30:00Z\n", func(o *Options) { o.Clock = func() time.Time { return now } })
	p.want(p.decide(e, Read, "a"), Deny, CodeDeniedByRule) // through the end of that day
	p.want(p.decide(e, Read, "b"), Allow, "")
	p.want(p.decide(e, Read, "c"), Deny, CodeDeniedByRule)
	now = now.Add(time.Hour)
	p.want(p.decide(e, Read, "c"), Allow, "")
	if info := e.Rules()[1]; info.Inactive == "" {
		t.Errorf("an expired rule is not said to be: %+v", info)
	}
}

func TestProfileOnlyDenies(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - allow: overwrite(x)\n", func(o *Options) {
		o.Profile = func(_ Request, f Effect) (string, bool) { return "not in the profile", f.Kind != Read }
	})
	p.want(p.decide(e, Read, "x"), Allow, "")
	p.want(p.decide(e, Write, "x"), Deny, CodeProfileCeiling)
	p.want(p.decide(e, Read, ".env"), Deny, CodeProtectedPath)
}

func TestDecideKeepsOrder(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	effects := []Effect{{Kind: ToolCall, Target: "fs.read"}, p.resolve(Read, ".env"), p.resolve(Read, "a")}
	decisions := e.Decide(request("fs.read", nil, effects...))
	for i, want := range []Verdict{Allow, Deny, Allow} {
		if decisions[i].Verdict != want || decisions[i].Effect != effects[i] {
			t.Errorf("decision %d: %+v", i, decisions[i])
		}
	}
	if got := e.Decide(request("fs.read", nil)); len(got) != 0 {
		t.Errorf("no effects: %v", got)
	}
}

func TestExplain(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - ask: read(data/**)\n")
	x := e.Explain(request("fs.read", []Caller{reader()}, p.resolve(Read, "data/x")))[0]
	var got []string
	for _, s := range x.Steps {
		got = append(got, string(s.Layer)+"/"+s.Caller+": "+s.Answer)
	}
	want := "floor/: nothing to say; profile/: nothing to say; capability ceiling/: nothing to say; flow/: nothing to say; rule/csv: ask; consent/csv: allow; default/csv: ask; grant/csv: nothing to say"
	if strings.Join(got, "; ") != want {
		t.Errorf("steps %s\nwant  %s", strings.Join(got, "; "), want)
	}
	if x.Final.Verdict != Ask || x.Final.Layer != LayerRule {
		t.Errorf("final: %+v", x.Final)
	}
}

// Every code that a decision or refusal carries is in the table, once.
func TestCodesTable(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range Codes() {
		if seen[row.Code] || row.Meaning == "" || row.Code == "" || row.Verdict == Allow {
			t.Errorf("row %+v", row)
		}
		seen[row.Code] = true
	}
	for class, s := range standards {
		if !seen[s.code] {
			t.Errorf("class %s has the code %q, which is not in the table", class, s.code)
		}
	}
}

func TestLoadWithoutPaths(t *testing.T) {
	if _, err := Load(Options{}); err == nil {
		t.Error("loaded without Paths: there would be no floors")
	}
}
