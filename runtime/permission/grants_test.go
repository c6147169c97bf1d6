package permission

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
)

// settle decides, answers, and returns what was decided and granted.
func (p *place) settle(e *Engine, r Request, a Answer) ([]Decision, []Grant, error) {
	p.Helper()
	return e.Settle(p.Context(), r, e.Decide(r), a)
}

func TestSettleOnce(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	r := request("fs.read", nil, Effect{Kind: ToolCall, Target: "fs.read"}, p.resolve(Read, p.outside+"/x"))
	decided, grants, err := p.settle(e, r, Answer{Choice: Once})
	if err != nil || len(grants) != 0 || decided[0].Layer != LayerDefault || decided[1].Verdict != Allow || decided[1].Layer != LayerApproval {
		t.Errorf("%+v, %v, %v", decided, grants, err)
	}
	p.want(e.Decide(r)[1], Ask, CodeOutsideProject) // once is once
}

func TestSettleRefuse(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	r := request("fs.read", nil, p.resolve(Read, p.outside+"/x"))
	for _, a := range []Answer{{Choice: Refuse, Note: "use the copy\x1b[2J"}, {}, {Choice: "yes"}} {
		decided, grants, err := p.settle(e, r, a)
		var denied *DeniedError
		if !errors.As(err, &denied) || len(grants) != 0 {
			t.Fatalf("%q: %v, %v", a.Choice, grants, err)
		}
		p.want(decided[0], Deny, CodeDeniedByPerson)
		if denied.Note != Printable(a.Note) || strings.Contains(denied.Error(), "\x1b") {
			t.Errorf("note %q", denied.Note)
		}
	}
}

func TestSettleSessionAndProject(t *testing.T) {
	p := newPlace(t)
	p.put("old*", "")
	r := request("fs.write", nil, p.resolve(Write, "old*"))
	e := p.engine("")
	_, grants, err := p.settle(e, r, Answer{Choice: Session})
	if err != nil || len(grants) != 1 || grants[0].Rule != `allow: overwrite(old\*)` || grants[0].Session != "s1" || grants[0].For != "" {
		t.Fatalf("%+v, %v", grants, err)
	}
	again := p.engine("") // another process of the session
	d := again.Decide(r)[0]
	if d.Verdict != Allow || d.Layer != LayerGrant || !strings.Contains(d.Rule, grants[0].ID) {
		t.Errorf("in the session: %+v", d)
	}
	other := r
	other.SessionID = "s2"
	p.want(again.Decide(other)[0], Ask, CodeOverwrite)
	if q := e.Question(other, e.Decide(other)); len(q.Rules) != 1 || q.Rules[0] != grants[0].Rule {
		t.Errorf("the question offers %v", q.Rules)
	}
	if _, _, err := p.settle(e, other, Answer{Choice: Project}); err != nil {
		t.Fatal(err)
	}
	p.want(p.engine("").Decide(other)[0], Allow, "")
	p.put("older", "")
	p.want(p.decide(p.engine(""), Write, "older"), Ask, CodeOverwrite) // the grant is exactly that path
}

// What has no "always" is not offered for the project, and a grant for always does not open it.
func TestNoAlways(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	r := request("fs.write", nil, p.resolve(Write, ".envrc"))
	q := e.Question(r, e.Decide(r))
	if len(q.Rules) != 0 || q.OnceOnly {
		t.Errorf("offered: %+v", q)
	}
	if _, _, err := p.settle(e, r, Answer{Choice: Project}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a choice that was not offered: %v", err)
	}
	if _, err := e.AddGrant(p.Context(), Grant{Rule: "allow: create(.envrc)"}); err != nil {
		t.Fatal(err)
	}
	p.want(e.Decide(r)[0], Ask, CodeObeyedFile)
	if _, _, err := p.settle(e, r, Answer{Choice: Session}); err != nil {
		t.Fatal(err)
	}
	p.want(e.Decide(r)[0], Allow, "")
}

// A grant turns questions into an allow; never a denial, never a ceiling.
func TestGrantsOnlyAnswerQuestions(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - deny: read(denied)\n  - ask: read(asked)\n  - ask: read(sub/.env)\n")
	for _, rule := range []string{"allow: read(**)", "allow: read(.env)", "allow: read(sub/.env)", "allow: write(.air/shared/x)", "allow: read(asked)"} {
		if _, err := e.AddGrant(p.Context(), Grant{Rule: rule, Session: "s1"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.AddGrant(p.Context(), Grant{Rule: "allow: write(**)", For: "csv@" + digestA}); err != nil {
		t.Fatal(err)
	}
	p.want(p.decide(e, Read, "denied"), Deny, CodeDeniedByRule)
	p.want(p.decide(e, Read, ".env"), Deny, CodeProtectedPath)
	p.want(p.decide(e, Write, ".air/shared/x"), Deny, CodeFloorShared)
	p.want(p.decide(e, Write, "x", reader()), Deny, CodeCapabilityCeiling)
	p.want(p.decide(e, Read, "asked"), Allow, "")
	p.want(p.decide(e, Read, "sub/.env"), Allow, "") // a person's own rule made it a question
}

func TestC2GrantsOfOthers(t *testing.T) {
	p := newPlace(t)
	csv := reader()
	csv.Consented = false
	e := p.engine("")
	r := request("fs.read", []Caller{csv}, p.resolve(Read, "data/x"))
	_, grants, err := p.settle(e, r, Answer{Choice: Project})
	if err != nil || len(grants) != 1 || grants[0].For != "csv@"+digestA {
		t.Fatalf("%+v, %v", grants, err)
	}
	p.want(p.decide(e, Read, "data/x", csv), Allow, "")
	newer, other := csv, csv
	newer.Digest, other.Capability = digestB, "tsv"
	p.want(p.decide(e, Read, "data/x", newer), Ask, CodeNotConsented)
	p.want(p.decide(e, Read, "data/x", other), Ask, CodeNotConsented)
	p.want(p.decide(e, Read, "data/x", csv, other), Ask, CodeNotConsented)
	// Another project has another file, and does not take this one's.
	second := p.outside + "/second"
	p.mkdir(second)
	elsewhere, err := Load(Options{Paths: NewPaths(PathsConfig{ProjectRoot: second}), GrantsFile: p.air + "/grants/p2.json"})
	if err != nil || len(elsewhere.Grants()) != 0 {
		t.Fatalf("%v, %v", elsewhere, err)
	}
	own := p.air + "/grants/p1.json"
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	p.put(p.air+"/grants/p2.json", string(text))
	if _, err := Load(Options{Paths: NewPaths(PathsConfig{ProjectRoot: second}), GrantsFile: p.air + "/grants/p2.json"}); !fault.Is(err, fault.Integrity) {
		t.Errorf("a grant file of another project: %v", err)
	}
}

// An answer about a module without a digest could be used by any other: it is for once.
func TestC2ModuleWithoutDigest(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	local := Caller{Capability: "local", Permissions: Permissions{Read: true}}
	r := request("fs.read", []Caller{local}, p.resolve(Read, "x"))
	if q := e.Question(r, e.Decide(r)); !q.OnceOnly || len(q.Rules) != 0 {
		t.Errorf("offered: %+v", q)
	}
	for _, choice := range []Choice{Session, Project} {
		if _, grants, err := p.settle(e, r, Answer{Choice: choice}); err == nil || len(grants) != 0 {
			t.Errorf("%s: %v, %v", choice, grants, err)
		}
	}
}

// Without a session an answer for the session would be one for always.
func TestNoSession(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	r := request("fs.read", nil, p.resolve(Read, p.outside+"/x"))
	r.SessionID = ""
	if _, grants, err := p.settle(e, r, Answer{Choice: Session}); err == nil || len(grants) != 0 {
		t.Errorf("%v, %v", grants, err)
	}
}

// Each caller that was in question gets the grant, those that were not do not.
func TestGrantsForChain(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	csv, stranger := reader(), reader()
	stranger.Capability, stranger.Digest, stranger.Consented = "stranger", digestB, false
	r := request("fs.read", []Caller{csv, stranger}, p.resolve(Read, "x"))
	_, grants, err := p.settle(e, r, Answer{Choice: Project})
	if err != nil || len(grants) != 1 || grants[0].For != "stranger@"+digestB {
		t.Fatalf("%+v, %v", grants, err)
	}
	p.want(e.Decide(r)[0], Allow, "")
}

func TestSettleDenied(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	r := request("fs.read", nil, p.resolve(Read, ".env"), p.resolve(Read, p.outside+"/x"))
	var denied *DeniedError
	if _, _, err := p.settle(e, r, Answer{Choice: Once}); !errors.As(err, &denied) || denied.Decision.Code != CodeProtectedPath {
		t.Errorf("a denied effect was answered: %v", err)
	}
}

func TestAddRevokeExpire(t *testing.T) {
	p := newPlace(t)
	now := testNow
	e := p.engine("", func(o *Options) { o.Clock = func() time.Time { return now } })
	for _, bad := range []Grant{
		{}, {Rule: "read(x)"}, {Rule: "deny: read(x)"}, {Rule: "ask: read(x)"}, {Rule: "allow: read(../x)"}, {Rule: "allow: reed(x)"},
		{Rule: "allow: read(x)", For: "csv"}, {Rule: "allow: read(x)", For: "csv@latest"},
	} {
		if _, err := e.AddGrant(p.Context(), bad); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	g, err := e.AddGrant(p.Context(), Grant{Rule: "allow: read(" + p.outside + "/**)", Expires: now.Add(time.Hour)})
	if err != nil || g.ID == "" || !g.Created.Equal(now) {
		t.Fatalf("%+v, %v", g, err)
	}
	p.want(p.decide(e, Read, p.outside+"/x"), Allow, "")
	now = now.Add(time.Hour)
	p.want(p.decide(e, Read, p.outside+"/x"), Ask, CodeOutsideProject)
	if len(e.Grants()) != 0 {
		t.Errorf("expired and listed: %v", e.Grants())
	}
	if g, err = e.AddGrant(p.Context(), Grant{Rule: "allow: read(" + p.outside + "/**)"}); err != nil {
		t.Fatal(err)
	}
	if len(p.engine("").Grants()) != 1 {
		t.Error("the expired grant is still stored")
	}
	if _, err := e.Revoke(p.Context(), "nothing"); !fault.Is(err, fault.NotFound) {
		t.Errorf("revoking nothing: %v", err)
	}
	if _, err := e.Revoke(p.Context(), ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("revoking an empty id: %v", err)
	}
	if got, err := e.Revoke(p.Context(), g.ID); err != nil || got.Rule != g.Rule {
		t.Errorf("%+v, %v", got, err)
	}
	p.want(p.decide(e, Read, p.outside+"/x"), Ask, CodeOutsideProject)
	info := p.stat(p.air + "/grants/p1.json")
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// What is stored can be read again: one grant too many is refused, and takes none away.
func TestGrantsStayReadable(t *testing.T) {
	p := newPlace(t)
	now := testNow
	clock := func(o *Options) { o.Clock = func() time.Time { return now } }
	e := p.engine("", clock)
	many := func() (grants []Grant) {
		for i := range 500 {
			grants = append(grants, Grant{Rule: fmt.Sprintf("allow: read(data/%d)", i), Session: "s1", Expires: now.Add(time.Hour)})
		}
		return grants
	}
	stored := 0
	var err error
	for ; err == nil && stored < 5000; stored += 500 {
		_, err = e.addGrants(p.Context(), many())
	}
	if stored -= 500; !fault.Is(err, fault.ResourceExhausted) || fault.From(err).Hint == "" || stored == 0 || len(e.Grants()) != stored {
		t.Fatalf("%d grants, %d count: %v", stored, len(e.Grants()), err)
	}
	again := p.engine("", clock)
	if len(again.Grants()) != stored {
		t.Errorf("%d of %d grants are read", len(again.Grants()), stored)
	}
	if _, err := again.Revoke(p.Context(), again.Grants()[0].ID); err != nil {
		t.Error(err)
	}
	now = now.Add(time.Hour)
	if _, err := e.AddGrant(p.Context(), Grant{Rule: "allow: read(x)"}); err != nil || len(p.engine("", clock).Grants()) != 1 {
		t.Errorf("when those have expired: %v", err)
	}
}

func TestBrokenGrantFile(t *testing.T) {
	p := newPlace(t)
	file := p.air + "/grants/p1.json"
	for _, text := range []string{"", "{", `{"schema_version":1}`, `{"schema_version":1,"project":"` + p.root + `","grants":[{"rule":"deny: read(x)"}]}`, `{"schema_version":1,"project":"` + p.root + `","more":1}`} {
		p.put(file, text)
		if _, err := Load(Options{Paths: p.paths, GrantsFile: p.air + "/grants/p1.json"}); !fault.Is(err, fault.Integrity) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Two processes that grant at once both succeed, and readers are not disturbed.
func TestGrantsAtOnce(t *testing.T) {
	p := newPlace(t)
	engines := []*Engine{p.engine(""), p.engine("")}
	effect := p.resolve(Read, p.outside+"/x")
	var wg sync.WaitGroup
	for _, e := range engines {
		for range 2 {
			wg.Go(func() {
				for range 5 {
					if _, err := e.AddGrant(p.Context(), Grant{Rule: "allow: read(docs/x)"}); err != nil {
						t.Error(err)
					}
					e.Decide(request("fs.read", nil, effect))
				}
			})
		}
	}
	wg.Wait()
	if got := len(p.engine("").Grants()); got != 20 {
		t.Errorf("%d grants stored, want 20", got)
	}
}

// Without a file for grants they last as long as the engine.
func TestGrantsInMemory(t *testing.T) {
	p := newPlace(t)
	e := p.engine("", func(o *Options) { o.GrantsFile = "" })
	r := request("fs.read", nil, p.resolve(Read, p.outside+"/x"))
	if _, _, err := p.settle(e, r, Answer{Choice: Session}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.AddGrant(p.Context(), Grant{Rule: "allow: read(y)"}); err != nil {
		t.Fatal(err)
	}
	p.want(e.Decide(r)[0], Allow, "")
}
