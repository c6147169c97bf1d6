package permission

import (
	"slices"
	"strings"
	"testing"
)

// Each text covers its effect alone: it is granted to an engine that would ask.
func TestGrantsFor(t *testing.T) {
	p := newPlace(t)
	overwrite := func(target string) Effect {
		return Effect{Kind: Overwrite, Target: p.root + "/" + target, Class: ClassProject}
	}
	read := func(target string) Effect {
		return Effect{Kind: Read, Target: target, Class: ClassOutside, Recursive: true}
	}
	run := func(argv ...string) Effect { return Effect{Kind: Run, Target: JoinArgv(argv), Risk: RiskNetwork} }
	for _, c := range []struct {
		effect, other Effect
		want          string
	}{
		{overwrite("a b.txt"), overwrite("a.txt"), "overwrite(a b.txt)"},
		{overwrite("*.txt"), overwrite("a.txt"), `overwrite(\*.txt)`},
		{overwrite("[a]{b}?"), overwrite("abc"), `overwrite(\[a\]\{b\}\?)`},
		{overwrite("~/x"), overwrite("x"), `overwrite(\~/x)`},
		{overwrite(`a\u{41}.txt`), overwrite("aA.txt"), `overwrite(a\\u\{41\}.txt)`},
		{read("/srv/data"), read("/srv/database"), "read(/srv/data/**)"},
		{run("git", "push", "a b", "*"), run("git", "push", "a", "b", "c"), "run(git push 'a b' '*')"},
		{fetch(t, "https://example.com"), fetch(t, "https://example.com:444"), "net(https://example.com:443)"},
		{Effect{Kind: Env, Target: "GOFLAGS"}, Effect{Kind: Env, Target: "GOFLAG"}, "env(GOFLAGS)"},
	} {
		e := p.engine("", func(o *Options) { o.GrantsFile = "" })
		r := Request{Subject: Subject{Tool: "t", BuiltIn: true, Permissions: Permissions{Read: true, Write: true, Execute: true, Network: true}}, Effects: []Effect{c.effect, c.other}}
		asks := e.Decide(r)
		grants, answered := e.GrantsFor(r, asks[:1], "")
		if !answered || len(grants) != 1 || grants[0].Rule != "allow: "+c.want {
			t.Errorf("%s: got %+v, %v, want %q", c.effect, grants, answered, c.want)
			continue
		}
		if _, err := e.AddGrant(t.Context(), grants[0]); err != nil {
			t.Errorf("%s: %v", c.want, err)
		}
		if d := e.Decide(r); d[0].Verdict != Allow || d[1].Verdict != Ask {
			t.Errorf("%s: got %s for %s and %s for %s", c.want, d[0].Verdict, c.effect, d[1].Verdict, c.other)
		}
	}
}

func TestGrantsForUnanswered(t *testing.T) {
	p := newPlace(t)
	p.put(p.home+"/.ssh/config", "")
	e := p.engine("")
	bare := Caller{Capability: "local", Permissions: Permissions{Read: true}}
	for name, c := range map[string]struct {
		r                 Request
		session, lastsFor []string // the sessions that are tried, and those in which it is answered
	}{
		"no always":       {request("fs.read", nil, p.resolve(Read, p.home+"/.ssh/config")), []string{"", "s1", "s2"}, []string{"s1"}},
		"hidden":          {request("fs.write", nil, p.resolve(Write, p.outside+"/a\u202e.txt")), []string{"", "s1"}, nil},
		"no digest":       {request("fs.read", []Caller{bare}, p.resolve(Read, "x")), []string{"", "s1"}, nil},
		"unread script":   {request("shell.run", nil, Effect{Kind: Run, Target: "bash x.sh", Risk: RiskNetwork, Script: "x.sh"}), []string{"", "s1"}, nil},
		"one of two":      {request("fs.read", nil, p.resolve(Read, p.outside+"/x"), p.resolve(Read, p.home+"/.ssh/config")), []string{"", "s1"}, []string{"s1"}},
		"everything else": {request("fs.read", nil, p.resolve(Read, p.outside+"/x")), []string{"", "s1"}, []string{"", "s1"}},
	} {
		asks := e.Decide(c.r)
		var lasts []string
		for _, session := range c.session {
			if _, answered := e.GrantsFor(c.r, asks, session); answered {
				lasts = append(lasts, session)
			}
		}
		if !slices.Equal(lasts, c.lastsFor) {
			t.Errorf("%s: answered for %q, want %q", name, lasts, c.lastsFor)
		}
		q := e.Question(c.r, asks)
		if q.OnceOnly == slices.Contains(c.lastsFor, "s1") || (len(q.Rules) > 0) != slices.Contains(c.lastsFor, "") {
			t.Errorf("%s: offers %v, once only: %v", name, q.Rules, q.OnceOnly)
		}
	}
}

func TestGrantInfos(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - deny: write(vendor/**)\n  - ask: read(sub/.env)\n  - deny: run(rm **)\n  - deny: net(https://evil.example)\n  - deny: env(A)\n")
	const session = "s1"
	for _, c := range []struct {
		grant Grant
		want  string
	}{
		{Grant{Rule: "allow: overwrite(a.txt)"}, ""},
		{Grant{Rule: "allow: read(**)"}, ""},
		{Grant{Rule: "allow: write(vendor/x)"}, "is denied: a rule says so"},
		{Grant{Rule: "allow: write(vendor/**)"}, "is denied: a rule says so"},
		{Grant{Rule: "allow: write(v*/x)"}, ""},
		{Grant{Rule: "allow: write({vendor,x}/x)"}, ""},
		{Grant{Rule: "allow: read(sub/.env)"}, "is asked about in each session"},
		{Grant{Rule: "allow: read(sub/.env)", Session: session}, ""},
		{Grant{Rule: "allow: read(.env)", Session: session}, "is denied"},
		{Grant{Rule: "allow: write(.air/shared/x)"}, "is denied"},
		{Grant{Rule: "allow: read(~/.ssh/config)"}, "is asked about in each session"},
		{Grant{Rule: "allow: read(~/.ssh/config)", Session: session, For: "csv@" + digestA}, "is denied"}, // a floor
		{Grant{Rule: "allow: overwrite(a.txt)", For: "csv@" + digestA}, ""},
		{Grant{Rule: "allow: run(rm -rf build)"}, "is denied"},
		{Grant{Rule: "allow: run(rm *)"}, "run(rm any-name) is denied"},
		{Grant{Rule: "allow: run(rm x-*)"}, ""}, // not known
		{Grant{Rule: "allow: run(make build)", ScriptSHA256: scriptOne}, ""},
		{Grant{Rule: "allow: net(https://evil.example:443)"}, "is denied"},
		{Grant{Rule: "allow: net(http://localhost:80)"}, "is asked about in each session"},
		{Grant{Rule: "allow: net(https://*.example)"}, ""},
		{Grant{Rule: "allow: env(A)"}, "is denied"},
		{Grant{Rule: "allow: env(B)"}, ""},
		{Grant{Rule: "allow: signal(1)"}, "is asked about in each session"},
	} {
		g, err := e.AddGrant(t.Context(), c.grant)
		if err != nil {
			t.Errorf("%+v: %v", c.grant, err)
			continue
		}
		infos := e.GrantInfos()
		if len(infos) != 1 || infos[0].ID != g.ID || (infos[0].Warning == "") != (c.want == "") || !strings.Contains(infos[0].Warning, c.want) {
			t.Errorf("%+v: %+v, want %q", c.grant, infos, c.want)
		}
		if _, err := e.Revoke(t.Context(), g.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// What is said of a grant of a command is by what the command risks, see docs/permissions.md:
// a stored grant opens no privileged one.
func TestGrantInfosOfCommands(t *testing.T) {
	e, err := Load(Options{Paths: newPlace(t).paths, Judge: func(command string) []Effect {
		risks := map[string]Risk{
			"sudo": RiskPrivileged, "sudo any-name": RiskPrivileged, "sudo ls": RiskPrivileged, "kill": RiskReadOnly, "kill any-name": RiskPrivileged,
			"python": RiskOpaque, "python any-name": RiskWorkspace, "git push": RiskNetwork, "make any-name": RiskWorkspace, "make": RiskWorkspace,
		}
		return []Effect{{Kind: Run, Target: "another", Risk: RiskOpaque}, {Kind: Run, Target: command, Risk: risks[command], Why: "why"}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	const nothing, notAll = "the grant opens nothing: ", "the grant does not open all that it matches: "
	for _, c := range []struct{ pattern, session, want string }{
		{"sudo ls", "", nothing + "run(sudo ls) is asked about in each session: why; --this-session"},
		{"sudo **", "", nothing + "run(sudo any-name)"},
		{"sudo **", "s1", ""},
		{"kill **", "", notAll + "run(kill any-name)"},
		{"python **", "", ""},
		{"git push", "", ""},
		{"make **", "", ""},
		{"**", "", ""}, // it names no program
	} {
		g, err := e.AddGrant(t.Context(), Grant{Rule: "allow: run(" + c.pattern + ")", Session: c.session})
		if err != nil {
			t.Fatal(err)
		}
		infos := e.GrantInfos()
		if got := infos[0].Warning; !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.pattern, got, c.want)
		}
		if _, err := e.Revoke(t.Context(), g.ID); err != nil {
			t.Fatal(err)
		}
	}
}
