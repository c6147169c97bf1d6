package permission

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkDecide answers for one effect against 1,000 rules. The target is 5 µs and
// a number of allocations that does not depend on the rules.
func BenchmarkDecide(b *testing.B) {
	for name, f := range benchEffects(b) {
		for _, count := range []int{0, 1000} {
			b.Run(fmt.Sprintf("%s/%d rules", name, count), func(b *testing.B) {
				e, r := benchEngine(b, f, count)
				b.ReportAllocs()
				for b.Loop() {
					if d := e.Decide(r); d[0].Layer != LayerDefault {
						b.Fatal(d)
					}
				}
			})
		}
	}
}

func benchEffects(tb testing.TB) map[string]Effect {
	tb.Helper()
	net, err := NetTarget("https://api.github.com/repos")
	if err != nil {
		tb.Fatal(err)
	}
	return map[string]Effect{
		"read": {Kind: Read, Target: "/srv/project/src/main.go", Class: ClassProject},
		"run":  {Kind: Run, Target: "go test ./runtime/... -run 'Test(A|B)' -count=1", Also: "go test ./runtime/...", Risk: RiskWorkspace},
		"net":  net,
		"tool": {Kind: ToolCall, Target: "fs.read"},
	}
}

func benchEngine(tb testing.TB, f Effect, count int) (*Engine, Request) {
	tb.Helper()
	p := NewPaths(PathsConfig{ProjectRoot: "/srv/project"})
	e := &Engine{paths: p, table: table{}, clock: time.Now}
	rules, err := parseRules([]byte(manyRules(count)), "rules.yaml", TierUser, p)
	if err != nil {
		tb.Fatal(err)
	}
	e.table.add(rules)
	if e.grants, err = openGrants("", p, nil); err != nil {
		tb.Fatal(err)
	}
	r := request("fs.read", nil, f)
	r.Credentials = nil
	return e, r
}

// TestDecideAllocations: how much is allocated depends on the effect, not on the rules.
func TestDecideAllocations(t *testing.T) {
	for name, f := range benchEffects(t) {
		var allocations [2]float64
		for i, count := range []int{10, 1000} {
			e, r := benchEngine(t, f, count)
			allocations[i] = testing.AllocsPerRun(100, func() { e.Decide(r) })
		}
		if allocations[0] != allocations[1] {
			t.Errorf("%s: %v allocations with 10 rules, %v with 1,000", name, allocations[0], allocations[1])
		}
	}
}

// manyRules mixes what people write: folders, extensions, exact paths, tools, commands of
// one program and of many, hosts. None matches what is decided.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString("schema_version: 1\nrules:\n")
	patterns := []string{
		"read(docs/part%d/**)", "read(**/*.ext%d)", "write(out/%d/*.txt)", "read(src/file%d.go)", "tool(tool%d.*)",
		"run(go test ./part%d/**)", "run(tool%d **)", "run(git push origin branch%d)", "run(** --flag%d **)", "net(https://host%d.example:443)", "net(https://*.zone%d.example:*)", "env(NAME%d)",
	}
	for i := range n {
		verdict := []string{"allow", "ask", "deny"}[i%3]
		fmt.Fprintf(&b, "  - %s: "+patterns[i%len(patterns)]+"\n", verdict, i)
	}
	return b.String()
}

func BenchmarkResolve(b *testing.B) {
	p := NewPaths(PathsConfig{ProjectRoot: b.TempDir(), Home: "/nowhere", AirHome: "/nowhere/.air"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Resolve(Effect{Kind: Read, Target: "src/deep/down/main.go"}); err != nil {
			b.Fatal(err)
		}
	}
}
