package permission

import (
	"strings"
	"testing"
)

// The answer for any public host is offered for public hosts alone, late, to a person or
// their agent, and not against a rule.
func TestAnyHost(t *testing.T) {
	ask := func(kind Kind, class Class, layer Layer) Decision {
		return Decision{Effect: Effect{Kind: kind, Target: "https://a.example:443", Class: class}, Verdict: Ask, Layer: layer}
	}
	public := ask(Net, "", LayerDefault)
	late := Request{Late: true, SessionID: "s"}
	called := late
	called.Chain = []Caller{{Capability: "x", Digest: "sha256:x"}}
	for name, c := range map[string]struct {
		request Request
		asks    []Decision
		want    bool
	}{
		"public":     {late, []Decision{public, public}, true},
		"planned":    {Request{SessionID: "s"}, []Decision{public}, false},
		"capability": {called, []Decision{public}, false},
		"private":    {late, []Decision{public, ask(Net, ClassPrivate, LayerDefault)}, false},
		"command":    {late, []Decision{public, ask(Run, "", LayerDefault)}, false},
		"ask rule":   {late, []Decision{ask(Net, "", LayerRule)}, false},
	} {
		if got := onlyHosts(&c.request, c.asks); got != c.want {
			t.Errorf("%s: offered %v", name, got)
		}
	}
}

func TestAnyHostIsShownAndRead(t *testing.T) {
	for _, offered := range []bool{false, true} {
		q := Question{Tool: "shell.run", OnceOnly: true, AnyHost: offered, Asks: []Decision{{Effect: Effect{Kind: Net, Target: "https://a.example:443"}}}}
		text, q, err := render(q, 80)
		if err != nil || strings.Contains(text, "\n  h = any public host") != offered {
			t.Errorf("%v\n%s", err, text)
		}
		if a, ok := parseAnswer("h", q); ok != offered || a.Choice != AnyHost {
			t.Errorf("%v, %v", a, ok)
		}
	}
}
