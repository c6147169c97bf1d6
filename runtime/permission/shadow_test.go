package permission

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestShadowedRules(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		first, second string
		shadowed      int // 1, 2 or neither
	}{
		{"deny: write(**)", "allow: write(docs/**)", 2},
		{"deny: write(**)", "allow: create(docs/a.md)", 2},
		{"deny: create(**)", "allow: write(docs/**)", 0},
		{"deny: write(docs/**)", "allow: write(**)", 0},
		{"allow: write(docs/**)", "deny: write(**)", 1},
		{"ask: read(docs/**)", "allow: read(docs/*.md)", 2},
		{"ask: read(docs/**)", "deny: read(docs/*.md)", 0},
		{"allow: read(docs/**)", "allow: read(docs/a/*.md)", 2},
		{"allow: read(docs/a/*.md)", "allow: read(docs/**)", 1},
		{"allow: read(docs/**)", "allow: read(docs)", 2},
		{"allow: read(docs/*)", "allow: read(docs/a/b)", 0},
		{"allow: read(docs/*)", "allow: read(docs/**)", 1},
		{"allow: read(docs/a*)", "allow: read(docs/*)", 1},
		{"allow: read(docs/a*c)", "allow: read(docs/abc)", 2},
		{"allow: read(docs/{a,b}/**)", "allow: read(docs/a/x)", 2},
		{"allow: read(docs/**)", "allow: read(docs/{a,b}/**)", 2},
		{"allow: read(docs/a/**)", "allow: read(docs/{a,b}/**)", 0},
		{"allow: read(docs/[!a]x)", "allow: read(docs/*)", 0}, // the class takes a slash too
		{"allow: read(docs/[ab]x)", "allow: read(docs/**)", 1},
		{"allow: read(docs/**)", "deny: read(docs/**)", 1},
		{"ask: read(**)", "allow: read(.env)", 0}, // the ask does not name it, and does not count there
		{"deny: read(**)", "allow: read(.env)", 2},
		{"allow: read(**)", "allow: read(.env)", 0},
		{"allow: read(/usr/**)", "allow: read(/usr/lib)", 2},
		{"deny: read(a) for csv", "deny: read(a)", 1},
		{"deny: read(a)", "deny: read(a) for csv", 2},
		{"deny: read(a)", "allow: read(a) for csv", 2},
		{"allow: read(a)", "allow: read(a) for csv", 0},
		{"allow: read(a) for csv", "allow: read(a)", 0},
		{"allow: read(a) for csv", "allow: read(a) for csv@" + digestA, 2},
		{"allow: read(a) for csv@" + digestA, "allow: read(a) for csv@" + digestB, 0},
		{"allow: read(a) for csv", "allow: read(a) for tsv", 0},
		{"deny: read(a) until 2026-07-01", "allow: read(a)", 0},
		{"deny: read(a) until 2026-07-01", "allow: read(a) until 2026-06-30", 2},
		{"deny: read(a)", "allow: read(a) until 2026-06-30", 2},
		{"deny: read(a) until 2026-05-01", "allow: read(a)", 0}, // it has ended
		{"allow: run(go **)", "allow: run(go test **)", 2},
		{"allow: run(go test **)", "allow: run(go **)", 1},
		{"deny: run(**)", "allow: run(go test)", 2},
		{"allow: run(**)", "allow: run(go test)", 0}, // the second names a program, and opens more
		{"allow: run(* test)", "ask: run(go test)", 0},
		{"ask: run(* test)", "allow: run(go test)", 2},
		{"ask: run(** --force **)", "allow: run(git push --force)", 2},
		{"ask: run(** --force **)", "allow: run(git push **)", 0},
		{"ask: run(cat *.go)", "allow: run(cat a*.go)", 2},
		{"ask: run(cat *.go)", "allow: run(cat '*.go')", 2},
		{"ask: run(cat '*.go')", "allow: run(cat *.go)", 0},
		{"ask: net(*)", "allow: net(https://a.example:443)", 2},
		{"ask: net(https://*.a.example:*)", "allow: net(https://*.b.a.example:443)", 2},
		{"ask: net(https://*.a.example:443)", "allow: net(https://a.example:443)", 0},
		{"ask: net(https://*:443)", "allow: net(https://*.a.example:443)", 2},
		{"ask: net(https://*.a.example:443)", "allow: net(https://*:443)", 0},
		{"ask: net(https://*.a.example:443)", "allow: net(*://*.a.example:443)", 0},
		{"allow: net(*)", "allow: net(http://localhost:80)", 0}, // only a name opens a private host
		{"deny: tool(fs.*)", "allow: tool(fs.read)", 2},
		{"deny: tool(fs.*)", "allow: tool(f*.read)", 0},
		{"deny: secret(**)", "allow: secret(a)", 2},
		{"deny: env(A*)", "ask: env(AB*)", 2},
		{"deny: read(a)", "deny: create(a)", 0},
	} {
		e := p.engine("schema_version: 1\nrules:\n" + ruleItem(c.first) + ruleItem(c.second))
		var got [3]string
		for i, info := range e.Rules() {
			got[i+1] = info.Warning
		}
		for i := 1; i <= 2; i++ {
			if (c.shadowed == i) != strings.HasPrefix(got[i], "shadowed by") {
				t.Errorf("%q, %q: warnings %q, want rule %d to have one", c.first, c.second, got[1:], c.shadowed)
			}
		}
	}
}

// ruleItem is "verdict: effect(pattern) for X until DAY" as an item of a file.
func ruleItem(text string) string {
	rest, until, _ := strings.Cut(text, " until ")
	rest, forWhom, _ := strings.Cut(rest, " for ")
	item := "  - " + rest + "\n"
	if forWhom != "" {
		item += "    for: " + forWhom + "\n"
	}
	if until != "" {
		item += "    expires: " + until + "\n"
	}
	return item
}

func TestShadowedByAnotherTier(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - deny: write(**)\n    reason: no\n", func(o *Options) {
		o.ProjectFile = p.put(".air/shared/permissions.yaml", "schema_version: 1\nrules:\n  - allow: write(docs/**)\n")
		o.Accepted = func([]byte) bool { return true }
	})
	if info := e.Rules()[1]; info.Warning != "shadowed by "+p.air+"/permissions.yaml:3, which is stronger: deny: write(**)" || info.Line != 3 || info.Tier != "project" {
		t.Errorf("%+v", info)
	}
}

// TestShadowedChangeNothing: without the rules that are reported as shadowed, every
// decision about random targets has the same verdict.
func TestShadowedChangeNothing(t *testing.T) {
	p := newPlace(t)
	const seeds = 400
	reported, decided := 0, 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 4))
		var rules []*rule
		for i := range 4 + r.IntN(12) {
			rules = append(rules, randomRule(t, r, p.paths, i))
		}
		warnings := shadowed(rules)
		reported += len(warnings)
		all, fewer := table{}, table{}
		all.add(rules)
		var kept []*rule
		for _, rule := range rules {
			if warnings[rule] == "" {
				kept = append(kept, rule)
			}
		}
		fewer.add(kept)
		for range 150 {
			f := randomEffect(r, p)
			caller := []*Caller{nil, {Capability: "csv", Digest: digestA}, {Capability: "csv", Digest: digestB}, {Capability: "tsv", Digest: digestA}}[r.IntN(4)]
			now := func() time.Time { return testNow.Add(time.Duration(r.IntN(3)) * 24 * time.Hour) }
			moment := now()
			clock := func() time.Time { return moment }
			one, two := all.find(caller, &f, clock), fewer.find(caller, &f, clock)
			if one != nil {
				decided++
			}
			if (one == nil) != (two == nil) || one != nil && one.verdict != two.verdict {
				var list []string
				for _, rule := range rules {
					list = append(list, fmt.Sprintf("%s for %s until %s: %s", rule.text(), rule.forText(), rule.expires, warnings[rule]))
				}
				t.Fatalf("seed %d: %s (class %q, risk %q) is decided by %+v, and without the shadowed rules by %+v\n%s", seed, f, f.Class, f.Risk, one, two, strings.Join(list, "\n"))
			}
		}
	}
	if reported < 300 || decided < 5000 {
		t.Errorf("only %d rules reported, %d effects decided: the test says little", reported, decided)
	}
}

func randomRule(t *testing.T, r *rand.Rand, p *Paths, line int) *rule {
	t.Helper()
	kind := []Kind{Read, Write, Create, Run, Run, Net, ToolCall}[r.IntN(7)]
	x := &rule{verdict: Verdict(r.IntN(3)), kind: kind, tier: []Tier{TierAdmin, TierUser, TierProject}[r.IntN(3)], file: "r", line: line}
	switch {
	case kind == Run:
		x.pattern = randomText(r, []string{"go", "test", "**", "**", "*", "a*", "*/b", "'*'", "[ab]", "{a,go}", "a**b", "?"}, " ", 3)
	case kind == Net:
		x.pattern = []string{"*", "https", "http"}[r.IntN(3)] + "://" + []string{"*", "*.a.example", "a.example", "b.a.example", "*.b.a.example", "localhost"}[r.IntN(6)] + ":" + []string{"*", "443", "80"}[r.IntN(3)]
	case kind == ToolCall:
		x.pattern = []string{"**", "fs.*", "fs.read", "*", "f*", "{fs,a}.*"}[r.IntN(6)]
	default:
		x.pattern = randomText(r, []string{"a", "b", "**", "**", "*", "a*", "?", "{a,b}", "[ab]", "[!a]", "{**,b}", "a***", ".env", "*b", `\*`, "{a/b,b}"}, "/", 4)
		if r.IntN(4) == 0 {
			x.pattern = []string{"/", "~/"}[r.IntN(2)] + x.pattern
		}
	}
	if r.IntN(4) == 0 {
		x.capability = "csv"
		if r.IntN(2) == 0 {
			x.digest = digestA
		}
	}
	if r.IntN(4) == 0 {
		x.expires = testNow.Add(time.Duration(r.IntN(3)) * 24 * time.Hour)
	}
	if err := CheckScope(kind, x.pattern); err != nil {
		t.Fatalf("%s: %v", x.text(), err)
	}
	if err := x.compile(p); err != nil {
		t.Fatalf("%s: %v", x.text(), err)
	}
	return x
}

func randomText(r *rand.Rand, parts []string, between string, most int) string {
	var list []string
	for range 1 + r.IntN(most) {
		list = append(list, parts[r.IntN(len(parts))])
	}
	return strings.Join(list, between)
}

func randomEffect(r *rand.Rand, p *place) Effect {
	switch r.IntN(4) {
	case 0:
		words := strings.Split(randomText(r, []string{"go", "test", "a", "ab", "a/b", "x/b", "*", "b", "axb"}, " ", 4), " ")
		f := Effect{Kind: Run, Target: JoinArgv(words), Risk: ruledRisks[r.IntN(len(ruledRisks))]}
		if r.IntN(3) == 0 {
			f.Also = "go test"
		}
		return f
	case 1:
		host := []string{"a.example", "b.a.example", "c.b.a.example", "x.example", "localhost"}[r.IntN(5)]
		f := Effect{Kind: Net, Target: []string{"https", "http"}[r.IntN(2)] + "://" + host + ":" + []string{"443", "80"}[r.IntN(2)]}
		if host == "localhost" {
			f.Class = ClassPrivate
		}
		return f
	case 2:
		return Effect{Kind: ToolCall, Target: []string{"fs.read", "fs", "a.b", "git.log"}[r.IntN(4)]}
	}
	path := []string{p.root + "/", "/", p.home + "/"}[r.IntN(3)] + randomText(r, []string{"a", "b", "ab", "*", ".env", "xb", "x"}, "/", 4)
	kind := []Kind{Read, Create, Overwrite, Delete}[r.IntN(4)]
	return Effect{Kind: kind, Target: path, Class: p.paths.classByName(path, kind)}
}
