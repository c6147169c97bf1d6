package command

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/runtime/permission"
)

// daily is a line of testdata/commands.txt.
type daily struct {
	line     int
	risk     permission.Risk
	harmless bool
	later    bool
	text     string
	effects  []string
}

func dailyCommands(t *testing.T) []daily {
	t.Helper()
	file, err := os.Open("testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []daily
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if line := lines.Text(); line != "" && line[0] != '#' {
			all = append(all, parseDaily(t, n, line))
		}
	}
	if len(all) < 300 {
		t.Fatalf("%d command lines, at least 300 are wanted", len(all))
	}
	return all
}

func parseDaily(t *testing.T, n int, line string) daily {
	head, text, ok := strings.Cut(line, ": ")
	risk, class, known := strings.Cut(head, " ")
	if !ok || !known || rank(permission.Risk(risk)) == len(ranks) || class != "harmless" && class != "harmful" && class != "later" {
		t.Fatalf("line %d of testdata/commands.txt: %q", n, line)
	}
	d := daily{line: n, risk: permission.Risk(risk), harmless: class == "harmless", later: class == "later", text: text}
	if at := strings.LastIndex(text, " => "); at >= 0 {
		d.text, d.effects = text[:at], strings.Fields(text[at+4:])
	}
	return d
}

// ground is a project with files, and an engine that has no rules.
type ground struct {
	root, home string
	paths      *permission.Paths
	engine     *permission.Engine
}

func newGround(t *testing.T) *ground {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &ground{root: top + "/work/project", home: top + "/person"}
	for _, name := range strings.Fields("main.go go.mod README.md package.json Makefile names.txt data.csv data.json data.bin log.txt build.sh " +
		"test.py app.jar out.tgz out.zip log.gz fix.patch src/app.ts lib/util.go docs/guide.md .git/config .env") {
		g.put(t, g.root+"/"+name)
	}
	for _, name := range strings.Fields(".ssh/id_rsa .netrc .aws/credentials .bashrc") {
		g.put(t, g.home+"/"+name)
	}
	g.put(t, top+"/work/other/secret.txt")
	g.paths = permission.NewPaths(permission.PathsConfig{ProjectRoot: g.root, Home: g.home, AirHome: g.home + "/.air", Path: g.home + "/tools"})
	g.engine, err = permission.Load(permission.Options{Paths: g.paths, Mode: permission.ModeWorkspaceWrite})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *ground) put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// decide analyses a command line and asks the engine as for a person's agent. What
// cannot be resolved is denied with the code "unresolved".
func (g *ground) decide(t *testing.T, text string) (effects, resolved []permission.Effect, worst permission.Decision) {
	t.Helper()
	effects, err := Analyse(text, Place{Dir: g.root, Root: g.root, Home: g.home})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, e := range effects {
		r, err := g.paths.Resolve(e)
		if err != nil {
			return effects, resolved, permission.Decision{Effect: e, Verdict: permission.Deny, Code: "unresolved", Reason: err.Error()}
		}
		resolved = append(resolved, r)
	}
	worst.Verdict = permission.Allow
	subject := permission.Subject{Tool: "shell.run", BuiltIn: true, Permissions: permission.Permissions{Execute: true}}
	for _, d := range g.engine.Decide(permission.Request{Subject: subject, Effects: resolved, SessionID: "s1"}) {
		if d.Verdict < worst.Verdict {
			worst = d
		}
	}
	return effects, resolved, worst
}

// has reports whether the effects hold one that a line of the table names. write stands
// for create and overwrite, and for what is not resolved.
func (g *ground) has(effects []permission.Effect, want string) bool {
	kind, target, _ := strings.Cut(strings.TrimSuffix(want, ")"), "(")
	switch k := permission.Kind(kind); {
	case k.IsPath() && strings.HasPrefix(target, "~"):
		target = g.home + target[1:]
	case k.IsPath() && !filepath.IsAbs(target):
		target = filepath.Join(g.root, target)
	}
	return slices.ContainsFunc(effects, func(e permission.Effect) bool {
		if e.Kind.IsPath() {
			e.Target = filepath.Clean(e.Target)
		}
		same := string(e.Kind) == kind || kind == "write" && (e.Kind == permission.Create || e.Kind == permission.Overwrite)
		return same && e.Target == target
	})
}

func highestRisk(effects []permission.Effect) (risk permission.Risk) {
	for _, e := range effects {
		if e.Kind == permission.Run && rank(e.Risk) > rank(risk) {
			risk = e.Risk
		}
	}
	return risk
}

// TestDailyCommands has the cases S5 to S10, S18 and S19 among the lines.
func TestDailyCommands(t *testing.T) {
	g := newGround(t)
	harmless, unasked := 0, 0
	for _, d := range dailyCommands(t) {
		effects, resolved, worst := g.decide(t, d.text)
		if got := highestRisk(effects); got != d.risk {
			t.Errorf("line %d: %s: risk %q, want %q: %v", d.line, d.text, got, d.risk, reasons(effects))
		}
		for _, want := range d.effects {
			if !g.has(resolved, want) && !g.has(effects, want) {
				t.Errorf("line %d: %s: no effect %s in %v", d.line, d.text, want, resolved)
			}
		}
		switch {
		case worst.Code == "unresolved":
			t.Errorf("line %d: %s: %s", d.line, d.text, worst.Reason)
		case d.later:
			if a, err := analyse(d.text, Place{Dir: g.root, Root: g.root, Home: g.home}); err != nil || !a.later || a.opaque != "" {
				t.Errorf("line %d: %s: nothing is asked later: %v", d.line, d.text, resolved)
			}
		case !d.harmless && worst.Verdict == permission.Allow:
			t.Errorf("line %d: %s: passes unasked: %v", d.line, d.text, resolved)
		case d.harmless && worst.Verdict == permission.Allow:
			unasked++
		case d.harmless:
			t.Logf("line %d: %s: %s: %s", d.line, d.text, worst.Effect, worst.Reason)
		}
		if d.harmless {
			harmless++
		}
	}
	if unasked*10 < harmless*9 {
		t.Errorf("%d of %d harmless command lines need no prompt, nine in ten are wanted", unasked, harmless)
	}
	t.Logf("%d of %d harmless command lines need no prompt", unasked, harmless)
}

func reasons(effects []permission.Effect) (all []string) {
	for _, e := range effects {
		if e.Kind == permission.Run {
			all = append(all, string(e.Risk)+": "+e.Why)
		}
	}
	return all
}

// TestProgramsAreNamedOnce finds a program that two tables name: one would hide the
// other.
func TestProgramsAreNamedOnce(t *testing.T) {
	total := 0
	for _, table := range []table{filePrograms, textPrograms, codePrograms, buildPrograms, gitPrograms, networkPrograms, clusterPrograms, systemPrograms} {
		total += namedOnce(t, table)
	}
	if total != len(programs) {
		t.Errorf("%d names in the tables, but %d programs", total, len(programs))
	}
	namedOnce(t, gitCommands)
}

// namedOnce counts the names of a table, and looks into its subcommands.
func namedOnce(t *testing.T, all table) int {
	t.Helper()
	seen := map[string]bool{}
	for names, e := range all {
		for _, name := range strings.Fields(names) {
			if seen[name] {
				t.Errorf("%s is named twice", name)
			}
			seen[name] = true
		}
		if s, ok := e.(subcommands); ok {
			namedOnce(t, s.of)
		}
	}
	return len(seen)
}

// TestSpec reads one option of each sort.
func TestSpec(t *testing.T) {
	known := spec("v,verbose n,lines= color=? o,output=> c,eval=! ext-diff!").options()
	args := []word{{text: "-vn"}, {text: "5"}, {text: "file"}, {text: "--color"},
		{text: "other"}, {text: "--output=x"}, {text: "-k"}, {text: "*.go", pattern: true}, {text: "--"}, {text: "-z"}}
	a := (&reader{options: known, args: args}).read()
	if lines, _ := a.value("lines"); lines.text != "5" || !a.has("verbose", "color") {
		t.Errorf("flags are %v", a.flags)
	}
	if got := texts(a.operands); !slices.Equal(got, []string{"file", "other", "*.go", "-z"}) {
		t.Errorf("operands are %q", got)
	}
	if len(a.uses) != 1 || a.uses[0].value.text != "x" || texts(a.strange)[0] != "-k" || texts(a.chance)[0] != "*.go" || a.dashes != 3 {
		t.Errorf("%+v", a)
	}
}

// TestSedScripts: what each version of sed would read in the same way is known.
func TestSedScripts(t *testing.T) {
	for script, want := range map[string]permission.Risk{
		`s/a/b/g;p`:                permission.RiskReadOnly,
		`/a/,/b/{s/x/y/;d}`:        permission.RiskReadOnly,
		`1~2!s,a\,b,c,I2`:          permission.RiskReadOnly,
		"$!N;P;D":                  permission.RiskReadOnly,
		"a\\\ntext e w\np":         permission.RiskReadOnly,
		`y/abc/xyz/`:               permission.RiskReadOnly,
		`:a;N;$!ba;s/\n/ /g`:       permission.RiskReadOnly,
		`:a e id`:                  permission.RiskOpaque,
		`:a w out.txt`:             permission.RiskOpaque,
		`b a e id`:                 permission.RiskOpaque,
		`:a{N;ba}`:                 permission.RiskOpaque,
		`s/[^/]*$//`:               permission.RiskReadOnly,
		`s/[[:space:]/]x/y/`:       permission.RiskReadOnly,
		`s/[\]/e id/;#]//`:         permission.RiskOpaque,
		`s/a/b/;e`:                 permission.RiskOpaque,
		"a text\ne id":             permission.RiskOpaque,
		`s/a/b/ge`:                 permission.RiskOpaque,
		"s/x/\nw evil\n/":          permission.RiskOpaque,
		`s/a`:                      permission.RiskOpaque,
		`/[/]/w x/;e id`:           permission.RiskWorkspace,
		`v 4.2`:                    permission.RiskOpaque,
		`s/a/b/w out.txt`:          permission.RiskWorkspace,
		"w out.txt\nw /dev/stdout": permission.RiskWorkspace,
		`r in.txt`:                 permission.RiskReadOnly,
	} {
		f := (&analysis{}).find(&simple{words: []word{{text: "sed"}, {text: script}, {text: "file"}}})
		if f.risk != want {
			t.Errorf("sed %q: %s (%s), want %s", script, f.risk, f.why, want)
		}
	}
}

func TestAwkPrograms(t *testing.T) {
	for script, want := range map[string]permission.Risk{
		`{print $1, $2}`:                               permission.RiskReadOnly,
		`$1 > 5 {print "a > b"}`:                       permission.RiskReadOnly,
		`{if ($1 > 5) print ($2 > 3)}`:                 permission.RiskReadOnly,
		`/a|b/ || /c/ {n++} END {print n/2, "system"}`: permission.RiskReadOnly,
		`{print > "out.txt"}`:                          permission.RiskWorkspace,
		`{print > "/dev/stderr"}`:                      permission.RiskReadOnly,
		`{print > "a" "b"}`:                            permission.RiskOpaque,
		`{print > $1}`:                                 permission.RiskOpaque,
		`{print(1) > "a" ".txt"}`:                      permission.RiskOpaque,
		`BEGIN{system("id")}`:                          permission.RiskOpaque,
		`{print | "sh"}`:                               permission.RiskOpaque,
		`{getline x < "f"}`:                            permission.RiskOpaque,
		`BEGIN{f="sys" "tem"; @f("id")}`:               permission.RiskOpaque,
		`if(1) /"/; system("id") #"`:                   permission.RiskOpaque,
		`/[/"]/{system("id")}#"`:                       permission.RiskOpaque,
		`{ARGV[1]="/etc/shadow"}`:                      permission.RiskOpaque,
		`{print ENVIRON["KEY"]}`:                       permission.RiskOpaque,
		`{while ((getline line < "x") > 0) n++}`:       permission.RiskOpaque,
	} {
		f := (&analysis{}).find(&simple{words: []word{{text: "awk"}, {text: script}, {text: "file"}}})
		if f.risk != want {
			t.Errorf("awk %q: %s (%s), want %s", script, f.risk, f.why, want)
		}
	}
}

// TestProgramsTakeAnyWords finds words that make a program panic.
func TestProgramsTakeAnyWords(t *testing.T) {
	odd := []word{{text: ""}, {text: "-"}, {text: "--"}, {text: "-x"}, {text: "--x="}, {text: "-="},
		{text: "-c"}, {text: "x"}, {text: "/"}, {text: ".."}, {text: ":"}, {text: "@"}, {text: "="},
		{text: "x=", unknown: true}, {text: "$x", unknown: true, many: true}, {text: "*", pattern: true},
		{text: "run"}, {text: "add"}, {text: "-m"}, {text: "-e"}, {text: "-exec"}, {text: "::"}, {text: "a://"}}
	for name, p := range programs {
		for _, first := range odd {
			for _, second := range odd {
				p(&simple{words: []word{{text: name}, first, second}, dir: "/d"}, &finding{})
			}
			p(&simple{words: []word{{text: name}, first}, dir: "/d"}, &finding{})
		}
		p(&simple{words: []word{{text: name}}, dir: "/d"}, &finding{})
	}
	for name, p := range together(gitCommands) {
		for _, first := range odd {
			for _, second := range odd {
				p(&simple{words: []word{{text: "git " + name}, first, second}, dir: "/d"}, &finding{})
			}
			p(&simple{words: []word{{text: "git " + name}, first}, dir: "/d"}, &finding{})
		}
		p(&simple{words: []word{{text: "git " + name}}, dir: "/d"}, &finding{})
	}
}

func TestProgramFor(t *testing.T) {
	for name, want := range map[string]bool{
		"python3.12": true, "gcc-14": true, "clang-format-18": true, "/usr/bin/ls": true, "ls2": false,
		"rm3": false, "frobnicate": false, "": false, "3": false,
	} {
		if _, ok := programFor(name); ok != want {
			t.Errorf("programFor(%q) is %v", name, ok)
		}
	}
}

func BenchmarkPrograms(b *testing.B) {
	words := []word{{text: "git"}, {text: "-C"}, {text: "src"}, {text: "log"}, {text: "--oneline"}, {text: "-n"}, {text: "5"}}
	for b.Loop() {
		git(&simple{words: words, dir: "/d"}, &finding{})
	}
}
