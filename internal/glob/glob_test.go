package glob

import (
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		whole, name   bool
	}{
		{"*.go", "main.go", true, true},
		{"*.go", "cmd/main.go", false, true},
		{"**/*.go", "main.go", true, true},
		{"**/*.go", "a/b/c.go", true, true},
		{"cmd/*.go", "cmd/main.go", true, true},
		{"cmd/*.go", "cmd/x/main.go", false, false},
		{"{a,b}.txt", "b.txt", true, true},
		{"{a,b}.txt", "c.txt", false, false},
		{"[a-c]?", "bx", true, true},
		{"[!a]", "a", false, false},
		{`\*`, "*", true, true},
		{"**", "x/y", true, true},
	} {
		p, err := Compile(c.pattern)
		if err != nil {
			t.Fatalf("%q: %v", c.pattern, err)
		}
		if got := p.Match(c.path); got != c.whole {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.path, got)
		}
		if got := p.MatchName(c.path); got != c.name {
			t.Errorf("MatchName(%q, %q) = %v", c.pattern, c.path, got)
		}
	}
}

func TestAlternatives(t *testing.T) {
	for pattern, want := range map[string]int{
		"abc":              1,
		"a,b":              1,
		"{a}":              1,
		"{a,b}":            2,
		"{a,b}{c,d,e}":     6,
		"{a,{b,c}}":        3,
		"{a,{b,c}{d,e}}x":  5,
		`\{a,b`:            1,
		"{a,b}{a,b}{c,{}}": 8,
	} {
		if got := alternatives(pattern); got != want {
			t.Errorf("alternatives(%q) = %d, want %d", pattern, got, want)
		}
	}
}

// F18: patterns that take exponential time in the matcher.
func TestF18ExponentialGlob(t *testing.T) {
	for _, pattern := range []string{
		strings.Repeat("{a,a}", 30) + "b",
		strings.Repeat("{*,*}", 30) + "b",
		"{" + strings.Repeat("a,", 200) + "a}",
		strings.Repeat("{a,{a,", 40) + "a" + strings.Repeat("}}", 40),
		strings.Repeat("*", 2000),
		"[", "{a", "a[]b", `\`,
	} {
		if _, err := Compile(pattern); err == nil {
			t.Errorf("%.40q is accepted", pattern)
		}
	}
}

// F18: what is accepted is quick even where it matches badly.
func TestF18WorstAcceptedGlob(t *testing.T) {
	name := strings.Repeat("a", 250)
	path := strings.Repeat(name+"/", 15) + name
	for _, pattern := range []string{
		strings.Repeat("*a", 500) + "b",
		strings.Repeat("**/", 300) + "b",
		strings.Repeat("**/*a*/", 140) + "b",
		strings.Repeat("*{a,*}", 6) + strings.Repeat("*a", 480) + "b",
	} {
		p, err := Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		if p.Match(path) {
			t.Errorf("%.40q matches", pattern)
		}
		if took := time.Since(started); took > time.Second {
			t.Errorf("%.40q took %v", pattern, took)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"*.go", "{a,{b,c}}", "[a-z]", "**/x", `\{`, "{", "}", "a}b{c,d}"} {
		f.Add(seed, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if p, err := Compile(pattern); err == nil && len(path) < 4096 {
			p.MatchName(path)
		}
	})
}
