package permission

import (
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

func fetch(t *testing.T, url string) Effect {
	t.Helper()
	e, err := NetTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What a credential was used for decides nothing; that one was used does.
func TestFlow(t *testing.T) {
	p := newPlace(t)
	key, token := p.home+"/.aws/credentials", "secret(acme-token)"
	const rules = `schema_version: 1
rules:
  - allow: net(**)
  - allow: run(curl **)
  - allow: net(https://aws.example:443)
    after: read(~/.aws/credentials)
  - allow: net(https://*.acme.example:443)
    after: ["secret(acme-*)", "read(~/.aws/**)"]
  - allow: run(aws **)
    after: read(~/.aws/*)
  - allow: net(https://csv.example:443)
    after: secret(acme-token)
    for: csv
  - deny: net(https://no.acme.example:443)
`
	csv := Caller{Capability: "csv", Digest: digestA, Consented: true, Permissions: Permissions{Network: true, Execute: true}, Scopes: Scopes{Network: []string{"https://*:443"}, Commands: []string{"**"}}}
	other := csv
	other.Capability = "tsv"
	e := p.engine(rules)
	for _, c := range []struct {
		name   string
		effect Effect
		used   []string
		chain  []Caller
		want   Verdict
		layer  Layer
	}{
		{"nothing used", fetch(t, "https://x.example"), nil, nil, Allow, LayerRule},
		{"an allow alone", fetch(t, "https://x.example"), []string{key}, nil, Deny, LayerFlow},
		{"the pair", fetch(t, "https://aws.example"), []string{key}, nil, Allow, LayerRule},
		{"the pair and more", fetch(t, "https://aws.example"), []string{key, token}, nil, Deny, LayerFlow},
		{"another credential", fetch(t, "https://aws.example"), []string{p.home + "/.ssh/id_rsa"}, nil, Deny, LayerFlow},
		{"another host", fetch(t, "https://aws.example:444"), []string{key}, nil, Deny, LayerFlow},
		{"a list", fetch(t, "https://a.acme.example"), []string{token, key, "secret(acme-other)"}, nil, Allow, LayerRule},
		{"a list and more", fetch(t, "https://a.acme.example"), []string{token, "secret(other)"}, nil, Deny, LayerFlow},
		{"a secret is no path", fetch(t, "https://a.acme.example"), []string{"secret(" + key + ")"}, nil, Deny, LayerFlow},
		{"a deny stays", fetch(t, "https://no.acme.example"), []string{token}, nil, Deny, LayerRule},
		{"a private host", fetch(t, "https://localhost"), []string{key}, nil, Deny, LayerFlow},
		{"a command with hosts", Effect{Kind: Run, Target: "curl x", Risk: RiskNetwork}, []string{key}, nil, Deny, LayerFlow},
		{"a command of the pair", Effect{Kind: Run, Target: "aws s3 ls", Risk: RiskNetwork}, []string{key}, nil, Ask, LayerDefault},
		{"a command that is not known", Effect{Kind: Run, Target: "x", Risk: RiskOpaque}, []string{key}, nil, Ask, LayerDefault},
		{"a command that deletes", Effect{Kind: Run, Target: "x", Risk: RiskDestructive}, []string{key}, nil, Ask, LayerDefault},
		{"a command of others", Effect{Kind: Run, Target: "x", Risk: RiskPrivileged}, []string{key}, nil, Deny, LayerFlow},
		{"a command that deletes on a host", Effect{Kind: Run, Target: "x", Risk: RiskDestructive, Hosts: true}, []string{key}, nil, Deny, LayerFlow},
		{"a command without hosts", Effect{Kind: Run, Target: "curl x", Risk: RiskWorkspace}, []string{key}, nil, Allow, LayerRule},
		{"a read", p.resolve(Read, "x"), []string{key}, nil, Allow, LayerDefault},
		{"by a capability", fetch(t, "https://csv.example"), []string{token}, []Caller{csv}, Allow, LayerConsent},
		{"a person's pair", fetch(t, "https://aws.example"), []string{key}, []Caller{csv}, Deny, LayerFlow},
		{"a capability's pair", fetch(t, "https://csv.example"), []string{token}, nil, Deny, LayerFlow},
		{"by another", fetch(t, "https://csv.example"), []string{token}, []Caller{other}, Deny, LayerFlow},
		{"through another", fetch(t, "https://csv.example"), []string{token}, []Caller{csv, other}, Deny, LayerFlow},
		{"nothing used, by a capability", fetch(t, "https://csv.example"), nil, []Caller{csv}, Allow, LayerConsent},
	} {
		tool := "network.fetch"
		if c.effect.Kind != Net {
			tool = "shell.run"
		}
		r := request(tool, c.chain, c.effect)
		r.Credentials = c.used
		d := e.Decide(r)[0]
		if d.Verdict != c.want || d.Layer != c.layer || (d.Layer == LayerFlow) != (d.Code == CodeCredentialsFlow) {
			t.Errorf("%s: %s by %s, %s (%s); want %s by %s", c.name, d.Verdict, d.Layer, d.Code, d.Rule, c.want, c.layer)
		}
		x := e.Explain(r)[0]
		for _, s := range x.Steps {
			if s.Layer == LayerFlow && (s.Answer == "deny") != (d.Layer == LayerFlow) && d.Layer != LayerRule {
				t.Errorf("%s: explained as %+v", c.name, s)
			}
		}
		if bound, denied := e.Bound(r, c.effect); !c.effect.Kind.IsPath() && (denied != (c.want == Deny) || bound.Layer != d.Layer) {
			t.Errorf("%s: beforehand it is %+v", c.name, bound)
		}
	}
}

// A capability is not told which credential was used.
func TestFlowTellsNoNames(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	r := request("network.fetch", nil, fetch(t, "https://x.example"))
	r.Credentials = []string{p.home + "/.ssh/id_rsa"}
	d := e.Decide(r)[0]
	if !strings.Contains(d.Rule, ".ssh/id_rsa") {
		t.Errorf("a person is told %+v", d)
	}
	told := (&DeniedError{Decision: d}).ToCapability()
	if text := told.Error() + told.Decision.Hint + told.Decision.Rule; strings.Contains(text, "id_rsa") {
		t.Errorf("a capability is told %s", text)
	}
}

// A grant, an answer and a mode open nothing of this.
func TestFlowIsNoQuestion(t *testing.T) {
	p := newPlace(t)
	e := p.engine("", mode(ModeTrusted))
	if _, err := e.AddGrant(t.Context(), Grant{Rule: "allow: net(https://x.example:443)"}); err != nil {
		t.Fatal(err)
	}
	r := request("network.fetch", nil, fetch(t, "https://x.example"))
	p.want(e.Decide(r)[0], Allow, "")
	r.Credentials = []string{"secret(a)"}
	p.want(e.Decide(r)[0], Deny, CodeCredentialsFlow)
	if _, grants, err := p.settle(e, r, Answer{Choice: Once}); err == nil || len(grants) != 0 {
		t.Errorf("answered: %v, %v", grants, err)
	}
}

func TestFlowRules(t *testing.T) {
	p := newPlace(t)
	for text, want := range map[string]string{
		"  - deny: net(*)\n    after: read(~/.ssh/**)\n":      "after: belongs to an allow of net or run",
		"  - ask: net(*)\n    after: read(~/.ssh/**)\n":       "after: belongs to an allow",
		"  - allow: read(x)\n    after: read(~/.ssh/**)\n":    "after: belongs to an allow",
		"  - allow: net(*)\n    after: []\n":                  "after: names no credentials",
		"  - allow: net(*)\n    after: raed(x)\n":             `after: unknown effect "raed", did you mean "read"`,
		"  - allow: net(*)\n    after: create(x)\n":           "after: \"create(x)\": credentials are used by",
		"  - allow: net(*)\n    after: [read(../x)]\n":        "has \"..\"",
		"  - allow: net(*)\n    after: 5\n":                   "",
		"  - allow: net(*)\n    after: {a: b}\n":              "",
		"  - allow: net(*)\n    aftr: read(~/.ssh/**)\n":      `unknown key "aftr", did you mean "after"`,
		"  - allow: net(*)\n    after: [read(~/.ssh/x), 1]\n": "",
	} {
		_, err := parseRules([]byte("schema_version: 1\nrules:\n"+text), "rules.yaml", TierUser, p.paths)
		if !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	project := func(o *Options) {
		o.ProjectFile = p.put(".air/shared/permissions.yaml", "schema_version: 1\nrules:\n  - allow: net(https://x.example:443)\n    after: read(~/.ssh/**)\n")
		o.Accepted = func([]byte) bool { return true }
	}
	e := p.engine(`schema_version: 1
rules:
  - allow: net(https://x.example:443)
    after: read(/**)
  - allow: net(https://x.example:443)
    after: secret(*)
  - allow: net(https://x.example:443)
    after: [read(~/.ssh/**), read(~/**)]
  - allow: net(https://x.example:443)
    after: read(~/.ssh/**)
    expires: 2026-01-01
`, project)
	for _, info := range e.Rules() {
		if info.Inactive == "" || len(info.After) == 0 {
			t.Errorf("counts: %+v", info)
		}
	}
	r := request("network.fetch", nil, fetch(t, "https://x.example"))
	for _, used := range []string{p.home + "/.ssh/x", "secret(x)"} {
		r.Credentials = []string{used}
		p.want(e.Decide(r)[0], Deny, CodeCredentialsFlow)
	}
}

// A rule with after counts for nothing else, and shadows nothing.
func TestFlowRuleIsNoAllow(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - allow: net(https://x.example:443)\n    after: read(~/.ssh/**)\n  - allow: net(https://x.example:443)\n    for: csv\n  - ask: net(*)\n")
	p.want(e.Decide(request("network.fetch", nil, fetch(t, "https://x.example")))[0], Ask, CodeAskedByRule)
	if info := e.Rules()[0]; info.Warning != "" || info.Inactive != "" {
		t.Errorf("%+v", info)
	}
}
