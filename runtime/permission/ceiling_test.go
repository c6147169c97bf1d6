package permission

import (
	"strings"
	"testing"
)

func TestCeilingOfPaths(t *testing.T) {
	p := newPlace(t)
	p.put("old", "")
	p.put("data/old.csv", "")
	e := p.engine("schema_version: 1\nrules:\n  - allow: read(/**)\n    for: csv\n  - allow: write(/**)\n    for: csv\n") // no rule lifts a ceiling
	read, write := Permissions{Read: true}, Permissions{Write: true}
	for _, c := range []struct {
		name string
		has  Permissions
		s    Scopes
		kind Kind
		path string
		want Verdict
	}{
		{"no flag", write, Scopes{}, Read, "data/x", Deny},
		{"no flag with a scope", Permissions{}, Scopes{Read: []string{"data/**"}}, Read, "data/x", Deny},
		{"no scope is the whole project", read, Scopes{}, Read, "deep/down", Allow},
		{"no scope is nothing outside", read, Scopes{}, Read, p.outside + "/x", Deny},
		{"no scope is no artifact by path", read, Scopes{}, Read, p.artifacts + "/x", Deny},
		{"an empty scope is nothing", read, Scopes{Read: []string{}}, Read, "data/x", Deny},
		{"inside a scope", read, Scopes{Read: []string{"docs/*", "data/**"}}, Read, "data/a/b", Allow},
		{"outside a scope", read, Scopes{Read: []string{"docs/*", "data/**"}}, Read, "src/a", Deny},
		{"beside a scope", read, Scopes{Read: []string{"data/**"}}, Read, "data2/x", Deny},
		{"an absolute scope", read, Scopes{Read: []string{p.outside + "/*"}}, Read, p.outside + "/x", Allow},
		{"a scope that climbs", read, Scopes{Read: []string{"../../outside/*"}}, Read, p.outside + "/x", Deny},
		{"write does not read", write, Scopes{}, Read, "old", Deny},
		{"read does not write", read, Scopes{}, Write, "new", Deny},
		{"write creates", write, Scopes{}, Write, "new", Allow},
		{"write replaces", write, Scopes{}, Write, "old", Allow},
		{"write deletes", write, Scopes{}, Delete, "old", Allow},
		{"write in its scope", write, Scopes{Write: []string{"data/*.csv"}}, Write, "data/old.csv", Allow},
		{"write out of its scope", write, Scopes{Write: []string{"data/*.csv"}}, Write, "data/x.txt", Deny},
		{"write outside without the flag", write, Scopes{Write: []string{p.outside + "/**"}}, Write, p.outside + "/x", Deny},
		{"write outside", Permissions{Write: true, OutsideWrite: true}, Scopes{Write: []string{p.outside + "/**"}}, Write, p.outside + "/x", Allow},
		{"write the system", Permissions{Write: true, OutsideWrite: true}, Scopes{Write: []string{"/usr/**"}}, Write, "/usr/x", Deny},
		{"write credentials", Permissions{Write: true, OutsideWrite: true}, Scopes{Write: []string{"/**"}}, Write, p.home + "/.ssh/config", Deny},
		{"write declared credentials", Permissions{Write: true, OutsideWrite: true, Credentials: true}, Scopes{Write: []string{"/**"}}, Write, p.home + "/.ssh/config", Ask},
		{"protected stays protected", read, Scopes{}, Read, ".env", Deny},
		{"named protected stays protected", read, Scopes{Read: []string{".env"}}, Read, ".env", Deny},
	} {
		caller := Caller{Capability: "csv", Digest: digestA, Permissions: c.has, Scopes: c.s, Consented: true}
		if d := p.decide(e, c.kind, c.path, caller); d.Verdict != c.want {
			t.Errorf("%s: %s (%s: %s), want %s", c.name, d.Verdict, d.Code, d.Reason, c.want)
		}
	}
}

func TestCapabilityNeverGetsCredentials(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - allow: read(~/.ssh/config)\n    for: csv\n")
	all := Caller{Capability: "csv", Digest: digestA, Consented: true, Permissions: Permissions{Read: true, Credentials: true, SystemSensitive: true}, Scopes: Scopes{Read: []string{"/**"}}}
	p.want(p.decide(e, Read, p.home+"/.ssh/config", all), Deny, CodeFloorCredential)
	p.want(p.decide(e, Read, "/etc/shadow", all), Deny, CodeFloorCredential)
}

func TestCeilingOfTools(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	other := Permissions{Read: true}
	for _, c := range []struct {
		tool string
		has  Permissions
		s    Scopes
		want Verdict
	}{
		{"fs.read", Permissions{Read: true}, Scopes{}, Allow},
		{"fs.read", Permissions{Write: true}, Scopes{}, Deny},
		{"fs.write", Permissions{Read: true}, Scopes{}, Deny},
		{"event.emit", Permissions{}, Scopes{}, Allow},
		{"event.emit", Permissions{}, Scopes{Tools: []string{"fs.read"}}, Allow},
		{"fs.read", Permissions{Read: true}, Scopes{Tools: []string{"fs.write"}}, Deny},
		{"fs.read", Permissions{Read: true}, Scopes{Tools: []string{"fs.*"}}, Allow},
		{"fs.read", Permissions{}, Scopes{Tools: []string{"fs.*"}}, Deny},
		{"other.tool", other, Scopes{}, Deny},
		{"other.tool", other, Scopes{Tools: []string{"other.tool"}}, Allow},
		{"other.tool", Permissions{}, Scopes{Tools: []string{"other.tool"}}, Deny}, // the other needs read
		{"csv.again", other, Scopes{}, Allow},                                      // its own
	} {
		r := request(c.tool, []Caller{{Capability: "csv", Digest: digestA, Permissions: c.has, Scopes: c.s, Consented: true}}, Effect{Kind: ToolCall, Target: c.tool})
		if !r.Subject.BuiltIn {
			r.Subject.Capability, r.Subject.Permissions = strings.Split(c.tool, ".")[0], Permissions{Read: true}
		}
		d := e.Decide(r)[0]
		if d.Verdict != c.want || (c.want == Deny && d.Code != CodeCapabilityCeiling) {
			t.Errorf("%s with %+v %+v: %s (%s), want %s", c.tool, c.has, c.s, d.Verdict, d.Reason, c.want)
		}
	}
}

func TestCeilingOfOtherEffects(t *testing.T) {
	p := newPlace(t)
	e, bare := p.engine(""), p.engine("", func(o *Options) { o.Unconfined = func() bool { return true } })
	all := Permissions{Read: true, Write: true, Execute: true, Network: true, SystemSensitive: true, Credentials: true, OutsideWrite: true, Artifacts: []string{"report"}}
	local := all
	local.Network, local.SystemSensitive = false, false
	scopes := Scopes{Network: []string{"https://api.example.com:443", "https://localhost:443"}, Commands: []string{"go test **", "git **", "sudo **"}, Secrets: []string{"token"}}
	for _, c := range []struct {
		effect Effect
		has    Permissions
		s      Scopes
		want   Verdict
		code   string
	}{
		{Effect{Kind: Artifact, Target: "report"}, all, Scopes{}, Allow, ""},
		{Effect{Kind: Artifact, Target: "../report"}, all, Scopes{}, Deny, CodeCapabilityCeiling}, // G24
		{Effect{Kind: Artifact, Target: "log"}, all, Scopes{}, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Net, Target: "https://api.example.com:443"}, all, Scopes{}, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Net, Target: "https://api.example.com:443"}, local, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Net, Target: "https://api.example.com:443"}, all, scopes, Allow, ""},
		{Effect{Kind: Net, Target: "https://api.example.com:443", Class: ClassPrivate}, all, scopes, Ask, CodePrivateAddress},
		{Effect{Kind: Net, Target: "https://localhost:443", Class: ClassPrivate}, all, scopes, Ask, CodePrivateAddress},
		{Effect{Kind: Net, Target: "https://api.example.com:4433"}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Net, Target: "http://api.example.com:443"}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Net, Target: "https://api.example.com.evil.example:443"}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Run, Target: "go test", Risk: RiskWorkspace}, all, Scopes{}, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Run, Target: "go test", Risk: RiskWorkspace}, Permissions{Read: true}, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Run, Target: "go test", Risk: RiskWorkspace}, all, scopes, Allow, ""},
		{Effect{Kind: Run, Target: "go test ./...", Risk: RiskReadOnly}, all, scopes, Allow, ""},
		{Effect{Kind: Run, Target: "go testing", Risk: RiskReadOnly}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Run, Target: "/tmp/go test", Also: "go test", Risk: RiskReadOnly}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Run, Target: "go test"}, all, scopes, Ask, CodeOpaqueCommand}, // a risk that nobody said
		{Effect{Kind: Run, Target: "git fetch", Risk: RiskNetwork}, all, scopes, Allow, ""},
		{Effect{Kind: Run, Target: "git fetch", Risk: RiskNetwork}, local, scopes, Ask, CodeNetworkCommand},
		{Effect{Kind: Run, Target: "git clean -fdx", Risk: RiskDestructive}, all, scopes, Ask, CodeDestructiveCommand},
		{Effect{Kind: Run, Target: "sudo id", Risk: RiskPrivileged}, all, scopes, Ask, CodePrivilegedCommand},
		{Effect{Kind: Run, Target: "sudo id", Risk: RiskPrivileged}, local, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Run, Target: "git $x", Risk: RiskOpaque}, all, scopes, Deny, CodeCapabilityCeiling}, // unreadable: no pattern covers it
		{Effect{Kind: Run, Target: "git x", Risk: RiskOpaque}, all, scopes, Ask, CodeOpaqueCommand},
		{Effect{Kind: Run, Target: "bash -c 'go test; rm x'", Risk: RiskOpaque}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Run, Target: "go test; rm"}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Secret, Target: "token"}, all, scopes, Ask, CodeApprovalRequired},
		{Effect{Kind: Secret, Target: "other"}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Env, Target: "PATH"}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Signal, Target: "1"}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Display, Target: "x11"}, all, scopes, Deny, CodeCapabilityCeiling},
		{Effect{Kind: Capture, Target: "eth0"}, all, scopes, Deny, CodeCapabilityCeiling},
	} {
		chain := []Caller{{Capability: "csv", Digest: digestA, Permissions: c.has, Scopes: c.s, Consented: true}}
		d := e.Decide(request("event.emit", chain, c.effect))[0]
		p.want(d, c.want, c.code)
		if d = bare.Decide(request("event.emit", chain, c.effect))[0]; c.effect.Kind == Run && d.Verdict == Allow {
			t.Errorf("without a sandbox %s is %s (%s)", d.Effect, d.Verdict, d.Reason)
		}
		chain[0].Consented = false
		if d = e.Decide(request("event.emit", chain, c.effect))[0]; d.Verdict == Allow {
			t.Errorf("nobody enabled it, and %s is %s", d.Effect, d.Verdict)
		}
	}
}

// Nobody gains by calling somebody else.
func TestChains(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - allow: read(shared/**)\n    for: strict\n")
	csv, strict, stranger := reader(), reader(), reader()
	strict.Capability, strict.Scopes.Read = "strict", []string{"data/**", "shared/**"}
	stranger.Capability, stranger.Digest, stranger.Consented = "stranger", digestB, false
	for _, c := range []struct {
		path  string
		chain []Caller
		want  Verdict
	}{
		{"src/x", []Caller{csv}, Allow},
		{"src/x", []Caller{csv, strict}, Deny},
		{"src/x", []Caller{strict, csv}, Deny},
		{"data/x", []Caller{csv, strict}, Allow},
		{"data/x", []Caller{csv, stranger}, Ask},
		{"data/x", []Caller{stranger, csv}, Ask},
		{"shared/x", []Caller{strict, stranger}, Ask}, // an allow for one is none for the other
	} {
		if d := p.decide(e, Read, c.path, c.chain...); d.Verdict != c.want {
			t.Errorf("%s by %d callers: %s (%s), want %s", c.path, len(c.chain), d.Verdict, d.Reason, c.want)
		}
	}
}

// A capability that nobody enabled is asked about for all but calling built-in tools.
func TestNotConsented(t *testing.T) {
	p := newPlace(t)
	e := p.engine("", mode(ModeTrusted))
	local := Caller{Capability: "local", Permissions: Permissions{Read: true, Write: true, Artifacts: []string{"report"}}}
	p.want(p.decide(e, Read, "x", local), Ask, CodeNotConsented)
	p.want(p.decide(e, Write, "x", local), Ask, CodeNotConsented)
	p.want(p.decide(e, Read, ".env", local), Deny, CodeProtectedPath)
	p.want(e.Decide(request("fs.read", []Caller{local}, Effect{Kind: ToolCall, Target: "fs.read"}))[0], Allow, "")
	p.want(e.Decide(request("artifact.create", []Caller{local}, Effect{Kind: Artifact, Target: "report"}))[0], Ask, CodeNotConsented)
	bare := Caller{Capability: "local"}
	p.want(p.decide(e, Read, "x", bare), Deny, CodeCapabilityCeiling)
}

// What enabling covers is the classes project and outside, and nothing else.
func TestConsentCovers(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	csv := Caller{Capability: "csv", Digest: digestA, Consented: true, Permissions: Permissions{Read: true, Write: true, OutsideWrite: true, SystemSensitive: true}, Scopes: Scopes{Read: []string{"/**"}, Write: []string{"/**"}}}
	p.put("old", "")
	p.want(p.decide(e, Write, "old", csv), Allow, "")
	p.want(p.decide(e, Write, p.outside+"/new", csv), Allow, "")
	p.want(p.decide(e, Read, "/usr/include/x.h", csv), Ask, CodeNotConsented)
	p.want(p.decide(e, Write, "/usr/x", csv), Ask, CodeSystemPath)
	p.want(p.decide(e, Write, ".vscode/x", csv), Ask, CodeObeyedFile)
	p.want(p.decide(e, Write, p.home+"/.bashrc", csv), Ask, CodeDangerousPath)
	p.want(p.decide(e, Read, ".env", csv), Deny, CodeProtectedPath)
}

// A capability's tool that claims effects of its own is not the person.
func TestThirdPartyToolHasNoEffects(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - allow: read(**)\n")
	r := request("csv.summarize", nil, Effect{Kind: ToolCall, Target: "csv.summarize"}, p.resolve(Read, "x"))
	decisions := e.Decide(r)
	p.want(decisions[0], Allow, "")
	p.want(decisions[1], Deny, CodeCapabilityCeiling)
}
