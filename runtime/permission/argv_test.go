package permission

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestJoinArgv(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{nil, ""},
		{[]string{""}, "''"},
		{[]string{"go", "test", "./...", "-run=X"}, "go test ./... -run=X"},
		{[]string{"a b", ""}, "'a b' ''"},
		{[]string{"it's"}, `'it'\''s'`},
		{[]string{"'"}, `''\'''`},
		{[]string{"rm", "*", "**", "~", "$x", "`x`", "a;b", "a\nb", `a\b`, `"`, "{a,b}", "!x", "#x"}, "rm '*' '**' '~' '$x' '`x`' 'a;b' 'a\nb' 'a\\b' '\"' '{a,b}' '!x' '#x'"},
		{[]string{"A=b", "A=b"}, "'A=b' A=b"}, // no assignment
		{[]string{"é"}, "'é'"},
	} {
		got := JoinArgv(c.argv)
		if got != c.want {
			t.Errorf("JoinArgv(%q) = %s, want %s", c.argv, got, c.want)
		}
		if back, err := SplitArgv(got); err != nil || !slices.Equal(back, c.argv) {
			t.Errorf("%s reads as %q, %v", got, back, err)
		}
	}
}

func TestSplitArgv(t *testing.T) {
	for text, want := range map[string][]string{
		"  go   test ": {"go", "test"},
		`a'b c'd`:      {"ab cd"},
		`a'b*'c`:       {"ab*c"},
		`it\'s a\ b`:   {"it's", "a b"},
		`\~ \é \\`:     {"~", "é", `\`},
		`'a''b'`:       {"ab"},
		`*.go`:         {"*.go"},
		`''`:           {""},
	} {
		if got, err := SplitArgv(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("SplitArgv(%s) = %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"'", "a'b", `a\`, `"a"`, "$x", "`x`", "a;b", "a && b", "a | b", "a > b", "(a)", "a\tb", "a\nb", "a\rb"} {
		if got, err := SplitArgv(text); err == nil {
			t.Errorf("SplitArgv(%q) = %q", text, got)
		}
	}
}

// What decisions take is in one form: another text of the same words, or one that cannot
// be read, is not decided by rules.
func TestArgvInOneForm(t *testing.T) {
	e := newPlace(t).engine("schema_version: 1\nrules:\n  - allow: run(**)\n")
	for _, target := range []string{"", " ", "ls  -l", "ls -l ", "'ls'", `l\s`, "l's'", "ls \"x\"", "ls $x", "ls; rm x", "ls 'x", "ls '\x1f'", "ls '\r'", "ls '\x00'", "A=b ls", "ls '*' *"} {
		d := e.Decide(request("shell.run", nil, Effect{Kind: Run, Target: target, Risk: RiskReadOnly}))[0]
		if d.Verdict != Deny || d.Code != CodeFloorUnresolved {
			t.Errorf("%q: %s, %s", target, d.Verdict, d.Code)
		}
	}
	for _, also := range []string{"git  status", "git $x"} {
		if d := e.Decide(request("shell.run", nil, Effect{Kind: Run, Target: "git status", Also: also, Risk: RiskReadOnly}))[0]; d.Verdict != Deny {
			t.Errorf("also %q: %s", also, d.Verdict)
		}
	}
	if d := e.Decide(request("shell.run", nil, Effect{Kind: Run, Target: JoinArgv([]string{"bash", "-c", "a\tb\n\nc"}), Risk: RiskReadOnly}))[0]; d.Verdict != Allow {
		t.Errorf("lines in quotes: %+v", d)
	}
}

func TestArgvPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"go", []string{"go"}, []string{"go test", "gofmt", "/usr/bin/go", "Go"}},
		{"go test **", []string{"go test", "go test ./...", "go test -run X ./a ./b"}, []string{"go", "go vet", "go test; x", "xgo test", "go testing"}},
		{"go **", []string{"go", "go test x"}, []string{"gofmt x"}},
		{"**", []string{"ls", "rm -rf /"}, nil},
		{"** --force **", []string{"git push --force", "--force", "git push --force origin x"}, []string{"git push --forced", "git push"}},
		{"** a ** b", []string{"a b", "x a y a z b", "a b b"}, []string{"a", "b a", "a b c"}},
		{"git * status", []string{"git -x status", "git '' status", "git a/b status"}, []string{"git status", "git a b status"}},
		{"cat src/*", []string{"cat src/a", "cat src/a/b", "cat 'src/../x'"}, []string{"cat src", "cat lib/a", "cat src/a src/b"}},
		{"cat src/*.go **", []string{"cat src/a.go", "cat src/a/b.go x"}, []string{"cat src/a.c"}},
		{"cat a**b", []string{"cat ab", "cat a/x/b"}, []string{"cat a b"}},
		{"cat [ab]?", []string{"cat ax", "cat b/"}, []string{"cat cx", "cat a"}},
		{"cat {a,b/c}", []string{"cat a", "cat b/c"}, []string{"cat b", "cat '{a,b/c}'"}},
		{"find . -exec rm {} \\;", []string{"find . -exec rm '{}' ';'"}, []string{"find . -exec rm '' ';'"}},
		{"echo '*' '**'", []string{"echo '*' '**'"}, []string{"echo a b", "echo '*' a b"}},
		{`echo \*x*`, []string{"echo '*xy'"}, []string{"echo axy"}},
		{"echo 'a b'*", []string{"echo 'a b c'"}, []string{"echo ab"}},
		{"echo ''", []string{"echo ''"}, []string{"echo", "echo x"}},
		{"*/go build", []string{"/usr/bin/go build", "./go build"}, []string{"go build"}},
		{"rm ?*", []string{"rm x"}, []string{"rm ''", "rm", "rm x y"}},
		{"git commit -m **", []string{"git commit -m 'two\nlines'"}, []string{"git commit"}},
	} {
		p, err := newArgvPattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		m := matcher{text: c.pattern, argv: p}
		for _, target := range c.yes {
			if !m.matches(targetOf(Run, target)) {
				t.Errorf("%s does not match %s", c.pattern, target)
			}
		}
		for _, target := range c.no {
			if m.matches(targetOf(Run, target)) {
				t.Errorf("%s matches %s", c.pattern, target)
			}
		}
	}
	for _, bad := range []string{"", " ", "a && b", "a \"b\"", "$x", "a'b", "a [", "a {b", strings.Repeat("{a,b}", 9), "a\u202eb", "a '\u200b'", "a '\r'", "a\tb"} {
		if err := CheckScope(Run, bad); err == nil {
			t.Errorf("the pattern %q is accepted", bad)
		}
	}
}

// S1, S3: a rule for a command is not one for what a shell would make of other text.
func TestRunRules(t *testing.T) {
	e := newPlace(t).engine(`schema_version: 1
rules:
  - allow: run(go test **)
  - allow: run(make deploy)
  - allow: run(sudo apt update)
  - allow: run(** --version)
  - deny: run(git push ** --force **)
  - ask: run(git commit **)
  - deny: run(rm **)
`)
	for _, c := range []struct {
		argv []string
		also []string
		risk Risk
		want Verdict
	}{
		{[]string{"go", "test", "./..."}, nil, RiskDestructive, Allow},
		{[]string{"go", "test; rm -rf /"}, nil, RiskDestructive, Ask},
		{[]string{"/tmp/go", "test"}, []string{"go", "test"}, RiskDestructive, Ask}, // an allow is for what it says
		{[]string{"/bin/rm", "x"}, []string{"rm", "x"}, RiskWorkspace, Deny},        // a deny for what it means
		{[]string{"git", "-C", "x", "push", "--force"}, []string{"git", "push", "--force"}, RiskNetwork, Deny},
		{[]string{"git", "-C", "x", "commit"}, []string{"git", "commit"}, RiskWorkspace, Ask},
		{[]string{"make", "deploy"}, nil, RiskPrivileged, Allow},
		{[]string{"make", "deploy", "x"}, nil, RiskPrivileged, Ask},
		{[]string{"sudo", "apt", "update"}, nil, RiskPrivileged, Allow},
		{[]string{"kubectl", "--version"}, nil, RiskNetwork, Allow},
		{[]string{"kubectl", "--version"}, nil, RiskPrivileged, Ask}, // ** names nothing
		{[]string{"kubectl", "--version"}, nil, RiskOpaque, Ask},
		{[]string{"kubectl", "--version"}, nil, "", Ask},
	} {
		f := Effect{Kind: Run, Target: JoinArgv(c.argv), Risk: c.risk}
		if c.also != nil {
			f.Also = JoinArgv(c.also)
		}
		if d := e.Decide(request("shell.run", nil, f))[0]; d.Verdict != c.want {
			t.Errorf("%s (%s): %s (%s), want %s", f.Target, c.risk, d.Verdict, d.Rule, c.want)
		}
	}
}

// A project's file opens no commands that reach beyond it, and an ask rule makes no
// answer last that does not.
func TestProjectRunRules(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - ask: run(**)\n    for: csv\n", func(o *Options) {
		o.ProjectFile = p.put(".air/shared/permissions.yaml", "schema_version: 1\nrules:\n  - allow: run(sudo **)\n  - allow: run(make **)\n  - allow: net(https://localhost:*)\n  - ask: run(ssh **)\n")
		o.Accepted = func([]byte) bool { return true }
	})
	for target, want := range map[string]map[Risk]Verdict{
		"sudo x": {RiskPrivileged: Ask, RiskOpaque: Ask, "": Ask},
		"make x": {RiskDestructive: Allow, RiskNetwork: Allow, RiskPrivileged: Ask},
	} {
		for risk, v := range want {
			if d := e.Decide(request("shell.run", nil, Effect{Kind: Run, Target: target, Risk: risk}))[0]; d.Verdict != v {
				t.Errorf("%s (%s): %s, want %s", target, risk, d.Verdict, v)
			}
		}
	}
	p.want(e.Decide(request("shell.run", nil, Effect{Kind: Net, Target: "https://localhost:443", Class: ClassPrivate}))[0], Ask, CodePrivateAddress)
	d := e.Decide(request("shell.run", nil, Effect{Kind: Run, Target: "ssh x", Risk: RiskPrivileged}))[0]
	if p.want(d, Ask, CodeAskedByRule); !d.NoAlways {
		t.Error("the ask rule of a project makes an answer for always possible")
	}
}

// FuzzArgv: words come back as they were, a text stands for one list of words, and the
// pattern of a command matches that command alone.
func FuzzArgv(f *testing.F) {
	f.Add("go\x00test\x00./...", "go\x00test")
	f.Add("\x00it's\x00a b\x00**", "'\x00\\")
	f.Add("A=b\x00\u212a\xff", "a/*\x00a\x1fb")
	f.Fuzz(func(t *testing.T, one, two string) {
		a, b := strings.Split(one, "\x00"), strings.Split(two, "\x00")
		text := JoinArgv(a)
		back, err := SplitArgv(text)
		if err != nil || !slices.Equal(a, back) {
			t.Fatalf("%q is written %s, and read %q, %v", a, text, back, err)
		}
		if checkArgv(text) != !strings.ContainsFunc(text, isControl) {
			t.Errorf("%s is in its one form and has no control characters: %v", text, checkArgv(text))
		}
		p, err := newArgvPattern(text)
		if err != nil {
			t.Fatalf("%s is no pattern: %v", text, err)
		}
		m := matcher{argv: p}
		if !m.matches(targetOf(Run, text)) {
			t.Errorf("%s does not match itself", text)
		}
		if !slices.Equal(a, b) && (m.matches(targetOf(Run, JoinArgv(b))) || JoinArgv(b) == text) {
			t.Errorf("%s matches %s", text, JoinArgv(b))
		}
		if words, err := SplitArgv(two); err == nil && checkArgv(two) && JoinArgv(words) != two {
			t.Errorf("%q has a second form %q", two, JoinArgv(words))
		}
		if _, err := newArgvPattern(two); err == nil {
			newMatcherFor(t, two).matches(targetOf(Run, text))
		}
	})
}

func newMatcherFor(t *testing.T, pattern string) *matcher {
	t.Helper()
	m, err := kindMatcher(Run, pattern)
	if err != nil {
		t.Fatal(err)
	}
	return &m
}

// A shell reads what JoinArgv writes as the same words.
func TestShellReadsArgv(t *testing.T) {
	words := []string{"x", "", "a b", "it's", "'", "''", `\`, `\'`, "*", "~", "~root", "$HOME", "${x}", "`id`", "$(id)", "a;b", "&", "|", "<", ">", "(", ")", "#", "!", "a\nb", "\t", "\r", "é", "\u202e", "{a,b}", "[a-z]", "?", "-n", "--", "A=b", "%s", "\"", "a'b\"c`d"}
	var script strings.Builder
	var want bytes.Buffer
	for i := range words {
		argv := []string{words[i], words[(i*7+3)%len(words)], words[(i*11+5)%len(words)]}
		script.WriteString(`printf '%s\0' ` + JoinArgv(argv) + "\n")
		want.WriteString(strings.Join(argv, "\x00") + "\x00")
	}
	for _, shell := range []string{"/bin/sh", "/bin/bash"} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		got, err := exec.Command(shell, "-c", script.String()).Output()
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s reads %q, %v\nwant %q", shell, got, err, want.Bytes())
		}
	}
	// The first word is a program, and no assignment.
	got, err := exec.Command("/bin/sh", "-c", JoinArgv([]string{"A=b", "echo", "x"})).CombinedOutput()
	if err == nil || !strings.Contains(string(got), "A=b") {
		t.Errorf("as an assignment: %s, %v", got, err)
	}
}
