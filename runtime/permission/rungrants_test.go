package permission

import (
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

const (
	scriptOne = "1111111111111111111111111111111111111111111111111111111111111111"
	scriptTwo = "2222222222222222222222222222222222222222222222222222222222222222"
)

// S22: a grant for a command is for the script as it was.
func TestS22ScriptRewritten(t *testing.T) {
	p := newPlace(t)
	for _, choice := range []Choice{Session, Project} {
		e := p.engine("", func(o *Options) { o.GrantsFile = p.air + "/grants/" + string(choice) + ".json" })
		f := Effect{Kind: Run, Target: "bash ./deploy.sh", Risk: RiskNetwork, Script: "./deploy.sh", ScriptSHA256: scriptOne}
		r := request("shell.run", nil, f)
		_, grants, err := p.settle(e, r, Answer{Choice: choice})
		if err != nil || len(grants) != 1 || grants[0].ScriptSHA256 != scriptOne || grants[0].Rule != "allow: run(bash ./deploy.sh)" {
			t.Fatalf("%s: %+v, %v", choice, grants, err)
		}
		again := p.engine("", func(o *Options) { o.GrantsFile = p.air + "/grants/" + string(choice) + ".json" })
		p.want(again.Decide(r)[0], Allow, "")
		for name, other := range map[string]func(*Effect){
			"rewritten":          func(f *Effect) { f.ScriptSHA256 = scriptTwo },
			"gone":               func(f *Effect) { f.Script, f.ScriptSHA256 = "", "" },
			"not readable":       func(f *Effect) { f.ScriptSHA256 = "" },
			"with an argument":   func(f *Effect) { f.Target += " x" },
			"of another name":    func(f *Effect) { f.Target = "bash ./other.sh" },
			"by another program": func(f *Effect) { f.Target = "sh ./deploy.sh" },
		} {
			changed := f
			other(&changed)
			if d := again.Decide(request("shell.run", nil, changed))[0]; d.Verdict != Ask {
				t.Errorf("%s, %s: %s", choice, name, d.Verdict)
			}
		}
	}
	e := p.engine("")
	if _, err := e.AddGrant(t.Context(), Grant{Rule: "allow: run(bash **)"}); err != nil {
		t.Fatal(err)
	}
	f := Effect{Kind: Run, Target: "bash ./deploy.sh", Risk: RiskNetwork, Script: "./deploy.sh", ScriptSHA256: scriptOne}
	p.want(e.Decide(request("shell.run", nil, f))[0], Ask, CodeNetworkCommand) // a grant without the digest
	for _, bad := range []Grant{{Rule: "allow: run(x)", ScriptSHA256: "12"}, {Rule: "allow: read(x)", ScriptSHA256: scriptOne}, {Rule: "allow: run(x)", ScriptSHA256: strings.ToUpper("a" + scriptOne[1:])}} {
		if _, err := e.AddGrant(t.Context(), bad); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A script whose content is not known could be another one next time.
func TestS22UnknownScript(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	r := request("shell.run", nil, Effect{Kind: Run, Target: "./x.sh", Risk: RiskOpaque, Script: "./x.sh"})
	if q := e.Question(r, e.Decide(r)); !q.OnceOnly || len(q.Rules) != 0 {
		t.Errorf("offered %+v", q)
	}
	if _, grants, err := p.settle(e, r, Answer{Choice: Session}); err == nil || len(grants) != 0 {
		t.Errorf("%v, %v", grants, err)
	}
}

// C1: what was approved is exactly the arguments that were shown.
func TestC1ArgumentsChanged(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	approved := [][]string{
		{"git", "push", "origin", "main"}, {"curl", "https://x.example/*"}, {"echo", "**"}, {"psql", "-c", "select 'a  b'\n\tfrom x"}, {"x", ""}, {"bash", "-c", "a && b"},
	}
	for _, argv := range approved {
		r := request("shell.run", nil, Effect{Kind: Run, Target: JoinArgv(argv), Risk: RiskNetwork})
		if _, grants, err := p.settle(e, r, Answer{Choice: Project}); err != nil || len(grants) != 1 {
			t.Fatalf("%q: %v, %v", argv, grants, err)
		}
		if d := p.engine("").Decide(r)[0]; d.Verdict != Allow || d.Layer != LayerGrant {
			t.Errorf("%q: %+v", argv, d)
		}
	}
	for _, argv := range [][]string{
		{"git", "push", "origin", "main", "--force"}, {"git", "push", "origin"}, {"git", "push", "origin", "main "}, {"git", "push origin main"}, {"/tmp/git", "push", "origin", "main"}, {"git", "push", "origin", "Main"},
		{"curl", "https://x.example/a"}, {"curl", "https://x.example/a/b"}, {"echo", "a"}, {"echo"}, {"echo", "a", "b"}, {"psql", "-c", "select 'a b'\n\tfrom x"}, {"psql", "-c", "select 'a  b' from x"}, {"x"}, {"x", "", ""}, {"bash", "-c", "a && c"},
	} {
		if d := e.Decide(request("shell.run", nil, Effect{Kind: Run, Target: JoinArgv(argv), Risk: RiskNetwork}))[0]; d.Verdict != Ask {
			t.Errorf("%q: %s by %s", argv, d.Verdict, d.Rule)
		}
	}
	// The same for the other effects of a call.
	r := request("network.fetch", nil, fetch(t, "https://x.example"))
	if _, _, err := p.settle(e, r, Answer{Choice: Session}); err != nil {
		t.Fatal(err)
	}
	p.want(e.Decide(r)[0], Allow, "")
	for _, url := range []string{"https://x.example:444", "http://x.example:443", "https://y.x.example", "https://x.example.evil"} {
		p.want(e.Decide(request("network.fetch", nil, fetch(t, url)))[0], Ask, CodeApprovalRequired)
	}
}

// C2: a grant for a command is for one capability in one version.
func TestC2RunGrants(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	csv := Caller{Capability: "csv", Digest: digestA, Permissions: Permissions{Execute: true}, Scopes: Scopes{Commands: []string{"make **"}}}
	f := Effect{Kind: Run, Target: "make report", Risk: RiskWorkspace}
	if _, grants, err := p.settle(e, request("shell.run", []Caller{csv}, f), Answer{Choice: Project}); err != nil || len(grants) != 1 || grants[0].For != "csv@"+digestA {
		t.Fatalf("%v, %v", grants, err)
	}
	p.want(e.Decide(request("shell.run", []Caller{csv}, f))[0], Allow, "")
	newer, other := csv, csv
	newer.Digest, other.Capability = digestB, "tsv"
	for _, chain := range [][]Caller{{newer}, {other}, {csv, other}, {csv, newer}} {
		p.want(e.Decide(request("shell.run", chain, f))[0], Ask, CodeNotConsented)
	}
	f.Risk = RiskDestructive
	p.want(e.Decide(request("shell.run", nil, f))[0], Ask, CodeDestructiveCommand) // the person was not asked
}

// Answers last for the kinds without paths as they do for paths.
func TestGrantsOfOtherKinds(t *testing.T) {
	p := newPlace(t)
	for _, f := range []Effect{
		fetch(t, "https://x.example"), {Kind: Env, Target: "GIT_DIR"}, {Kind: Env, Target: "A*[b]"}, {Kind: Secret, Target: "token"}, {Kind: Display, Target: "x11"}, {Kind: Capture, Target: "eth0"},
		{Kind: Signal, Target: "4711"}, {Kind: Run, Target: "sudo id", Risk: RiskPrivileged}, fetch(t, "https://localhost"),
	} {
		lasting := f.Kind != Signal && f.Risk != RiskPrivileged && f.Class != ClassPrivate
		e := p.engine("", func(o *Options) { o.GrantsFile = "" })
		tool := "network.fetch"
		r := request(tool, nil, f)
		if q := e.Question(r, e.Decide(r)); (len(q.Rules) == 1) != lasting || q.OnceOnly {
			t.Errorf("%s: offered %+v", f, q)
		}
		if _, grants, err := p.settle(e, r, Answer{Choice: Session}); err != nil || len(grants) != 1 || grants[0].Session != "s1" {
			t.Errorf("%s: %+v, %v", f, grants, err)
		}
		p.want(e.Decide(r)[0], Allow, "")
		other := r
		if other.SessionID = "s2"; e.Decide(other)[0].Verdict != Ask {
			t.Errorf("%s is allowed in another session", f)
		}
		_, grants, err := p.settle(e, other, Answer{Choice: Project})
		if (err == nil) != lasting || (len(grants) == 1) != lasting {
			t.Errorf("%s: for the project %+v, %v", f, grants, err)
		}
		if other.SessionID = "s3"; (e.Decide(other)[0].Verdict == Allow) != lasting {
			t.Errorf("%s: in a third session %s", f, e.Decide(other)[0].Verdict)
		}
	}
}

// An answer about a folder with all in it lasts for what is in it, but opens nothing that
// is asked about by itself.
func TestRecursiveGrant(t *testing.T) {
	p := newPlace(t)
	p.mkdir(p.outside + "/data")
	e := p.engine("")
	f := p.resolve(Read, p.outside+"/data")
	f.Recursive = true
	if _, grants, err := p.settle(e, request("fs.read", nil, f), Answer{Choice: Session}); err != nil || grants[0].Rule != "allow: read("+p.outside+"/data/**)" {
		t.Fatalf("%+v, %v", grants, err)
	}
	p.want(p.decide(e, Read, p.outside+"/data/a/b"), Allow, "")
	p.want(p.decide(e, Read, p.outside+"/data"), Allow, "")
	p.want(p.decide(e, Read, p.outside+"/data2"), Ask, CodeOutsideProject)
	p.want(p.decide(e, Read, p.outside+"/data/id_rsa"), Ask, CodeCredentials)
}
