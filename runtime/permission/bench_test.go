package permission

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkDecide answers for one effect against 1,000 rules. The target is 5 µs and
// a number of allocations that does not depend on the rules.
func BenchmarkDecide(b *testing.B) {
	for _, count := range []int{0, 1000} {
		b.Run(fmt.Sprintf("%d rules", count), func(b *testing.B) {
			root := b.TempDir()
			p := NewPaths(PathsConfig{ProjectRoot: root})
			e := &Engine{paths: p, table: table{}}
			rules, err := parseRules([]byte(manyRules(count)), "rules.yaml", tierUser, p)
			if err != nil {
				b.Fatal(err)
			}
			e.table.add(rules)
			if e.grants, err = openGrants("", p, nil); err != nil {
				b.Fatal(err)
			}
			r := request("fs.read", nil, Effect{Kind: Read, Target: filepath.Join(root, "src/main.go"), Class: ClassProject})
			b.ReportAllocs()
			for b.Loop() {
				if d := e.Decide(r); d[0].Verdict != Allow {
					b.Fatal(d)
				}
			}
		})
	}
}

// manyRules mixes what people write: folders, extensions, exact paths, tools.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString("schema_version: 1\nrules:\n")
	for i := range n {
		verdict := []string{"allow", "ask", "deny"}[i%3]
		pattern := []string{"read(docs/part%d/**)", "read(**/*.ext%d)", "write(out/%d/*.txt)", "read(src/file%d.go)", "tool(tool%d.*)"}[i%5]
		fmt.Fprintf(&b, "  - %s: "+pattern+"\n", verdict, i)
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
