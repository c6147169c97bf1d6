package command

import (
	"strings"
	"sync"

	"github.com/aircoding/air/runtime/permission"
)

const (
	projectCode = "it runs code of the project"
	downloads   = "it downloads packages"
	foreignCode = "it downloads code and runs it"
	publishes   = "it publishes in the person's name"
)

var (
	// runsCode is for tools that run what the project says: no option makes them more.
	runsCode = row{risk: permission.RiskWorkspace, why: projectCode, operands: elsewhere, here: true}.program()
	// checks is for tools that look at sources; what they obey is in the project.
	checks   = runsCode
	compiler = row{risk: permission.RiskWorkspace, why: "it writes files"}.compiles()
	objects  = row{operands: reads, named: true, options: letters + "j,section= C,demangle=? start-address= stop-address= M,disassembler-options= m= b= disassemble disassemble-all source syms reloc headers section-headers all-headers full-contents line-numbers no-show-raw-insn extern-only undefined-only defined-only print-size size-sort numeric-sort reverse-sort dynamic wide all segments sections file-header program-headers symbols dyn-syms relocs notes debug-dump=? radix= format= details"}.program()
)

// buildPrograms build and test projects, and fetch what they need.
var buildPrograms = map[string]program{
	"make": makes, "gmake": makes, "ninja": maker("C=% f=< j= k= l= n v t= d= w= quiet verbose"),
	"just": maker("f,justfile=< d,working-directory=% l,list n,dry-run q,quiet v,verbose summary show= set=!"), "task": maker("d,dir=% t,taskfile=< l,list a,list-all v,verbose s,silent f,force w,watch"), "rake": maker("f,rakefile=< T,tasks q,quiet n,dry-run t,trace v,verbose"), "mage": runsCode, "scons": runsCode,
	"cmake": cmake, "ctest": maker("C,build-config= V,verbose VV output-on-failure R,tests-regex= E,exclude-regex= L,label-regex= LE,label-exclude= j,parallel= N,show-only=? test-dir=% timeout= repeat= stop-on-failure rerun-failed Q,quiet I= preset= no-tests= progress output-junit=>"), "cpack": runsCode,
	"meson": subcommands{options: "C=%", of: verbs{"setup compile test configure introspect dist format": runsCode, "install": row{risk: permission.RiskPrivileged, why: "it installs for all users"}.program(), "wrap subprojects": row{risk: permission.RiskNetwork, why: downloads}.program()}}.program(),
	"bazel": bazel, "bazelisk": bazel, "buck2": bazel, "gradle": jvmBuild, "gradlew": jvmBuild, "mvn": jvmBuild, "mvnw": jvmBuild, "ant": runsCode, "sbt": runsCode, "lein": runsCode,
	"autoconf": runsCode, "automake": runsCode, "autoreconf": runsCode, "configure": runsCode, "libtool": runsCode, "pkg-config": row{anyWords: true}.program(),

	"go": golang, "gofmt": formatter("l d e s w cpuprofile=> r=", "w"), "goimports": formatter("l d e w v local= srcdir= format-only", "w"), "gofumpt": formatter("l d e w extra lang= modpath=", "w"),
	"golangci-lint": subcommands{options: "v color=", of: verbs{"run linters fmt formatters config version help": runsCode}}.program(), "staticcheck": checks, "gopls": runsCode, "dlv": row{risk: permission.RiskOpaque, why: "a debugger runs what is typed into it"}.program(), "govulncheck": row{risk: permission.RiskNetwork, why: "it asks a database of vulnerabilities"}.program(), "gotestsum": runsCode, "errcheck": checks, "protoc": compiler, "buf": subcommands{of: verbs{"lint build format generate breaking": runsCode, "push login registry": row{risk: permission.RiskPrivileged, why: publishes}.program(), "dep mod": row{risk: permission.RiskNetwork, why: downloads}.program()}}.program(),

	"cargo": cargo, "rustc": compiler, "rustfmt": formatter("check edition= config-path=< q,quiet v,verbose l,files-with-diff emit=", ""), "clippy-driver": compiler,
	"rustup": subcommands{of: verbs{"show which": row{anyWords: true}.program(), "update install toolchain component target self default": row{risk: permission.RiskNetwork, why: "it downloads toolchains"}.program(), "run": row{risk: permission.RiskOpaque, why: "it runs another command"}.program()}}.program(),

	"npm": npm, "pnpm": npm, "yarn": npm, "npx": packageRunner, "pnpx": packageRunner, "bunx": packageRunner, "corepack": row{risk: permission.RiskNetwork, why: downloads}.program(),
	"nx": runsCode, "turbo": runsCode, "lerna": runsCode, "node-tsc": checks, "node-gyp": row{risk: permission.RiskNetwork, why: downloads}.program(), "nvm": row{risk: permission.RiskOpaque, why: "it changes which node runs"}.program(),

	"pip": pip, "pip3": pip, "pipx": subcommands{of: verbs{"list": row{}.program(), "install upgrade inject run": row{risk: permission.RiskNetwork, why: foreignCode}.program(), "uninstall": runsCode}}.program(),
	"uv": uv, "uvx": row{risk: permission.RiskNetwork, why: foreignCode}.program(), "poetry": poetry, "pdm": poetry, "pipenv": poetry, "hatch": poetry, "conda": conda, "mamba": conda, "micromamba": conda,
	"virtualenv": row{risk: permission.RiskWorkspace, why: "it makes an environment", operands: touches, options: "p,python="}.program(), "twine": row{risk: permission.RiskPrivileged, why: publishes}.program(),
	"bundle": subcommands{options: "", of: verbs{"install update add outdated": row{risk: permission.RiskNetwork, why: downloads, here: true}.program(), "list show info check": row{}.program(), "exec": runsRest}}.program(), "bundler": runsCode,
	"gem":      subcommands{of: verbs{"list which environment contents specification": row{}.program(), "install update fetch search": row{risk: permission.RiskNetwork, why: foreignCode}.program(), "push yank owner signin": row{risk: permission.RiskPrivileged, why: publishes}.program(), "build": runsCode}}.program(),
	"composer": subcommands{of: verbs{"install update require create-project outdated": row{risk: permission.RiskNetwork, why: foreignCode, here: true}.program(), "show validate dump-autoload check-platform-reqs test run-script": runsCode}}.program(),
	"dotnet":   subcommands{of: verbs{"build test run clean format publish pack msbuild new sln vstest": runsCode, "restore add tool workload": row{risk: permission.RiskNetwork, why: downloads, here: true}.program(), "nuget": row{risk: permission.RiskPrivileged, why: publishes}.program()}}.program(),
	"swift":    subcommands{of: verbs{"build test run": runsCode, "package": row{risk: permission.RiskNetwork, why: downloads, here: true}.program()}}.program(), "swiftc": compiler, "xcodebuild": runsCode,
	"zig":     subcommands{of: verbs{"build build-exe build-lib build-obj test run cc c++ ast-check": runsCode, "fmt": runsCode, "env version targets zen": row{}.program(), "fetch": row{risk: permission.RiskNetwork, why: downloads}.program()}}.program(),
	"mix":     subcommands{of: verbs{"test compile format run phx.server credo dialyzer ecto.migrate": runsCode, "deps.get deps.update hex.info": row{risk: permission.RiskNetwork, why: downloads, here: true}.program(), "hex.publish": row{risk: permission.RiskPrivileged, why: publishes}.program()}}.program(),
	"flutter": subcommands{of: verbs{"analyze test build run doctor clean": runsCode, "pub upgrade": row{risk: permission.RiskNetwork, why: downloads, here: true}.program()}}.program(), "dart": subcommands{of: verbs{"analyze test format run compile": runsCode, "pub": row{risk: permission.RiskNetwork, why: downloads, here: true}.program()}}.program(),
	"stack": runsCode, "cabal": runsCode, "ghc": compiler, "ocamlc": compiler, "dune": runsCode, "kotlinc": compiler, "javac": compiler, "scalac": compiler, "javap": checks, "jar": row{risk: permission.RiskWorkspace, why: "it writes files", operands: touches}.program(),

	"gcc": compiler, "g++": compiler, "cc": compiler, "c++": compiler, "clang": compiler, "clang++": compiler, "cpp": compiler, "as": compiler, "gfortran": compiler, "nvcc": compiler, "emcc": compiler, "tinygo": subcommands{of: verbs{"build test run": runsCode, "version env info targets": row{}.program()}}.program(), "ld": compiler, "wat2wasm": compiler, "wasm2wat": compiler, "wasm-objdump": objects,
	"ar": row{risk: permission.RiskWorkspace, why: "it writes files", named: true, options: letters, operands: elsewhere}.program(), "ranlib": row{risk: permission.RiskWorkspace, operands: touches}.program(), "strip": row{risk: permission.RiskWorkspace, operands: writes, options: "o= s,strip-all S,strip-debug K,keep-symbol= N,strip-symbol= R,remove-section="}.program(), "objcopy": row{risk: permission.RiskWorkspace, operands: writes}.program(),
	"nm": objects, "objdump": objects, "readelf": objects, "size": objects, "addr2line": row{operands: noPaths, options: "e,exe=<"}.program(), "c++filt": row{anyWords: true}.program(), "ldd": row{risk: permission.RiskWorkspace, why: "it may run the program", operands: reads}.program(),
	"gdb": row{risk: permission.RiskOpaque, why: "a debugger runs what is typed into it"}.program(), "lldb": row{risk: permission.RiskOpaque, why: "a debugger runs what is typed into it"}.program(), "valgrind": runsRest, "perf": row{risk: permission.RiskOpaque, why: "it runs another command"}.program(), "hyperfine": row{risk: permission.RiskOpaque, why: "it runs other commands"}.program(),
	"cppcheck": checks, "clang-tidy": row{risk: permission.RiskWorkspace, operands: reads, guarded: true, options: "p= checks= fix fix-errors header-filter= config= config-file=< quiet format-style= warnings-as-errors= list-checks extra-arg=! extra-arg-before=! export-fixes=> use-color dump-config"}.program(),
	"clang-format": formatter("i style= n,dry-run Werror assume-filename= fallback-style= lines= sort-includes dump-config output-replacements-xml", "i"),

	"tsc": row{risk: permission.RiskWorkspace, why: "it writes compiled files", operands: elsewhere, here: true, options: "p,project=< b,build noEmit w,watch init outDir=> outFile=> target= module= t= m="}.program(), "vue-tsc": checks,
	"eslint":   row{risk: permission.RiskWorkspace, why: projectCode, operands: elsewhere, here: true, options: "c,config=< fix ext= o,output-file=> f,format= rule= max-warnings= ignore-path=< ignore-pattern= cache-location=> rulesdir=<< resolve-plugins-relative-to=<< plugin= env= global= parser= parser-options="}.program(),
	"prettier": row{risk: permission.RiskWorkspace, why: projectCode, operands: elsewhere, here: true, options: "c,check w,write l,list-different config=< ignore-path=< parser= plugin=! stdin-filepath= log-level="}.program(),
	"jest":     runsCode, "vitest": runsCode, "mocha": runsCode, "ava": runsCode, "tap": runsCode, "karma": runsCode, "cypress": runsCode, "playwright": runsCode, "webpack": runsCode, "vite": runsCode, "rollup": runsCode, "esbuild": runsCode, "next": runsCode, "astro": runsCode, "nuxt": runsCode, "ng": runsCode, "babel": runsCode, "swc": runsCode, "biome": runsCode, "oxlint": checks, "stylelint": checks, "tsup": runsCode, "nodemon": runsCode, "c8": runsRest, "nyc": runsRest, "concurrently": row{risk: permission.RiskOpaque, why: "it runs other commands"}.program(), "cross-env": row{risk: permission.RiskOpaque, why: "it runs other commands"}.program(), "markdownlint": checks, "knip": checks, "depcheck": checks, "lint-staged": runsCode, "husky": row{risk: permission.RiskOpaque, why: "it installs hooks"}.program(), "storybook": runsCode, "prisma": row{risk: permission.RiskNetwork, why: "it may change a database"}.program(), "drizzle-kit": row{risk: permission.RiskNetwork, why: "it may change a database"}.program(),
	"pytest": row{risk: permission.RiskWorkspace, why: "it runs the project's tests", operands: elsewhere, here: true, options: "c,config-file=< rootdir=<< confcutdir=<< p= k= m= o= W= n= maxfail= junitxml,junit-xml=> basetemp=> cov=? cov-report= cov-config=< tb= durations= ignore= deselect= log-file=> html=> color= timeout= dist= import-mode="}.program(), "py.test": runsCode,
	"tox": row{risk: permission.RiskWorkspace, why: "it runs the project's tests", here: true, operands: elsewhere, options: "e= c=< p= workdir=> x=!"}.program(), "nox": runsCode, "mypy": checks, "pyright": checks, "flake8": checks, "pylint": checks, "pyflakes": checks, "pycodestyle": checks, "bandit": checks, "vulture": checks, "coverage": coverage, "build": row{risk: permission.RiskNetwork, why: downloads, here: true}.program(),
	"ruff": row{risk: permission.RiskWorkspace, why: "it may rewrite files", operands: elsewhere, here: true, options: "config=< o,output-file=> select= ignore= extend-select= line-length= target-version="}.program(), "black": row{risk: permission.RiskWorkspace, why: "it rewrites files", operands: formats, here: true, options: "c,code= l,line-length= t,target-version= include= exclude= extend-exclude= force-exclude= config=< stdin-filename= W,workers= required-version="}.program(), "isort": row{risk: permission.RiskWorkspace, why: "it rewrites files", operands: formats, here: true, options: "profile= l,line-length= settings-file=< p= s,skip="}.program(), "autopep8": row{risk: permission.RiskWorkspace, operands: formats}.program(), "yapf": row{risk: permission.RiskWorkspace, operands: formats}.program(),
	"rubocop": checks, "rspec": runsCode, "rails": runsCode, "phpunit": runsCode, "phpstan": checks, "shellcheck": row{operands: reads, options: "s,shell= e,exclude= f,format= S,severity= o,enable= i,include= C,color=? P,source-path= W=", guarded: false}.program(), "shfmt": formatter("l w d i= bn ci sr kp fn s mn ln= p f", "w"), "hadolint": row{operands: reads}.program(), "actionlint": checks, "yamllint": checks, "stylua": formatter("check", ""), "luacheck": checks, "ktlint": checks, "swiftlint": checks, "djlint": checks,
}

// verbs are what a program does by the name of it; several names are separated by blanks.
type verbs map[string]program

// apart has each name for itself.
func (v verbs) apart() map[string]program {
	all := map[string]program{}
	for names, does := range v {
		for name := range set(names) {
			all[name] = does
		}
	}
	return all
}

// subcommands is a program whose first operand says what it does.
type subcommands struct {
	options spec // before it
	of      verbs
	here    bool // each works on the folder
}

func (s subcommands) program() program {
	known, of := s.options.options, sync.OnceValue(s.of.apart)
	return func(c *simple, f *finding) {
		f.raise(permission.RiskReadOnly, "")
		if helps(c) || len(c.words) == 1 {
			return
		}
		a := (&reader{options: known(), stop: true, args: c.args()}).read()
		a.guard(c, f)
		a.apply(c, f)
		if len(a.operands) == 0 {
			return
		}
		verb := a.operands[0]
		command, found := of()[verb.text]
		if verb.unknown || verb.pattern || !found {
			f.raise(permission.RiskOpaque, "air does not know what "+base(c.name())+" "+verb.text+" does")
			return
		}
		dir, moved := a.folder()
		start := len(f.effects)
		command(&simple{words: append([]word{{text: base(c.name()) + " " + verb.text}}, a.operands[1:]...), dir: c.dir}, f)
		if len(a.flags) > 0 {
			f.plain = append([]string{base(c.name())}, texts(a.operands)...)
		}
		if moved {
			f.below(dir, start)
			f.moveInner(dir, c)
		}
		if moved || s.here {
			f.works(dir, moved)
		}
	}
}

// runsRest runs the command that its operands are.
func runsRest(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	rest := c.args()
	if len(rest) == 0 || helps(c) {
		return
	}
	if strings.HasPrefix(rest[0].text, "-") || rest[0].mayBeOption() {
		f.raise(permission.RiskOpaque, "air does not know the option "+rest[0].text+" of "+base(c.name()))
		return
	}
	f.runs(c, rest)
}

// formatter rewrites files without changing what they mean, where the option says so, or
// always where it is "".
func formatter(options spec, writes string) program {
	known := options.options
	return func(c *simple, f *finding) {
		f.raise(permission.RiskReadOnly, "")
		if helps(c) {
			return
		}
		a := (&reader{options: known(), args: c.args()}).read()
		a.guard(c, f)
		a.apply(c, f)
		rewrites := writes == "" && !a.has("check") || writes != "" && a.has(writes)
		for _, w := range a.operands {
			n := len(f.effects)
			if rewrites {
				f.touch(w)
			} else {
				f.readTree(w)
			}
			f.deep(n)
		}
	}
}

// maker builds what a file of the project says.
func maker(options spec) program {
	return row{risk: permission.RiskWorkspace, why: "it runs the commands that the project names", options: options, guarded: true, operands: elsewhere, here: true}.program()
}

var makeFile = row{risk: permission.RiskWorkspace, why: "it runs the commands that the project names", guarded: true, operands: elsewhere, here: true,
	options: "b m B,always-make C,directory=% d debug=? e,environment-overrides eval=! f,file,makefile=< h i,ignore-errors I,include-dir=<< j,jobs=? k,keep-going l,load-average=? L,check-symlink-times n,just-print,dry-run,recon o,old-file,assume-old= O,output-sync=? p,print-data-base q,question r,no-builtin-rules R,no-builtin-variables s,silent,quiet no-silent S,no-keep-going,stop t,touch trace v w,print-directory no-print-directory W,what-if,new-file= warn-undefined-variables shuffle=?"}.program()

// makes is make. Variables may hold commands.
func makes(c *simple, f *finding) {
	makeFile(c, f)
	for _, w := range c.args() {
		name, value, assigned := strings.Cut(w.text, "=")
		if assigned && !strings.HasPrefix(name, "-") && (strings.ContainsAny(value, "$`;|&<>\n") || set("SHELL .SHELLFLAGS MAKEFLAGS MAKE GNUMAKEFLAGS")[strings.TrimRight(name, ":+?")]) {
			f.raise(permission.RiskOpaque, "make may run what the variable "+name+" holds")
		}
	}
}

var cmakeBuilds = row{risk: permission.RiskWorkspace, why: projectCode, guarded: true, operands: elsewhere, here: true, single: true,
	options: "S=<< B= G= D= U= A= T= build=<< j parallel= target= t= config= clean-first verbose v preset= Wno-dev Wdev log-level= install= prefix= component= strip fresh list-presets workflow toolchain=< L N LA LAH E= P=< C=< version help trace debug-output warn-uninitialized graphviz=> open"}.program()

// cmake configures and builds, and has small tools of its own.
func cmake(c *simple, f *finding) {
	args := splitLetters(c.args(), "DGSBUATj")
	cmakeBuilds(&simple{words: append([]word{c.words[0]}, args...), dir: c.dir}, f)
	for i, w := range args {
		switch {
		case w.text == "-E":
			if i+1 < len(args) && !set("echo capabilities environment time sleep true false cat md5sum sha256sum")[args[i+1].text] {
				f.raise(permission.RiskOpaque, "air does not know what cmake -E "+args[i+1].text+" does")
			}
			return
		case w.text == "-B" && i+1 < len(args):
			f.touch(args[i+1])
		case w.text == "--install":
			f.raise(permission.RiskPrivileged, "it installs for all users")
		case w.text == "-D" && i+1 < len(args) && strings.Contains(args[i+1].text, "LAUNCHER"):
			f.raise(permission.RiskOpaque, "cmake runs the launcher")
		}
	}
}

// splitLetters makes two words of an option with its value in the same word.
func splitLetters(args []word, letters string) []word {
	var all []word
	for _, w := range args {
		if len(w.text) > 2 && w.text[0] == '-' && strings.IndexByte(letters, w.text[1]) >= 0 {
			value := w
			value.text = w.text[2:]
			all = append(all, word{text: w.text[:2]}, value)
			continue
		}
		all = append(all, w)
	}
	return all
}

// bazel runs what the project says, unless an option names a program to run.
func bazel(c *simple, f *finding) {
	f.raise(permission.RiskWorkspace, projectCode)
	f.works(word{}, false)
	for _, w := range c.args() {
		if strings.HasPrefix(w.text, "--run_under") || strings.HasPrefix(w.text, "--bazelrc") || strings.HasPrefix(w.text, "--output_user_root") || strings.HasPrefix(w.text, "--output_base") {
			f.raise(permission.RiskOpaque, "what the option "+w.text+" does cannot be known before it runs")
		}
	}
}

// jvmBuild is gradle and maven. Publishing is not building.
func jvmBuild(c *simple, f *finding) {
	f.raise(permission.RiskWorkspace, projectCode)
	f.works(word{}, false)
	args := c.args()
	for i, w := range args {
		next := word{}
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch {
		case w.text == "deploy" || w.text == "publish" || strings.HasPrefix(w.text, "release:") || strings.Contains(w.text, "publish") || strings.HasPrefix(w.text, "deploy:"):
			f.raise(permission.RiskPrivileged, publishes)
		case set("-f --file -s --settings -I --init-script -p --project-dir -c --settings-file -b --build-file --include-build")[w.text]:
			f.readTree(next)
		case strings.HasPrefix(w.text, "exec:") || strings.HasPrefix(w.text, "-Dexec.") || strings.HasPrefix(w.text, "-Dmaven.ext.class.path"):
			f.raise(permission.RiskOpaque, "it runs the program that an option names")
		case w.text == "wrapper" || strings.HasPrefix(w.text, "dependency:") || strings.HasPrefix(w.text, "versions:"):
			f.raise(permission.RiskNetwork, downloads)
		case leads(w):
			f.readTree(w)
		}
	}
}

const (
	goBuildOptions spec = "C=% a n p= race msan asan cover covermode= coverpkg= v work x asmflags= buildmode= buildvcs= compiler= gccgoflags=! gcflags= installsuffix= json ldflags= linkshared mod= modcacherw modfile=< overlay=< pgo= pkgdir=> tags= trimpath toolexec=! o=+"
	goTestOptions  spec = goBuildOptions + " args bench= benchmem benchtime= blockprofile=> blockprofilerate= count= coverprofile=+ cpu= cpuprofile=+ exec=! failfast fullpath fuzz= fuzztime= fuzzminimizetime= fuzzcachedir=> i c list= memprofile=+ memprofilerate= mutexprofile=> mutexprofilefraction= outputdir=> parallel= run= short shuffle= skip= timeout= trace=> vet= test.v test.run= artifacts"
)

func goCommand(risk permission.Risk, why string, options spec) program {
	return row{risk: risk, why: why, guarded: true, single: true, here: true, operands: elsewhere, options: options}.program()
}

var golang = subcommands{here: true, options: "C=%", of: verbs{
	"build": goLinks(goCommand(permission.RiskWorkspace, "it builds the project", goBuildOptions)),
	"test":  goLinks(goTest), "vet": goCommand(permission.RiskWorkspace, "it builds the project", goBuildOptions+" vettool=! c= fix! diff"),
	"run": goLinks(goRun), "install": goLinks(goFetches), "get": goCommand(permission.RiskNetwork, downloads, goBuildOptions+" t u=? d f fix insecure tool"),
	"fmt": goCommand(permission.RiskWorkspace, "it rewrites files", "n x mod="), "list": goCommand("", "", goBuildOptions+" f= m u versions deps test e export find compiled retracted reuse=< json=?"),
	"generate": goCommand(permission.RiskWorkspace, "it runs the commands that the project names", goBuildOptions+" run= skip="), "fix": goCommand(permission.RiskWorkspace, "it rewrites files", goBuildOptions+" diff fixtool=!"),
	"doc": row{single: true, options: "all c cmd short src u http"}.program(), "version": row{operands: reads, single: true, options: "m v json"}.program(), "help": row{}.program(), "bug": row{risk: permission.RiskNetwork, why: "it opens a browser"}.program(),
	"env": goEnv, "clean": goCommand(permission.RiskWorkspace, "it deletes what can be built again", goBuildOptions+" i r cache testcache modcache fuzzcache"),
	"mod": subcommands{of: verbs{
		"download": goCommand(permission.RiskNetwork, downloads, "x json reuse=<"), "tidy": goCommand(permission.RiskNetwork, downloads, "e v x diff go= compat="), "vendor": goCommand(permission.RiskNetwork, downloads, "e v o=>"),
		"graph": goCommand("", "", "go= x"), "verify": goCommand("", "", ""), "why": goCommand("", "", "m vendor"), "init": goCommand(permission.RiskWorkspace, "it writes go.mod", ""),
		"edit": goCommand(permission.RiskWorkspace, "it writes go.mod", "fmt module= godebug= dropgodebug= require= droprequire= go= toolchain= exclude= dropexclude= replace= dropreplace= retract= dropretract= tool= droptool= ignore= dropignore= print json"),
	}}.program(),
	"work": subcommands{of: verbs{"init use edit vendor": goCommand(permission.RiskWorkspace, "it writes go.work", "r use= dropuse= go= replace= print json"), "sync": goCommand(permission.RiskNetwork, downloads, "")}}.program(),
	"tool": goTool, "telemetry": row{risk: permission.RiskPrivileged, why: "it changes a setting of the person"}.program(),
}}.program()

// goLinks also looks for a linker of another name.
func goLinks(find program) program {
	return func(c *simple, f *finding) {
		find(c, f)
		for _, w := range c.args() {
			if strings.Contains(w.text, "-extld") || strings.Contains(w.text, "-toolexec") {
				f.raise(permission.RiskOpaque, "go runs the program that "+w.text+" names")
			}
		}
	}
}

// goTest leaves what follows -args to the tests.
func goTest(c *simple, f *finding) {
	own := *c
	for i, w := range c.words {
		if w.text == "-args" || w.text == "--args" {
			own.words = c.words[:i]
			elsewhere.add(c.words[i+1:], f)
		}
	}
	goCommand(permission.RiskWorkspace, "it runs the project's tests", goTestOptions)(&own, f)
}

// goRun builds and runs a package or files of the project, or a package at a version.
func goRun(c *simple, f *finding) {
	a := (&reader{options: (goBuildOptions + " exec=!").options(), single: true, stop: true, args: c.args()}).read()
	f.raise(permission.RiskWorkspace, projectCode)
	a.guard(c, f)
	a.apply(c, f)
	if len(a.operands) > 0 && strings.Contains(a.operands[0].text, "@") {
		f.raise(permission.RiskNetwork, foreignCode)
	}
	for i, w := range a.operands {
		if strings.HasSuffix(w.text, ".go") && i == 0 && !w.unknown && !w.pattern {
			f.script = w.text
		}
	}
	elsewhere.add(a.operands, f)
}

func goFetches(c *simple, f *finding) {
	goCommand(permission.RiskWorkspace, "it builds the project and installs the program for the person", goBuildOptions)(c, f)
	for _, w := range c.args() {
		if strings.Contains(w.text, "@") {
			f.raise(permission.RiskNetwork, foreignCode)
		}
	}
}

func goEnv(c *simple, f *finding) {
	a := (&reader{options: spec("json w u changed").options(), single: true, args: c.args()}).read()
	a.guard(c, f)
	if a.has("w", "u") {
		f.raise(permission.RiskPrivileged, "it changes a setting of the person")
	}
}

func goTool(c *simple, f *finding) {
	args := c.args()
	if len(args) == 0 {
		return
	}
	switch {
	case set("cover nm objdump addr2line buildid test2json doc")[args[0].text]:
		f.raise(permission.RiskWorkspace, "it may write files")
		row{operands: elsewhere, single: true, options: "o=> func=< html=< mode= var= i= pkgcfg=<"}.program()(&simple{words: args, dir: c.dir}, f)
	default:
		f.raise(permission.RiskOpaque, "air does not know what go tool "+args[0].text+" does")
	}
}

const cargoOptions spec = "v,verbose q,quiet color= frozen locked offline p,package= workspace all exclude= lib bin= bins example= examples test= tests bench= benches all-targets F,features= all-features no-default-features r,release profile= j,jobs= keep-going target= target-dir=> manifest-path=< message-format= unit-graph timings=? ignore-rust-version no-run no-fail-fast doc open no-deps document-private-items fix allow-dirty allow-staged broken-code edition edition-idioms check all-features future-incompat-report C=% config=! Z=! i,invert= d,duplicates e,edges= depth= prefix= format-version= filter-platform= no-dev dry-run precise= aggressive recursive"

func cargoDoes(risk permission.Risk, why string) program {
	find := row{risk: risk, why: why, guarded: true, here: true, operands: elsewhere, options: cargoOptions}.program()
	return func(c *simple, f *finding) {
		own := *c
		for i, w := range c.words { // what follows -- belongs to the program
			if w.text == "--" {
				own.words = c.words[:i]
				elsewhere.add(c.words[i+1:], f)
				break
			}
		}
		find(&own, f)
	}
}

var cargoCommands = subcommands{here: true, options: "v,verbose q,quiet color= frozen locked offline C=% config=! Z=! V,version list", of: verbs{
	"build b check c test t bench run r doc d clippy fmt fix clean rustc rustdoc nextest llvm-cov expand": cargoDoes(permission.RiskWorkspace, projectCode),
	"metadata tree pkgid locate-project read-manifest verify-project version help":                        cargoDoes("", ""),
	"new init":                            row{risk: permission.RiskWorkspace, why: "it makes a package", operands: touches, options: "vcs= name= edition= registry="}.program(),
	"package generate-lockfile remove rm": cargoDoes(permission.RiskWorkspace, "it writes files"),
	"fetch update add install search vendor info audit outdated deny": row{risk: permission.RiskNetwork, why: downloads, operands: elsewhere}.program(),
	"uninstall":                       row{risk: permission.RiskDestructive, why: "it deletes programs of the person"}.program(),
	"publish yank owner login logout": row{risk: permission.RiskPrivileged, why: publishes}.program(),
}}.program()

// cargo may be told a toolchain first: cargo +nightly.
func cargo(c *simple, f *finding) {
	own := *c
	if len(c.words) > 1 && strings.HasPrefix(c.words[1].text, "+") && !c.words[1].unknown {
		own.words = append([]word{c.words[0]}, c.words[2:]...)
	}
	cargoCommands(&own, f)
	if len(own.words) != len(c.words) && f.plain == nil {
		f.plain = texts(own.words)
	}
}

const npmOptions spec = "prefix=% C,cwd,dir=% s,silent q,quiet d v,version w,workspace= W,workspaces ws F,filter= r,recursive if-present no-audit no-fund ignore-scripts loglevel= registry= color no-color json long parseable depth= include= omit= parallel stream bail verbose"

var npmFetches = set("install i in add ci clean-install install-test it update up upgrade outdated audit view info show v search dedupe ddp rebuild import fund dlx create init link unlink uninstall remove rm un r prune")

// npm is npm, pnpm and yarn, which agree on the names of what they do.
func npm(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	if helps(c) {
		return
	}
	a := (&reader{options: npmOptions.options(), stop: true, args: c.args()}).read()
	a.guard(c, f)
	a.apply(c, f)
	verb := "install" // what yarn does alone
	var rest []word
	if len(a.operands) > 0 {
		verb, rest = a.operands[0].text, a.operands[1:]
	} else if base(c.name()) != "yarn" || len(a.flags) > 0 {
		return
	}
	dir, moved := a.folder()
	f.works(dir, moved)
	if len(a.flags) > 0 {
		f.plain = append([]string{base(c.name())}, texts(a.operands)...)
	}
	f.npmVerb(c, verb, rest)
}

func (f *finding) npmVerb(c *simple, verb string, rest []word) {
	for _, w := range rest {
		if w.text == "--" {
			break
		}
		if strings.HasPrefix(w.text, "--script-shell") || strings.HasPrefix(w.text, "--node-options") || strings.HasPrefix(w.text, "--git=") || strings.HasPrefix(w.text, "--shell") || strings.HasPrefix(w.text, "--userconfig") || strings.HasPrefix(w.text, "--globalconfig") {
			f.raise(permission.RiskOpaque, "it runs the program that the option "+w.text+" names")
		}
	}
	elsewhere.add(rest, f)
	switch {
	case set("test t tst start stop restart run run-script rum urn build lint dev version-check")[verb] && verb != "version":
		f.raise(permission.RiskWorkspace, "it runs a script of the project")
	case set("ls list ll la root prefix bin explain why query help pkg config get cache doctor ping whoami version")[verb]:
		f.npmSmall(verb, rest)
	case verb == "init" && len(rest) > 0 && set("-y --yes")[rest[0].text] && len(rest) == 1:
		f.raise(permission.RiskWorkspace, "it writes package.json")
	case npmFetches[verb]:
		f.raise(permission.RiskNetwork, downloads+" and runs their scripts")
		for _, w := range rest {
			if set("-g --global --location=global")[w.text] {
				f.raise(permission.RiskPrivileged, "it installs for all projects of the person")
			}
		}
	case verb == "exec" || verb == "x":
		packageRunner(&simple{words: append([]word{{text: "npx"}}, rest...), dir: c.dir}, f)
	case set("publish unpublish deprecate dist-tag owner access team adduser login logout token profile hook org star")[verb]:
		f.raise(permission.RiskPrivileged, publishes)
	case verb == "pack":
		f.raise(permission.RiskWorkspace, "it runs a script of the project")
	case base(c.name()) != "npm" && (projectTools[verb] || set("node env sh bash python python3 ruby perl deno")[verb]):
		f.raise(permission.RiskWorkspace, projectCode)
		f.runs(c, append([]word{{text: verb}}, rest...))
	case base(c.name()) != "npm" && plainName(verb): // yarn NAME and pnpm NAME run a script
		f.raise(permission.RiskWorkspace, "it runs a script of the project")
	default:
		f.raise(permission.RiskOpaque, "air does not know what "+base(c.name())+" "+verb+" does")
	}
}

func plainName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-.") == "" && text[0] != '-' && !set("dlx create global set plugin patch env self-update setup store server deploy")[text]
}

// npmSmall are the commands that show something, and change it where they get more.
func (f *finding) npmSmall(verb string, rest []word) {
	what := ""
	if len(rest) > 0 {
		what = rest[0].text
	}
	switch {
	case verb == "ping" || verb == "whoami":
		f.raise(permission.RiskNetwork, "it asks the registry")
	case verb == "config" && !set("get list ls")[what]:
		f.raise(permission.RiskOpaque, "npm may run what the setting names")
	case verb == "cache" && !set("ls verify dir")[what], verb == "pkg" && what != "get", verb == "version" && what != "":
		f.raise(permission.RiskWorkspace, "it changes files")
	}
}

// packageRunner is npx and its like: a tool of the project, or what they download.
func packageRunner(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	if helps(c) {
		return
	}
	a := (&reader{options: spec("y,yes no no-install q,quiet p,package= c,call=$ w,workspace= ignore-existing").options(), stop: true, args: c.args()}).read()
	a.guard(c, f)
	a.apply(c, f)
	f.works(word{}, false)
	if len(a.operands) == 0 {
		return
	}
	tool := a.operands[0]
	switch {
	case a.has("package", "ignore-existing") || tool.unknown || tool.pattern || !projectTools[tool.text]:
		f.raise(permission.RiskNetwork, foreignCode)
		if a.has("no", "no-install") {
			f.raise(permission.RiskOpaque, "air does not know what "+tool.text+" does")
		}
		elsewhere.add(a.operands[1:], f)
	default:
		f.raise(permission.RiskWorkspace, projectCode)
		f.runs(c, a.operands)
	}
}

// projectTools are programs of the table that a project brings along in node_modules.
var projectTools = set("tsc vue-tsc eslint prettier jest vitest mocha ava tap karma cypress playwright webpack vite rollup esbuild next astro nuxt ng babel swc biome oxlint stylelint tsup nodemon c8 nyc markdownlint knip depcheck lint-staged tsx ts-node nx turbo lerna storybook prisma drizzle-kit")

var pipCommands = subcommands{options: "q,quiet v,verbose V,version disable-pip-version-check no-input no-color isolated python=< require-virtualenv h,help", of: verbs{
	"list freeze show check help debug inspect hash": row{operands: elsewhere}.program(),
	"install download wheel":                         row{risk: permission.RiskNetwork, why: downloads + " and runs their setup", operands: elsewhere, guarded: true, options: "r,requirement=< c,constraint=< e,editable=<< t,target=> d,dest=> w,wheel-dir=> no-deps pre U,upgrade upgrade-strategy= force-reinstall I,ignore-installed no-build-isolation no-cache-dir q,quiet v,verbose user break-system-packages i,index-url= extra-index-url= no-index f,find-links= only-binary= no-binary= prefer-binary require-hashes root-user-action= report=> progress-bar= dry-run disable-pip-version-check timeout= retries= trusted-host= use-pep517 no-warn-script-location no-compile python-version= platform= group= root=> prefix=> src=> log=> cache-dir=>"}.program(),
	"index search":                                   row{risk: permission.RiskNetwork, why: "it asks the registry"}.program(),
	"uninstall":                                      row{risk: permission.RiskWorkspace, why: "it removes packages that can be installed again", operands: noPaths, options: "r,requirement=< y,yes"}.program(),
	"cache":                                          row{risk: permission.RiskWorkspace, why: "it changes files"}.program(),
	"config":                                         row{risk: permission.RiskOpaque, why: "pip obeys what the setting names"}.program(),
}}.program()

func pip(c *simple, f *finding) { pipCommands(c, f) }

var uvCommands = subcommands{options: "q,quiet v,verbose offline directory=% project=% no-cache n V,version color= native-tls no-progress", here: true, of: verbs{
	"pip": pip, "run": uvRun, "venv": row{risk: permission.RiskWorkspace, why: "it makes an environment", operands: touches, options: "p,python= seed prompt= clear"}.program(),
	"sync": row{risk: permission.RiskNetwork, why: downloads}.program(), "lock": row{risk: permission.RiskNetwork, why: downloads}.program(), "add": row{risk: permission.RiskNetwork, why: downloads}.program(), "remove": row{risk: permission.RiskNetwork, why: downloads}.program(), "python": row{risk: permission.RiskNetwork, why: downloads}.program(),
	"tool": row{risk: permission.RiskNetwork, why: foreignCode}.program(), "build": row{risk: permission.RiskNetwork, why: downloads}.program(), "init": row{risk: permission.RiskWorkspace, why: "it makes a package", operands: touches}.program(),
	"tree": row{}.program(), "version": row{}.program(), "export": row{options: "o,output-file=> format="}.program(), "publish": row{risk: permission.RiskPrivileged, why: publishes}.program(), "cache": row{risk: permission.RiskWorkspace, why: "it changes files"}.program(),
}}.program()

func uv(c *simple, f *finding) { uvCommands(c, f) }

// uvRun runs a command in the project's environment.
func uvRun(c *simple, f *finding) {
	a := (&reader{options: spec("no-sync frozen locked offline q,quiet v,verbose extra= all-extras group= dev no-dev isolated p,python= m,module= active package=").options(), stop: true, args: c.args()}).read()
	a.guard(c, f)
	f.raise(permission.RiskWorkspace, projectCode)
	if module, given := a.value("module"); given {
		f.pythonModule(c, module, a.operands)
		return
	}
	if len(a.operands) > 0 && strings.HasSuffix(a.operands[0].text, ".py") {
		f.executes(a.operands[0])
		return
	}
	f.runs(c, a.operands)
}

var poetry = subcommands{options: "q,quiet v,verbose n,no-interaction C,directory=% P,project=%", here: true, of: verbs{
	"run": runsRest, "install": row{risk: permission.RiskNetwork, why: downloads}.program(), "add": row{risk: permission.RiskNetwork, why: downloads}.program(), "remove": row{risk: permission.RiskNetwork, why: downloads}.program(), "update": row{risk: permission.RiskNetwork, why: downloads}.program(), "lock": row{risk: permission.RiskNetwork, why: downloads}.program(), "sync": row{risk: permission.RiskNetwork, why: downloads}.program(),
	"show": row{}.program(), "check": row{}.program(), "version": row{risk: permission.RiskWorkspace, why: "it writes pyproject.toml"}.program(), "env": row{risk: permission.RiskWorkspace, why: "it makes an environment"}.program(), "build": row{risk: permission.RiskWorkspace, why: projectCode}.program(), "test": runsCode, "publish": row{risk: permission.RiskPrivileged, why: publishes}.program(),
	"config": row{risk: permission.RiskPrivileged, why: "it changes a setting of the person"}.program(), "export": row{options: "f= o,output=> with= without-hashes"}.program(), "init": row{risk: permission.RiskWorkspace, why: "it makes a package"}.program(), "new": row{risk: permission.RiskWorkspace, why: "it makes a package", operands: touches}.program(),
}}.program()

var conda = subcommands{of: verbs{"list info": row{}.program(), "install create update search": row{risk: permission.RiskNetwork, why: downloads}.program(), "remove": row{risk: permission.RiskDestructive, why: "it deletes packages of the person"}.program()}}.program()

// coverage runs tests and reports on them.
func coverage(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	if len(c.words) < 2 || helps(c) {
		return
	}
	switch verb := c.words[1].text; verb {
	case "report", "html", "xml", "json", "lcov", "combine", "erase", "annotate", "debug":
		row{risk: permission.RiskWorkspace, why: "it writes reports", operands: elsewhere, options: "d,directory=> o=> rcfile=< data-file=<"}.program()(&simple{words: c.words[1:], dir: c.dir}, f)
	case "run":
		python(&simple{words: append([]word{{text: "python"}}, withoutFlags(c.words[2:], "--branch -a --append -p --parallel-mode")...), dir: c.dir}, f)
	default:
		f.raise(permission.RiskOpaque, "air does not know what coverage "+verb+" does")
	}
}

func withoutFlags(words []word, flags string) []word {
	known := set(flags)
	for len(words) > 0 && (known[words[0].text] || strings.HasPrefix(words[0].text, "--source=") || strings.HasPrefix(words[0].text, "--omit=")) {
		words = words[1:]
	}
	return words
}

// compiles is for compilers, whose options have no end: those that begin like known
// families are harmless, and what names a path outside is read.
func (r row) compiles() program {
	return func(c *simple, f *finding) {
		f.raise(permission.RiskReadOnly, "")
		if helps(c) || len(c.words) == 2 && set("-v -V -version -dumpversion -dumpmachine -vV")[c.words[1].text] {
			return
		}
		f.raise(permission.RiskWorkspace, r.why)
		args := c.args()
		for i, w := range args {
			next := word{}
			if i+1 < len(args) {
				next = args[i+1]
			}
			f.compilerWord(c, w, next)
		}
	}
}

// compilerRuns are options that load or run code, or read more of them from a file.
var compilerRuns = []string{"-wrapper", "-fplugin", "-specs", "--specs", "-Xclang", "-load", "-B", "@", "-Clinker", "linker=", "-Clink-arg", "link-arg", "-Zcodegen-backend", "--plugin", "-fuse-ld=/", "-processorpath", "-processor", "--processor", "-J", "-plug", "--plug", "--ld-path", "--compiler-bindir", "-pgm", "-pp", "-I@", "-fpass-plugin", "-no-integrated-cpp", "-ccbin", "-sysroot=/"}

func (f *finding) compilerWord(c *simple, w, next word) {
	for _, runs := range compilerRuns {
		if (strings.HasPrefix(w.text, runs) || strings.Contains(w.text, "plugin") || strings.Contains(w.text, "linker=")) && !w.unknown || w.text == "-C" && strings.HasPrefix(next.text, runs) {
			f.raise(permission.RiskOpaque, base(c.name())+" may run what the option "+w.text+" names")
		}
	}
	switch {
	case w.pattern && w.mayBeOption():
		f.raise(permission.RiskOpaque, "a file whose name begins with - would be an option of "+base(c.name())+": write ./"+w.text+" instead of "+w.text)
	case w.text == "-o" || w.text == "-d" || w.text == "--out-dir" || w.text == "-MF" || w.text == "-s" && base(c.name()) == "javac":
		f.artifact(next)
	case strings.HasPrefix(w.text, "-o") && len(w.text) > 2 && !strings.HasPrefix(w.text, "-objc"):
		f.artifact(word{text: w.text[2:], unknown: w.unknown})
	case strings.Contains(w.text, "_out="):
		_, to, _ := strings.Cut(w.text, "_out=")
		f.artifact(word{text: to[strings.LastIndexByte(to, ':')+1:]})
	case strings.HasPrefix(w.text, "-I") || strings.HasPrefix(w.text, "-L") || strings.HasPrefix(w.text, "-i"):
		if place := w.text[2:]; leadsOut(place) {
			f.readTree(word{text: place})
		}
	case !strings.HasPrefix(w.text, "-") && leads(w):
		f.readTree(w)
	}
}

// artifact writes what a build makes. Where it has a name as only builds give, it can be
// made again.
func (f *finding) artifact(w word) {
	name := base(w.text)
	built := name == strings.ToLower(name) && !strings.Contains(name, ".")
	for _, ending := range []string{".o", ".a", ".so", ".exe", ".out", ".wasm", ".dylib", ".d", ".obj", ".prof", ".pprof", ".test"} {
		built = built || strings.HasSuffix(name, ending)
	}
	switch {
	case w.text == "":
	case built || strings.HasSuffix(w.text, "/"):
		f.touch(w)
	default:
		f.writeFile(w)
	}
}

// letters are all options of one letter.
const letters spec = "a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z "
