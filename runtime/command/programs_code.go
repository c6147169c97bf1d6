package command

import (
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

const inline = "it runs code that stands in the command line"

// codePrograms run code in a language.
var codePrograms = table{
	"python python3 python2 pypy pypy3": program(python),
	"node": script("c,check h,help v,version i,interactive! test test-only watch enable-source-maps no-warnings trace-warnings trace-deprecation " +
		"preserve-symlinks stack-trace-limit= max-old-space-size= unhandled-rejections= experimental-vm-modules experimental-strip-types " +
		"experimental-test-coverage test-reporter= test-name-pattern= test-concurrency= disable-warning= e,eval=! p,print=! r,require=! import=! " +
		"loader=! experimental-loader=! env-file=<"),
	"nodejs":                                script("e,eval=! p,print=!"),
	"tsx":                                   script("e,eval=! p,print=! tsconfig=< watch no-cache"),
	"ts-node":                               script("e,eval=! p,print=! P,project=< T,transpile-only esm"),
	"perl":                                  script("c w W t T v V=? e=! E=! n! p! i! 0=? l=? a F=! I=<< M=! m=! s S x=? d! C=? u U X"),
	"ruby":                                  script("c w W=? v version verbose e=! n! p! i! 0=? l a F=! I=<< r=! s S x=? C=! E= T=? U d"),
	"php":                                   script("l i m v n q d=! c=< r=! R=! B=! E=! F=! f=< S=! t=<< a! w s ini version"),
	"lua":                                   script("e=! i! l=! v W E"),
	"luajit":                                script("e=! i! l=! v b! j=! O=?"),
	"Rscript":                               script("e=! vanilla verbose no-save no-environ quiet"),
	"julia":                                 script("e=! E=! project=?  t,threads= L=! i! q"),
	"elixir":                                script("e=! r=!"),
	"groovy scala":                          script("e=!"),
	"swipl":                                 script("g=! t=!"),
	"tclsh":                                 script(""),
	"osascript erl ghci irb ipython jshell": row{risk: permission.RiskOpaque, why: inline},
	"java":                                  program(java),
	"deno":                                  program(deno),
	"sqlite3":                               program(sqlite),
}

// script is for interpreters: after their options comes the file that they run.
func script(options spec) program {
	return func(c *simple, f *finding) {
		a := f.parse(c, options, stop)
		f.runsScript(c, &a)
	}
}

// runsScript runs the first operand as code, or what comes from the input.
func (f *finding) runsScript(c *simple, a *arguments) {
	switch {
	case a.has("version", "v", "V") && len(a.operands) == 0:
	case a.has("test") && base(c.name()) == "node":
		f.raise(permission.RiskWorkspace, "it runs the project's tests")
		elsewhere.add(a.operands, f)
	case len(a.operands) == 0 || a.operands[0].text == "-" || base(c.name()) == "node" && oneOf(a.operands[0].text, "inspect debug"):
		f.raise(permission.RiskOpaque, "it runs code that comes from its input")
	default:
		f.executes(a.operands[0])
		elsewhere.add(a.operands[1:], f)
	}
}

// executes is for a file that is run as code.
func (f *finding) executes(w word) {
	if standard(w, permission.Read) {
		f.raise(permission.RiskOpaque, "it runs code that comes from its input")
		return
	}
	if w.unknown || w.pattern {
		f.raise(permission.RiskOpaque, "which code "+w.text+" stands for cannot be known before it runs")
		return
	}
	if strings.Contains(w.text, "://") {
		f.raise(permission.RiskNetwork, "it fetches code and runs it")
		f.reach(w.text)
		return
	}
	f.raise(permission.RiskWorkspace, "it runs code of the project")
	f.script = w.text
	f.readFile(w)
}

const pythonOptions spec = "B b bb d E h,help i! I O OO P q s S u v V,version W= X= x c=! m= check-hash-based-pycs="

// pythonEnvironment is venv and virtualenv.
var pythonEnvironment = row{risk: permission.RiskWorkspace, why: "it makes an environment", operands: touches, guarded: true,
	options: "system-site-packages symlinks copies clear! upgrade without-pip prompt= upgrade-deps without-scm-ignore-files="}

// pythonTools are modules that are programs of their own in the table.
var pythonTools = set("pip pytest mypy ruff black flake8 isort pylint tox poetry build uv coverage pre_commit")

func python(c *simple, f *finding) {
	args := c.args()
	var tail []word
	for i, w := range args { // what follows a module belongs to it
		if strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.HasSuffix(w.text, "m") && !strings.ContainsAny(w.text,
			"cWX") && i+1 < len(args) {
			args, tail = args[:i+2], args[i+2:]
			break
		} else if !strings.HasPrefix(w.text, "-") || strings.Contains(w.text, "c") && !strings.HasPrefix(w.text, "--") {
			break
		}
	}
	a := f.parse(withArgs(c, args), pythonOptions, stop)
	if a.has("c") {
		return
	}
	if module, given := a.value("m"); given {
		f.pythonModule(c, module, append(a.operands, tail...))
		return
	}
	f.runsScript(c, &a)
}

func (f *finding) pythonModule(c *simple, module word, rest []word) {
	name := module.text
	switch {
	case module.unknown || module.pattern:
		f.raise(permission.RiskOpaque, "which module "+name+" stands for cannot be known before it runs")
	case pythonTools[name]:
		f.runs(c, append([]word{{text: strings.ReplaceAll(name, "_", "-")}}, rest...))
	case name == "unittest" || name == "doctest":
		f.raise(permission.RiskWorkspace, "it runs the project's tests")
		elsewhere.add(rest, f)
		f.works(word{}, false)
	case name == "json.tool":
		jsonTool(withArgs(c, rest), f)
	case name == "venv" || name == "virtualenv":
		pythonEnvironment.find(withArgs(c, rest), f)
	case name == "compileall" || name == "py_compile":
		f.raise(permission.RiskWorkspace, "it writes compiled files")
		elsewhere.add(rest, f)
	case name == "http.server":
		f.raise(permission.RiskNetwork, "it offers the folder to the network")
		f.works(word{}, false)
	case oneOf(name, "site sysconfig platform this tokenize ast dis"):
		elsewhere.add(rest, f)
	default:
		f.raise(permission.RiskOpaque, "air does not know what the module "+name+" does")
	}
}

var jsonTool = secondWritten("sort-keys no-ensure-ascii json-lines indent= tab no-indent compact")

// java runs a class of the project, an archive or a source file. Its options have no
// end: those that begin with -X and -D but for agents only tune.
func java(c *simple, f *finding) {
	if len(c.words) == 2 && c.words[1].text == "-version" {
		return
	}
	f.raise(permission.RiskWorkspace, "it runs code of the project")
	f.works(word{}, false)
	args := c.args()
	for len(args) > 0 {
		w := args[0]
		args = args[1:]
		switch name := strings.TrimLeft(w.text, "-"); {
		case w.unknown || w.pattern:
			f.raise(permission.RiskOpaque, "which code "+w.text+" stands for cannot be known before it runs")
			return
		case w.text == "-jar" && len(args) > 0:
			f.executes(args[0])
			elsewhere.add(args[1:], f)
			return
		case oneOf(w.text, "-cp -classpath --class-path -p --module-path") && len(args) > 0:
			for _, place := range strings.Split(args[0].text, ":") {
				if leadsOut(place) {
					f.readTree(word{text: strings.TrimSuffix(place, "*")})
				}
			}
			args = args[1:]
		case oneOf(w.text, "-m --module --add-modules --add-opens --add-exports --add-reads") && len(args) > 0:
			args = args[1:]
		case beginsWith(w.text, "-D -Xm -Xs -XX:+Use"):
		case strings.HasPrefix(w.text, "-") && oneOf(name, "ea enableassertions da esa dsa server client enable-preview showversion verbose"):
		case strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "@"):
			f.raise(permission.RiskOpaque, "air does not know the option "+w.text+" of java")
			return
		default:
			if strings.HasSuffix(w.text, ".java") {
				f.executes(w)
			}
			elsewhere.add(args, f)
			return
		}
	}
}

func deno(c *simple, f *finding) {
	if len(c.words) < 2 {
		return
	}
	switch verb := c.words[1].text; verb {
	case "run", "test", "bench", "serve":
		f.raise(permission.RiskWorkspace, "it runs code of the project")
		for _, w := range c.words[2:] {
			if strings.Contains(w.text, "://") || strings.HasPrefix(w.text, "npm:") || strings.HasPrefix(w.text, "jsr:") {
				f.raise(permission.RiskNetwork, "it fetches code and runs it")
			}
		}
		runsCode.find(withArgs(c, c.words[2:]), f)
		if verb == "run" {
			for _, w := range c.words[2:] {
				if !strings.HasPrefix(w.text, "-") {
					f.executes(w)
					break
				}
			}
		}
		f.works(word{}, false)
	case "fmt", "lint", "check", "doc", "info", "task", "compile":
		runsCode.find(withArgs(c, c.words[2:]), f)
	case "install", "add", "cache", "update", "outdated", "upgrade":
		f.raise(permission.RiskNetwork, "it downloads packages")
	default:
		f.raise(permission.RiskOpaque, "air does not know what deno "+verb+" does")
	}
}

func bun(c *simple, f *finding) {
	if len(c.words) < 2 {
		return
	}
	switch verb := c.words[1].text; {
	case oneOf(verb, "install i add remove rm update upgrade outdated create link"):
		f.raise(permission.RiskNetwork, "it downloads packages and runs their scripts")
	case oneOf(verb, "x publish"):
		packageRunner(&simple{words: c.words[1:], dir: c.dir}, f)
	case verb == "run" && len(c.words) > 2 && ownProgram(c.words[2].text):
		f.raise(permission.RiskWorkspace, projectCode)
		f.runs(c, c.words[2:])
	case oneOf(verb, "test run build"):
		runsCode.find(withArgs(c, c.words[2:]), f)
	case strings.HasPrefix(verb, "-") || oneOf(verb, "exec repl"):
		f.raise(permission.RiskOpaque, "air does not know what bun "+verb+" does")
	default:
		f.executes(c.words[1])
	}
}

// sqlite is sqlite3. SQL and its dot commands may write files and run commands.
func sqlite(c *simple, f *finding) {
	a := f.parse(c, "readonly header noheader csv json line list column html markdown box table separator= nullvalue= batch bail echo stats safe "+
		"init=! cmd=! version", single)
	f.raise(permission.RiskWorkspace, "it changes a database")
	if len(a.operands) < 2 {
		f.raise(permission.RiskOpaque, "the commands come from its input")
	}
	for i, w := range a.operands {
		switch {
		case i == 0 && a.has("readonly"):
			f.readFile(w)
		case i == 0:
			f.touch(w)
		case w.unknown || !sqlReads(w.text):
			f.raise(permission.RiskDestructive, "what the statement changes cannot be brought back")
			if strings.HasPrefix(strings.TrimSpace(w.text), ".") && !harmlessDot(w.text) {
				f.raise(permission.RiskOpaque, "the command of sqlite3 may write files and run commands")
			}
		}
	}
}

func harmlessDot(text string) bool {
	name, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return oneOf(name, ".tables .schema .indexes .databases .dbinfo .mode .headers") && !strings.Contains(text, "\n")
}

// sqlReads reports whether a statement only selects.
func sqlReads(text string) bool {
	if harmlessDot(text) {
		return true
	}
	if strings.Contains(text, "\n.") {
		return false
	}
	upper := strings.ReplaceAll(strings.Join(strings.Fields(strings.ToUpper(text)), " "), " (", "(")
	for _, act := range []string{"INSERT", "UPDATE", "DELETE", "DROP", "ALTER", "CREATE", "REPLACE", "ATTACH", "PRAGMA", "VACUUM", "TRUNCATE",
		"GRANT", "INTO", "COPY", "CALL", "EXEC", "LOAD", "WRITEFILE", "READFILE", "EDIT(", "REINDEX", "SET ", "LO_", "FSDIR", "ZIPFILE", "SQLAR", "/*", "--"} {
		if strings.Contains(upper, act) {
			return false
		}
	}
	return strings.HasPrefix(upper, "SELECT") || strings.HasPrefix(upper, "EXPLAIN") || strings.HasPrefix(upper,
		"SHOW") || strings.HasPrefix(upper, "WITH")
}
