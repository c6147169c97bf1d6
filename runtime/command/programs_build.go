package command

import (
	"path"
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

const (
	projectCode = "it runs code of the project"
	downloads   = "it downloads packages"
	foreignCode = "it downloads code and runs it"
	publishes   = "it publishes in the person's name"
)

var (
	// runsCode is for tools that run what the project says, or look at its sources in the
	// way it says. Of their options only the names tell what they do.
	runsCode = row{risk: permission.RiskWorkspace, why: projectCode, operands: elsewhere, here: true}
	// objects are tools that look at what compilers make.
	objects = row{operands: reads, named: true, lists: true, options: everyLetter + "j,section= C,demangle=? start-address= stop-address= " +
		"M,disassembler-options= " +
		"m= b= disassemble disassemble-all source syms reloc headers section-headers all-headers full-contents line-numbers no-show-raw-insn " +
		"extern-only undefined-only defined-only print-size size-sort numeric-sort reverse-sort dynamic wide all segments sections file-header " +
		"program-headers symbols dyn-syms relocs notes debug-dump=? radix= format= details"}
)

// buildPrograms build and test projects, and fetch what they need.
var buildPrograms = table{
	"make gmake": program(makes),
	"ninja":      maker("C=% f=< j= k= l= n v t= d= w= quiet verbose"),
	"just":       maker("f,justfile=< d,working-directory=% l,list n,dry-run q,quiet v,verbose summary show= set=!"),
	"task":       maker("d,dir=% t,taskfile=< l,list a,list-all v,verbose s,silent f,force w,watch"),
	"rake":       maker("f,rakefile=< T,tasks q,quiet n,dry-run t,trace v,verbose"),
	"mage scons cpack ant sbt lein autoconf automake autoreconf configure gopls gotestsum nx turbo lerna xcodebuild stack cabal " +
		"dune jest vitest mocha ava tap karma cypress playwright webpack vite rollup esbuild next astro nuxt ng babel swc biome tsup " +
		"lint-staged storybook py.test nox rspec rails phpunit": program(projectTool),
	"libtool": row{risk: permission.RiskOpaque, why: "it runs another command"},
	"nodemon": row{risk: permission.RiskWorkspace, why: projectCode, operands: elsewhere, here: true, guarded: true,
		options: "w,watch= e,ext= i,ignore= q,quiet V,verbose delay= x,exec=! L,legacy-watch"},
	"cmake": program(cmake),
	"ctest": maker("C,build-config= V,verbose VV output-on-failure R,tests-regex= E,exclude-regex= L,label-regex= LE,label-exclude= j,parallel= " +
		"N,show-only=? test-dir=% timeout= repeat= stop-on-failure rerun-failed Q,quiet I= preset= no-tests= progress output-junit=>"),
	"meson": subcommands{options: "C=%", of: table{
		"setup compile test configure introspect dist format": runsCode,
		"install":          row{risk: permission.RiskPrivileged, why: "it installs for all users"},
		"wrap subprojects": row{risk: permission.RiskNetwork, why: downloads},
	}},
	"bazel bazelisk buck2":    program(bazel),
	"gradle gradlew mvn mvnw": program(jvmBuild),
	"pkg-config":              onlyPrints,
	"c++filt":                 row{lists: true},

	"go":            golang,
	"gofmt":         formatter("l d e s w cpuprofile=> r=", "w"),
	"goimports":     formatter("l d e w v local= srcdir= format-only", "w"),
	"gofumpt":       formatter("l d e w extra lang= modpath=", "w"),
	"golangci-lint": subcommands{options: "v color=", of: table{"run linters fmt formatters config version help": runsCode}},
	"staticcheck errcheck node-tsc javap cppcheck vue-tsc oxlint stylelint markdownlint knip depcheck mypy pyright flake8 pylint pyflakes " +
		"pycodestyle bandit vulture rubocop phpstan actionlint yamllint luacheck ktlint swiftlint djlint": runsCode,
	"dlv gdb lldb": row{risk: permission.RiskOpaque, why: "a debugger runs what is typed into it"},
	"govulncheck":  row{risk: permission.RiskNetwork, why: "it asks a database of vulnerabilities"},
	"protoc rustc clippy-driver swiftc ghc ocamlc kotlinc javac scalac gcc g++ cc c++ clang clang++ cpp as gfortran nvcc emcc ld wat2wasm " +
		"wasm2wat": program(compiler),
	"buf": subcommands{of: table{
		"lint build format generate breaking": runsCode,
		"push login registry":                 sends(publishes),
		"dep mod":                             row{risk: permission.RiskNetwork, why: downloads},
	}},

	"cargo":   program(cargo),
	"rustfmt": formatter("check edition= config-path=< q,quiet v,verbose l,files-with-diff emit=", ""),
	"rustup": subcommands{of: table{
		"show which": onlyPrints,
		"update install toolchain component target self default": row{risk: permission.RiskNetwork, why: "it downloads toolchains"},
		"run": row{risk: permission.RiskOpaque, why: "it runs another command"},
	}},

	"npm pnpm yarn":     program(npm),
	"bun":               program(bun),
	"npx pnpx bunx":     program(packageRunner),
	"corepack node-gyp": row{risk: permission.RiskNetwork, why: downloads},
	"nvm":               row{risk: permission.RiskOpaque, why: "it changes which node runs"},

	"pip pip3": pip,
	"pipx": subcommands{of: table{
		"list":                       shows,
		"install upgrade inject run": row{risk: permission.RiskNetwork, why: foreignCode},
		"uninstall":                  runsCode,
	}},
	"uv":                      uv,
	"uvx":                     row{risk: permission.RiskNetwork, why: foreignCode},
	"poetry pdm pipenv hatch": poetry,
	"conda mamba micromamba":  conda,
	"virtualenv":              row{risk: permission.RiskWorkspace, why: "it makes an environment", operands: touches, options: "p,python="},
	"twine":                   sends(publishes),
	"bundle bundler": subcommands{of: table{
		"install update add outdated": row{risk: permission.RiskNetwork, why: downloads, here: true},
		"list show info check":        shows,
		"exec":                        program(runsRest),
	}},
	"gem": subcommands{of: table{
		"list which environment contents specification": shows,
		"install update fetch search":                   row{risk: permission.RiskNetwork, why: foreignCode},
		"push yank owner signin":                        sends(publishes),
		"build":                                         runsCode,
	}},
	"composer": subcommands{of: table{
		"install update require create-project outdated":                  row{risk: permission.RiskNetwork, why: foreignCode, here: true},
		"show validate dump-autoload check-platform-reqs test run-script": runsCode,
	}},
	"dotnet": subcommands{of: table{
		"build test run clean format publish pack msbuild new sln vstest": program(dotnetBuild),
		"restore add tool workload":                                       row{risk: permission.RiskNetwork, why: downloads, here: true},
		"nuget":                                                           sends(publishes),
	}},
	"swift": subcommands{of: table{
		"build test run": runsCode,
		"package":        row{risk: permission.RiskNetwork, why: downloads, here: true},
	}},
	"zig": subcommands{of: table{
		"build build-exe build-lib build-obj test run cc c++ ast-check fmt": runsCode,
		"env version targets zen": shows,
		"fetch":                   row{risk: permission.RiskNetwork, why: downloads},
	}},
	"mix": subcommands{of: table{
		"run": row{risk: permission.RiskWorkspace, why: projectCode, operands: elsewhere, here: true, options: "e,eval=! r,require=<"},
		"test compile format phx.server credo dialyzer ecto.migrate": runsCode,
		"deps.get deps.update hex.info":                              row{risk: permission.RiskNetwork, why: downloads, here: true},
		"hex.publish":                                                sends(publishes),
	}},
	"flutter": subcommands{of: table{
		"analyze test build run doctor clean": runsCode,
		"pub upgrade":                         row{risk: permission.RiskNetwork, why: downloads, here: true},
	}},
	"dart": subcommands{of: table{
		"analyze test format run compile": runsCode,
		"pub":                             row{risk: permission.RiskNetwork, why: downloads, here: true},
	}},
	"jar": program(jar),

	"tinygo":                               subcommands{of: table{"build test run": runsCode, "version env info targets": row{}}},
	"wasm-objdump nm objdump readelf size": objects,
	"ar":                                   program(ar),
	"ranlib":                               row{risk: permission.RiskWorkspace, operands: touches},
	"strip": row{risk: permission.RiskWorkspace, operands: writes, guarded: true, options: "o=> s,strip-all S,strip-debug K,keep-symbol= N,strip-symbol= " +
		"R,remove-section= x,discard-all d,g,strip-unneeded strip-dwo only-keep-debug p,preserve-dates v"},
	"objcopy": row{risk: permission.RiskWorkspace, operands: writes, guarded: true, lists: true, options: "I,input-target= O,output-target= " +
		"B= j,only-section= R,remove-section= S,strip-all g,strip-debug K= N= G= W= L= x,discard-all X strip-unneeded only-keep-debug " +
		"dump-section=! add-section=! update-section=! add-gnu-debuglink=< p,preserve-dates"},
	"addr2line":                        row{operands: noPaths, lists: true, options: "e,exe=<"},
	"ldd":                              row{risk: permission.RiskWorkspace, why: "it may run the program", operands: reads},
	"valgrind c8 nyc":                  program(runsRest),
	"perf":                             row{risk: permission.RiskOpaque, why: "it runs another command"},
	"hyperfine concurrently cross-env": row{risk: permission.RiskOpaque, why: "it runs other commands"},
	"clang-tidy": row{risk: permission.RiskWorkspace, operands: reads, guarded: true, options: "p= checks= fix fix-errors header-filter= config= " +
		"config-file=< quiet format-style= warnings-as-errors= list-checks extra-arg=! extra-arg-before=! export-fixes=> use-color dump-config"},
	"clang-format": formatter("i style= n,dry-run Werror assume-filename= fallback-style= lines= sort-includes dump-config "+
		"output-replacements-xml", "i"),

	"tsc": row{risk: permission.RiskWorkspace, why: "it writes compiled files", operands: elsewhere, here: true, single: true, options: "p,project=< b,build " +
		"noEmit w,watch init outDir=+ outFile=> tsBuildInfoFile=> generateTrace=> declarationDir=+ target= module= t= m="},
	"eslint": row{risk: permission.RiskWorkspace, why: projectCode, operands: elsewhere, here: true, options: "c,config=< fix ext= " +
		"o,output-file=> f,format= rule= max-warnings= ignore-path=< ignore-pattern= cache cache-file=> cache-strategy= cache-location=> " +
		"rulesdir=<< resolve-plugins-relative-to=<< " +
		"plugin= env= global= parser= parser-options="},
	"prettier": row{risk: permission.RiskWorkspace, why: projectCode, operands: elsewhere, here: true, options: "c,check w,write l,list-different " +
		"config=< ignore-path=< parser= plugin=! stdin-filepath= log-level="},
	"husky":              row{risk: permission.RiskOpaque, why: "it installs hooks"},
	"prisma drizzle-kit": row{risk: permission.RiskNetwork, why: "it may change a database"},
	"pytest":             program(pytest),
	"tox":                program(tox),
	"coverage":           program(coverage),
	"build":              row{risk: permission.RiskNetwork, why: downloads, here: true},
	"ruff": row{risk: permission.RiskWorkspace, why: "it may rewrite files", operands: elsewhere, here: true, options: "config=< o,output-file=> " +
		"select= ignore= extend-select= line-length= target-version="},
	"black": row{risk: permission.RiskWorkspace, why: "it rewrites files", operands: formats, here: true, options: "c,code= l,line-length= " +
		"t,target-version= include= exclude= extend-exclude= force-exclude= config=< stdin-filename= W,workers= required-version="},
	"isort": row{risk: permission.RiskWorkspace, why: "it rewrites files", operands: formats, here: true, options: "profile= l,line-length= " +
		"settings-file=< p= s,skip="},
	"autopep8 yapf": row{risk: permission.RiskWorkspace, operands: formats},
	"shellcheck":    row{operands: reads, options: "s,shell= e,exclude= f,format= S,severity= o,enable= i,include= C,color=? P,source-path= W="},
	"shfmt":         formatter("l w d i= bn ci sr kp fn s mn ln= p f", "w"),
	"hadolint":      readsFiles,
	"stylua":        formatter("check", ""),
}

// subcommands is a program whose first operand says what it does.
type subcommands struct {
	options spec // before it
	of      table
	here    bool // each works on the folder
}

func (s subcommands) find(c *simple, f *finding) {
	if len(c.words) == 1 {
		return
	}
	a := f.parse(c, s.options, stop)
	if len(a.operands) == 0 {
		return
	}
	verb := a.operands[0]
	does, found := s.of.entry(verb.text)
	if verb.unknown || verb.pattern || !found {
		f.raise(permission.RiskOpaque, "air does not know what "+base(c.name())+" "+verb.text+" does")
		return
	}
	dir, moved := a.folder()
	start := len(f.effects)
	f.look(does, &simple{words: append([]word{{text: base(c.name()) + " " + verb.text}}, a.operands[1:]...), dir: c.dir})
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

// projectTool runs what the project says, unless its first operand is a verb by which
// such tools run anything.
func projectTool(c *simple, f *finding) {
	a := runsCode.read(c, f)
	if len(a.operands) == 0 {
		return
	}
	verb, tool := a.operands[0].text, base(c.name())
	if oneOf(verb, "runner runghc ghci repl console dbconsole shell") || strings.HasSuffix(verb, "exec") || tool == "rails" && oneOf(verb, "r c db") ||
		slices.ContainsFunc(a.operands, func(w word) bool { return w.text == "eval" || strings.HasPrefix(w.text, "eval ") }) {
		f.raise(permission.RiskOpaque, tool+" "+verb+" runs another command, or code that stands in the command line")
	}
	if !oneOf(tool, "lerna nx lein sbt stack cabal dune next astro nuxt ng storybook") {
		return
	}
	switch {
	case oneOf(verb, "publish release deploy login upload"):
		sends(publishes).find(withArgs(c, a.operands[1:]), f)
	case oneOf(verb, "install upgrade update migrate add"):
		f.raise(permission.RiskNetwork, downloads)
	}
}

// runsRest runs the command that its operands are.
func runsRest(c *simple, f *finding) {
	rest := c.args()
	if len(rest) == 0 {
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
	return func(c *simple, f *finding) {
		a := f.parse(c, options, 0)
		rewrites := writes == "" && !a.has("check") || writes != "" && a.has(writes)
		for _, w := range a.operands {
			if !rewrites {
				f.readTree(w)
			} else if a.has("r") { // a rule that changes what they mean
				f.writeTree(w)
			} else if e := f.touch(w); e != nil {
				e.Recursive = true
			}
		}
	}
}

// maker builds what a file of the project says.
func maker(options spec) program {
	r := row{risk: permission.RiskWorkspace, why: "it runs the commands that the project names", options: options, guarded: true, operands: elsewhere,
		here: true}
	return func(c *simple, f *finding) {
		for _, u := range r.read(c, f).uses {
			if u.use == "<" && standard(u.value, permission.Read) {
				f.raise(permission.RiskOpaque, "what it makes comes from its input")
			}
		}
	}
}

var makeFile = maker("b m B,always-make C,directory=% d debug=? e,environment-overrides eval=! f,file,makefile=< h i,ignore-errors I,include-dir=<< " +
	"j,jobs=? k,keep-going l,load-average=? L,check-symlink-times n,just-print,dry-run,recon o,old-file,assume-old= O,output-sync=? " +
	"p,print-data-base q,question r,no-builtin-rules R,no-builtin-variables s,silent,quiet no-silent S,no-keep-going,stop t,touch trace v " +
	"w,print-directory no-print-directory W,what-if,new-file= warn-undefined-variables shuffle=?")

// makes is make. Variables may hold commands.
func makes(c *simple, f *finding) {
	makeFile.find(c, f)
	for _, w := range c.args() {
		name, value, assigned := strings.Cut(w.text, "=")
		if assigned && !strings.HasPrefix(name, "-") && (strings.HasSuffix(name, "!") || !plainVariable(strings.TrimRight(name, ":+?"), value)) {
			f.raise(permission.RiskOpaque, "make may run what the variable "+name+" holds")
		}
	}
}

// isSwitch reports whether a word is a long option without a value.
func isSwitch(text string) bool {
	name, long := strings.CutPrefix(text, "--")
	return long && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// plainVariable reports whether the recipes of a makefile take a value as one word, or as
// flags for a compiler that only tune it.
func plainVariable(name, value string) bool {
	if oneOf(name, "SHELL .SHELLFLAGS MAKEFLAGS MAKE GNUMAKEFLAGS MFLAGS MAKEFILES") || strings.ContainsAny(value, "$`;|&<>\n#\"'\\(){}") {
		return false
	}
	if !strings.HasSuffix(name, "FLAGS") {
		return (!strings.HasPrefix(value, "-") || isSwitch(value)) && len(strings.Fields(value)) < 2
	}
	for flag := range strings.FieldsSeq(value) {
		tunes, _, _ := strings.Cut(flag, "=")
		known := oneOf(flag[:min(2, len(flag))], "-O -g -W -D -m -I -l -L") || oneOf(tunes, "-std -pthread -race -v -fPIC -fpic -fsanitize")
		if !known || strings.Contains(flag, ",") {
			return false
		}
	}
	return true
}

var cmakeBuilds = row{risk: permission.RiskWorkspace, why: projectCode, guarded: true, operands: elsewhere, here: true, single: true,
	options: "S=<< B= G= D= U= A= T= build=<< j parallel= target= t= config= clean-first verbose v preset= Wno-dev Wdev log-level= install= " +
		"prefix= component= strip fresh list-presets workflow toolchain=< L N LA LAH E= P=< C=< version help trace debug-output " +
		"warn-uninitialized graphviz=> open"}

// cmake configures and builds, and has small tools of its own.
func cmake(c *simple, f *finding) {
	args := splitLetters(c.args(), "DGSBUATj")
	if at := slices.IndexFunc(args, func(w word) bool { return w.text == "--" }); at >= 0 {
		makes(withArgs(c, args[at+1:]), f)
		args = args[:at]
	}
	a := cmakeBuilds.read(withArgs(c, args), f)
	source, named := a.value("S")
	build, apart := a.value("B")
	if !a.has("build", "E", "P", "install", "workflow") && (!apart || oneOf(build.text, ". ./")) &&
		(named && source.text == "." || len(a.operands) == 1 && a.operands[0].text == ".") {
		f.writeFile(word{text: "Makefile"})
	}
	for i, w := range args {
		switch {
		case w.text == "-E":
			if i+1 < len(args) && !oneOf(args[i+1].text, "echo capabilities environment time sleep true false cat md5sum sha256sum") {
				f.raise(permission.RiskOpaque, "air does not know what cmake -E "+args[i+1].text+" does")
			}
			return
		case w.text == "-B" && i+1 < len(args):
			f.touch(args[i+1])
		case w.text == "--install":
			f.raise(permission.RiskPrivileged, "it installs for all users")
		case w.text == "-D" && i+1 < len(args) && !plainDefinition(args[i+1].text):
			f.raise(permission.RiskOpaque, "what cmake builds may run what "+args[i+1].text+" holds")
		}
	}
}

// plainDefinition reports whether NAME=value changes nothing of the commands that cmake
// runs but flags that tune.
func plainDefinition(text string) bool {
	name, value, _ := strings.Cut(text, "=")
	name, _, _ = strings.Cut(name, ":")
	switch {
	case strings.Contains(name, "LAUNCHER"):
		return false
	case strings.Contains(name, "FLAGS"):
		return plainVariable("FLAGS", value)
	case !strings.HasPrefix(name, "CMAKE_"):
		return true
	case strings.HasSuffix(name, "_PATH") || strings.HasSuffix(name, "_ARCHITECTURES"):
		value = strings.ReplaceAll(value, ";", "")
	}
	return plainVariable(name, value)
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
		name, value, _ := strings.Cut(w.text, "=")
		switch {
		case beginsWith(name, "--run_under --bazelrc --output_user_root --output_base") || strings.HasSuffix(name, "_command"):
			f.raise(permission.RiskOpaque, "what the option "+w.text+" does cannot be known before it runs")
		case beginsWith(name, "--") && (strings.HasSuffix(name, "_file") || name == "--profile"):
			f.writeFile(word{text: value})
		case !beginsWith(w.text, "// @ -//"): // no label of a target
			f.readNamed(w)
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
		case oneOf(w.text, "deploy site-deploy") || beginsWith(w.text, "release: deploy:") || strings.Contains(w.text, "publish"):
			f.raise(permission.RiskNetwork, publishes)
			f.raise(permission.RiskPrivileged, publishes)
		case oneOf(w.text, "-f --file -s --settings -I --init-script -p --project-dir -c --settings-file -b --build-file --include-build"):
			f.readTree(next)
		case beginsWith(w.text, "exec: groovy: antrun: -Dexec. -Dmaven.ext.class.path"):
			f.raise(permission.RiskOpaque, "it runs the program that an option names")
		case beginsWith(w.text, "help:effective-settings"):
			f.raise(permission.RiskPrivileged, "it may show the person's passwords")
		case strings.HasPrefix(base(c.name()), "mvn") && !strings.HasPrefix(w.text, "-") && strings.Count(w.text, ":") > 1:
			f.raise(permission.RiskNetwork, foreignCode)
		case w.text == "wrapper" || beginsWith(w.text, "dependency: versions:"):
			f.raise(permission.RiskNetwork, downloads)
		case oneOf(w.text, "-l --log-file") && strings.HasPrefix(base(c.name()), "mvn"):
			f.writeFile(next)
		default:
			f.readNamed(w)
		}
	}
}

const (
	goBuildOptions spec = "C=% a n p= race msan asan cover covermode= coverpkg= v work x asmflags= buildmode= buildvcs= compiler= gccgoflags=! " +
		"gcflags= installsuffix= json ldflags= linkshared mod= modcacherw modfile=< overlay=< pgo= pkgdir=> tags= trimpath toolexec=! o=+"
	goTestOptions spec = goBuildOptions + " args bench= benchmem benchtime= blockprofile=> blockprofilerate= count= coverprofile=+ cpu= " +
		"cpuprofile=+ exec=! failfast fullpath fuzz= fuzztime= fuzzminimizetime= fuzzcachedir=> i c list= memprofile=+ memprofilerate= " +
		"mutexprofile=> mutexprofilefraction= outputdir=> parallel= run= short shuffle= skip= timeout= trace=> vet= test.v test.run= artifacts"
)

func goCommand(risk permission.Risk, why string, options spec) row {
	return row{risk: risk, why: why, guarded: true, single: true, here: true, operands: elsewhere, options: options}
}

var golang = subcommands{here: true, options: "C=%", of: table{
	"build":    goLinks(goCommand(permission.RiskWorkspace, "it builds the project", goBuildOptions)),
	"test":     goLinks(program(goTest)),
	"vet":      goCommand(permission.RiskWorkspace, "it builds the project", goBuildOptions+" vettool=! c= fix! diff"),
	"run":      goLinks(program(goRun)),
	"install":  goLinks(program(goInstall)),
	"get":      goCommand(permission.RiskNetwork, downloads, goBuildOptions+" t u=? d f fix insecure tool"),
	"fmt":      goCommand(permission.RiskWorkspace, "it rewrites files", "n x mod="),
	"list":     program(goList),
	"generate": goCommand(permission.RiskWorkspace, "it runs the commands that the project names", goBuildOptions+" run= skip="),
	"fix":      goCommand(permission.RiskWorkspace, "it rewrites files", goBuildOptions+" diff fixtool=!"),
	"doc":      row{single: true, options: "all c cmd short src u http"},
	"version":  row{operands: reads, single: true, options: "m v json"},
	"help":     shows,
	"bug":      row{risk: permission.RiskNetwork, why: "it opens a browser"},
	"env":      program(goEnv),
	"clean":    program(goClean),
	"mod": subcommands{of: table{
		"download": goCommand(permission.RiskNetwork, downloads, "x json reuse=<"),
		"tidy":     goCommand(permission.RiskNetwork, downloads, "e v x diff go= compat="),
		"vendor":   goCommand(permission.RiskNetwork, downloads, "e v o=>"),
		"graph":    goCommand("", "", "go= x"),
		"verify":   goCommand("", "", ""),
		"why":      goCommand("", "", "m vendor"),
		"init":     goCommand(permission.RiskWorkspace, "it writes go.mod", ""),
		"edit": goCommand(permission.RiskWorkspace, "it writes go.mod", "fmt module= godebug= dropgodebug= require= droprequire= go= toolchain= "+
			"exclude= dropexclude= replace= dropreplace= retract= dropretract= tool= droptool= ignore= dropignore= print json"),
	}},
	"work": subcommands{of: table{
		"init use edit vendor": goCommand(permission.RiskWorkspace, "it writes go.work", "r use= dropuse= go= replace= print json"),
		"sync":                 goCommand(permission.RiskNetwork, downloads, ""),
	}},
	"tool":      program(goTool),
	"telemetry": row{risk: permission.RiskPrivileged, why: "it changes a setting of the person"},
}}

// goLinks also looks for a linker of another name.
func goLinks(e entry) program {
	return func(c *simple, f *finding) {
		e.find(c, f)
		args := c.args()
		for i, w := range args {
			name, value, inline := strings.Cut(strings.TrimLeft(w.text, "-"), "=")
			if !oneOf(name, "ldflags gcflags asmflags gccgoflags") || !strings.HasPrefix(w.text, "-") {
				continue
			}
			if !inline && i+1 < len(args) {
				value = args[i+1].text
			}
			if !plainToolFlags(value) {
				f.raise(permission.RiskOpaque, "air does not know what the compiler and the linker do with "+value)
			}
		}
	}
}

// plainToolFlags reports whether flags for go's compiler and linker neither run nor write
// anything.
func plainToolFlags(text string) bool {
	skip := false
	for _, field := range strings.Fields(text) {
		field = strings.Trim(field, `'"`)
		if pattern, flags, ok := strings.Cut(field, "=-"); ok && !strings.HasPrefix(pattern, "-") {
			field = "-" + flags // such as all=-N
		}
		name, _, inline := strings.Cut(strings.TrimLeft(field, "-"), "=")
		switch {
		case skip:
			skip = false
		case !strings.HasPrefix(field, "-"):
			return false
		case name == "X" || name == "buildid" || name == "lang":
			skip = !inline
		case !oneOf(name, "s w v N l m e B d dwarf compressdwarf race msan shared dynlink trimpath static"):
			return false
		}
	}
	return true
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
	goCommand(permission.RiskWorkspace, "it runs the project's tests", goTestOptions).find(&own, f)
}

// goRun builds and runs a package or files of the project, or a package at a version.
func goRun(c *simple, f *finding) {
	a := f.parse(c, goBuildOptions+" exec=!", stop|single)
	f.raise(permission.RiskWorkspace, projectCode)
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

// goInstall builds into the folder of the person's programs.
func goInstall(c *simple, f *finding) {
	const outside = "it installs a program for the person, outside the project"
	a := goCommand(permission.RiskWorkspace, projectCode, goBuildOptions).read(c, f)
	for _, w := range a.operands {
		if strings.Contains(w.text, "@") {
			f.raise(permission.RiskNetwork, "it downloads code; "+outside)
			return
		}
	}
	f.raise(permission.RiskPrivileged, outside)
}

var goLists = goCommand("", "", goBuildOptions+" f= m u versions deps test e export find compiled retracted reuse=< json=?")

// goList asks the proxy for what the module does not hold.
func goList(c *simple, f *finding) {
	a := goLists.read(c, f)
	if a.has("u", "versions") || slices.ContainsFunc(a.operands, func(w word) bool { return strings.Contains(w.text, "@") }) {
		f.raise(permission.RiskNetwork, downloads)
	}
}

// goClean deletes what can be built again.
func goClean(c *simple, f *finding) {
	a := goCommand(permission.RiskWorkspace, "it deletes what can be built again", goBuildOptions+" i r cache testcache modcache fuzzcache").read(c, f)
	if a.has("i", "modcache") {
		f.raise(permission.RiskPrivileged, "it deletes programs or modules of the person, outside the project")
	}
}

func goEnv(c *simple, f *finding) {
	a := f.parse(c, "json w u changed", single)
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
	case args[0].text == "test2json":
		f.runs(c, f.parse(withArgs(c, args[1:]), "p= t", stop|single).operands)
	case oneOf(args[0].text, "cover nm objdump addr2line buildid doc"):
		f.raise(permission.RiskWorkspace, "it may write files")
		row{operands: elsewhere, single: true, options: "o=> func=< html=< mode= var= i= pkgcfg=<"}.find(withArgs(c, args[1:]), f)
	default:
		f.raise(permission.RiskOpaque, "air does not know what go tool "+args[0].text+" does")
	}
}

const cargoOptions spec = "v,verbose q,quiet color= frozen locked offline p,package= workspace all exclude= lib bin= bins example= examples test= " +
	"tests bench= benches all-targets F,features= all-features no-default-features r,release profile= j,jobs= keep-going target= target-dir=> " +
	"manifest-path=< message-format= unit-graph timings=? ignore-rust-version no-run no-fail-fast doc open no-deps document-private-items fix " +
	"allow-dirty allow-staged broken-code edition edition-idioms check all-features future-incompat-report C=% config=! Z=! i,invert= " +
	"d,duplicates e,edges= depth= prefix= format-version= filter-platform= no-dev dry-run precise= aggressive recursive"

func cargoDoes(risk permission.Risk, why string) program {
	r := row{risk: risk, why: why, guarded: true, here: true, operands: elsewhere, options: cargoOptions}
	return func(c *simple, f *finding) {
		own := *c
		for i, w := range c.words { // what follows -- belongs to the program
			if w.text != "--" {
				continue
			}
			own.words = c.words[:i]
			if _, verb, _ := cutLast(c.name(), ' '); oneOf(verb, "rustc clippy rustdoc") {
				f.compilerWords(c, c.words[i+1:])
			} else {
				elsewhere.add(c.words[i+1:], f)
			}
			break
		}
		r.find(&own, f)
	}
}

var cargoCommands = subcommands{here: true, options: "v,verbose q,quiet color= frozen locked offline C=% config=! Z=! V,version list", of: table{
	"build b check c test t bench run r doc d clippy fmt fix clean rustc rustdoc nextest llvm-cov expand": cargoDoes(permission.RiskWorkspace,
		projectCode),
	"metadata tree pkgid locate-project read-manifest verify-project version help": cargoDoes("", ""),
	"new init": row{risk: permission.RiskWorkspace, why: "it makes a package", operands: touches, options: "vcs= name= " +
		"edition= registry="},
	"package generate-lockfile remove rm":                             cargoDoes(permission.RiskWorkspace, "it writes files"),
	"fetch update add install search vendor info audit outdated deny": row{risk: permission.RiskNetwork, why: downloads, operands: elsewhere},
	"uninstall":                       row{risk: permission.RiskDestructive, why: "it deletes programs of the person"},
	"publish yank owner login logout": sends(publishes),
}}

// cargo may be told a toolchain first: cargo +nightly.
func cargo(c *simple, f *finding) {
	own := *c
	if len(c.words) > 1 && strings.HasPrefix(c.words[1].text, "+") && !c.words[1].unknown {
		own.words = append([]word{c.words[0]}, c.words[2:]...)
	}
	cargoCommands.find(&own, f)
	if len(own.words) != len(c.words) && f.plain == nil {
		f.plain = texts(own.words)
	}
}

const npmOptions spec = "prefix=% C,cwd,dir=% s,silent q,quiet d v,version w,workspace= W,workspaces ws F,filter= r,recursive if-present no-audit " +
	"no-fund ignore-scripts loglevel= registry= color no-color json long parseable depth= include= omit= parallel stream bail verbose"

var npmFetches = set("install i in add ci clean-install install-test it update up upgrade outdated audit view info show v search dedupe ddp " +
	"rebuild import fund create init link unlink uninstall remove rm un r prune")

// npm is npm, pnpm and yarn, which agree on the names of what they do.
func npm(c *simple, f *finding) {
	a := f.parse(c, npmOptions, stop)
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
	other := base(c.name()) != "npm"
	for other && (verb == "workspace" && len(rest) > 1 || oneOf(verb, "recursive multi m") && len(rest) > 0) {
		if verb == "workspace" { // NAME VERB
			rest = rest[1:]
		}
		verb, rest = rest[0].text, rest[1:]
	}
	for _, w := range rest {
		if w.text == "--" {
			break
		}
		if npmSetting(w.text) {
			f.raise(permission.RiskOpaque, "it runs the program that the option "+w.text+" names")
		}
	}
	elsewhere.add(rest, f)
	switch {
	case oneOf(verb, "test t tst start stop restart run run-script rum urn build lint dev version-check") && verb != "version":
		f.raise(permission.RiskWorkspace, "it runs a script of the project")
	case oneOf(verb, "ls list ll la root prefix bin explain why query help pkg config get cache doctor ping whoami version"):
		f.npmSmall(c, verb, rest)
	case verb == "init" && len(rest) > 0 && oneOf(rest[0].text, "-y --yes") && len(rest) == 1:
		f.raise(permission.RiskWorkspace, "it writes package.json")
	case oneOf(verb, "outdated audit view info show v search fund") && (len(rest) == 0 || rest[0].text != "fix"):
		f.raise(permission.RiskNetwork, "it asks the registry")
	case npmFetches[verb]:
		f.raise(permission.RiskNetwork, downloads+" and runs their scripts")
		for _, w := range rest {
			if oneOf(w.text, "-g --global --location=global") {
				f.raise(permission.RiskPrivileged, "it installs for all projects of the person")
			}
		}
	case verb == "exec" || verb == "x" || verb == "dlx":
		f.npmRuns(c, verb, rest)
	case oneOf(verb, "publish unpublish deprecate dist-tag owner access team adduser login logout token profile hook org star"):
		sends(publishes).find(withArgs(c, rest), f)
	case verb == "pack":
		f.raise(permission.RiskWorkspace, "it runs a script of the project")
	case other && (projectTools[verb] || oneOf(verb, "node env sh bash python python3 ruby perl deno")):
		f.raise(permission.RiskWorkspace, projectCode)
		f.runs(c, append([]word{{text: verb}}, rest...))
	case other && plainName(verb): // yarn NAME and pnpm NAME run a script, or a program of that name
		f.raise(permission.RiskWorkspace, "it runs a script of the project")
		if ownProgram(verb) {
			f.runs(c, append([]word{{text: verb}}, rest...))
		}
	default:
		f.raise(permission.RiskOpaque, "air does not know what "+base(c.name())+" "+verb+" does")
	}
}

// npmSetting reports whether a word is an option, or the beginning of one, that names a
// program to run or a file of settings.
func npmSetting(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	if len(name) < 6 || oneOf(name, "--global --user") {
		return beginsWith(text, "--git=")
	}
	for full := range strings.FieldsSeq("--script-shell --node-options --shell --userconfig --globalconfig") {
		if strings.HasPrefix(full, name) || strings.HasPrefix(name, full) {
			return true
		}
	}
	return false
}

// ownProgram reports whether a name is that of a program outside of the project.
func ownProgram(name string) bool {
	for _, t := range []table{filePrograms, textPrograms, codePrograms, gitPrograms, networkPrograms, clusterPrograms, systemPrograms} {
		if _, known := t.entry(name); known {
			return true
		}
	}
	return oneOf(name, "env nohup timeout nice setsid stdbuf xargs sudo doas su time flock watch script sh bash dash zsh ksh fish bun")
}

func plainName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-.") == "" && text[0] != '-' && !oneOf(text,
		"create global set plugin patch env self-update setup store server deploy workspace workspaces foreach recursive multi m policies")
}

// npmSmall are the commands that show something, and change it where they get more.
func (f *finding) npmSmall(c *simple, verb string, rest []word) {
	what := ""
	if len(rest) > 0 {
		what = rest[0].text
	}
	switch {
	case verb == "ping" || verb == "whoami":
		f.raise(permission.RiskNetwork, "it asks the registry")
	case verb == "config" && !oneOf(what, "get list ls"):
		f.raise(permission.RiskOpaque, "npm may run what the setting names")
	case verb == "config" && base(c.name()) != "npm" && (len(rest) < 2 || strings.Contains(strings.ToLower(argvText(rest)), "auth")):
		f.raise(permission.RiskPrivileged, "it shows the person's tokens") // which npm hides
	case verb == "cache" && !oneOf(what, "ls verify dir"):
		f.raise(permission.RiskWorkspace, "it changes files")
	case verb == "pkg" && what != "get", verb == "version" && what != "":
		f.writeFile(word{text: "package.json"})
	}
}

// npmRuns is the exec of npm, which may download, and that of pnpm and yarn, which does not.
func (f *finding) npmRuns(c *simple, verb string, rest []word) {
	run := &simple{words: append([]word{{text: "npx"}}, rest...), dir: c.dir}
	if verb == "exec" && base(c.name()) != "npm" {
		run.words = append([]word{{text: "npx"}, {text: "--no"}}, rest...)
	}
	packageRunner(run, f)
}

// packageRunner is npx and its like: they run a tool of the project, or download it where
// there is none.
func packageRunner(c *simple, f *finding) {
	a := f.parse(c, "y,yes no,no-install q,quiet p,package= c,call=$ w,workspace= ignore-existing", stop)
	f.works(word{}, false)
	if len(a.operands) == 0 {
		return
	}
	tool := a.operands[0]
	local := a.has("no-install") && !a.has("package", "ignore-existing")
	if !local {
		f.raise(permission.RiskNetwork, "it downloads the tool and runs it, where the project has none; with --no it does not")
	}
	switch known := !tool.unknown && !tool.pattern && projectTools[tool.text]; {
	case known && !a.has("package", "ignore-existing"):
		f.raise(permission.RiskWorkspace, projectCode)
		f.runs(c, a.operands)
		return
	case local:
		f.raise(permission.RiskOpaque, "air does not know what "+tool.text+" does")
	}
	elsewhere.add(a.operands[1:], f)
}

// projectTools are programs of the table that a project brings along in node_modules.
var projectTools = set("tsc vue-tsc eslint prettier jest vitest mocha ava tap karma cypress playwright webpack vite rollup esbuild next astro " +
	"nuxt ng babel swc biome oxlint stylelint tsup nodemon c8 nyc markdownlint knip depcheck lint-staged tsx ts-node nx turbo lerna storybook " +
	"prisma drizzle-kit")

var pip = subcommands{options: "q,quiet v,verbose V,version disable-pip-version-check no-input no-color isolated python=< require-virtualenv " +
	"h,help", of: table{
	"list freeze show check help debug inspect hash": row{operands: elsewhere, guarded: true, options: "o,outdated u,uptodate e,editable l,local " +
		"user path=<< pre format= not-required exclude-editable include-editable exclude= r,requirement=< all f,files v,verbose q,quiet " +
		"i,index-url= extra-index-url= a,algorithm= log=> no-index h,help", raises: []raise{{"outdated uptodate", permission.RiskNetwork, "it " +
		"asks the registry"}}},
	"install download wheel": row{risk: permission.RiskNetwork, why: downloads + " and runs their setup", operands: elsewhere, guarded: true,
		options: "r,requirement=< c,constraint=< e,editable=<< t,target=> d,dest=> w,wheel-dir=> no-deps pre U,upgrade upgrade-strategy= " +
			"force-reinstall I,ignore-installed no-build-isolation no-cache-dir q,quiet v,verbose user break-system-packages i,index-url= " +
			"extra-index-url= no-index f,find-links= only-binary= no-binary= prefer-binary require-hashes root-user-action= report=> progress-bar= " +
			"dry-run disable-pip-version-check timeout= retries= trusted-host= use-pep517 no-warn-script-location no-compile python-version= " +
			"platform= group= root=> prefix=> src=> log=> cache-dir=>"},
	"index search": row{risk: permission.RiskNetwork, why: "it asks the registry"},
	"uninstall": row{risk: permission.RiskWorkspace, why: "it removes packages that can be installed again", operands: noPaths,
		options: "r,requirement=< y,yes"},
	"cache":  row{risk: permission.RiskWorkspace, why: "it changes files"},
	"config": row{risk: permission.RiskOpaque, why: "pip obeys what the setting names"},
}}

var uv = subcommands{options: "q,quiet v,verbose offline directory=% project=% no-cache n V,version color= native-tls no-progress", here: true,
	of: table{
		"pip": pip,
		"run": program(uvRun),
		"venv": row{risk: permission.RiskWorkspace, why: "it makes an environment", operands: touches,
			options: "p,python= seed prompt= clear!"},
		"sync lock add remove python build": row{risk: permission.RiskNetwork, why: downloads},
		"tool":                              row{risk: permission.RiskNetwork, why: foreignCode},
		"init":                              row{risk: permission.RiskWorkspace, why: "it makes a package", operands: touches},
		"tree version":                      shows,
		"export":                            row{options: "o,output-file=> format="},
		"publish":                           sends(publishes),
		"cache":                             row{risk: permission.RiskWorkspace, why: "it changes files"},
	}}

// uvRun runs a command in the project's environment.
func uvRun(c *simple, f *finding) {
	a := f.parse(c, "no-sync frozen locked offline q,quiet v,verbose extra= all-extras group= dev no-dev isolated p,python= m,module= active "+
		"package=", stop)
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

var poetry = subcommands{options: "q,quiet v,verbose n,no-interaction C,directory=% P,project=%", here: true, of: table{
	"run":                                 program(runsRest),
	"install add remove update lock sync": row{risk: permission.RiskNetwork, why: downloads},
	"show check":                          shows,
	"version":                             row{risk: permission.RiskWorkspace, why: "it writes pyproject.toml"},
	"env":                                 row{risk: permission.RiskWorkspace, why: "it makes an environment"},
	"build":                               row{risk: permission.RiskWorkspace, why: projectCode},
	"test":                                runsCode,
	"publish":                             sends(publishes),
	"config":                              row{risk: permission.RiskPrivileged, why: "it changes a setting of the person"},
	"export":                              row{options: "f= o,output=> with= without-hashes"},
	"init":                                row{risk: permission.RiskWorkspace, why: "it makes a package"},
	"new":                                 row{risk: permission.RiskWorkspace, why: "it makes a package", operands: touches},
}}

var conda = subcommands{of: table{
	"list info":                    shows,
	"install create update search": row{risk: permission.RiskNetwork, why: downloads},
	"remove":                       row{risk: permission.RiskDestructive, why: "it deletes packages of the person"},
}}

var tests = row{risk: permission.RiskWorkspace, why: "it runs the project's tests", operands: elsewhere, here: true, options: "c,config-file=< " +
	"rootdir=<< confcutdir=<< p= k= m= o,override-ini= W= n= maxfail= junitxml,junit-xml=> basetemp=> debug! cov=? cov-report= cov-config=< tb= " +
	"durations= ignore= deselect= log-file=> html=> color= timeout= dist= import-mode= pdb! trace! pastebin=! alluredir=>"}

// pytest writes what settings and reports name as well.
func pytest(c *simple, f *finding) {
	a := tests.read(c, f)
	for _, o := range a.flags {
		switch name, value, _ := strings.Cut(o.value.text, "="); {
		case o.name == "override-ini" && name == "addopts" && value != "":
			f.raise(permission.RiskOpaque, "air does not know what pytest does with "+value)
		case o.name == "override-ini" && oneOf(name, "log_file cache_dir"):
			f.artifact(word{text: value})
		case o.name == "cov-report":
			_, file, _ := strings.Cut(o.value.text, ":")
			f.artifact(word{text: file})
		}
	}
}

// tox has a verb that runs anything, and hands what follows -- to the project.
func tox(c *simple, f *finding) {
	a := row{risk: permission.RiskWorkspace, why: "it runs the project's tests", here: true, operands: elsewhere,
		options: "e= c=< p= workdir=> x,override=!"}.read(c, f)
	if len(a.operands) > 0 && a.dashes != 0 && oneOf(a.operands[0].text, "exec e") {
		f.raise(permission.RiskOpaque, "tox exec runs another command")
	}
}

// dotnetBuild runs what the project and its properties say.
func dotnetBuild(c *simple, f *finding) {
	runsCode.find(c, f)
	for _, w := range c.args() {
		option, property, _ := strings.Cut(w.text, ":")
		name, value, _ := strings.Cut(property, "=")
		if oneOf(option, "-p /p --property -property /property") && !plainVariable(name, value) {
			f.raise(permission.RiskOpaque, "what it builds may run what the property "+name+" holds")
		}
	}
}

// coverage runs tests and reports on them.
func coverage(c *simple, f *finding) {
	if len(c.words) < 2 {
		return
	}
	switch verb := c.words[1].text; verb {
	case "report", "html", "xml", "json", "lcov", "combine", "erase", "annotate", "debug":
		row{risk: permission.RiskWorkspace, why: "it writes reports", operands: elsewhere, options: "d,directory=> o=> rcfile=< data-file=>"}.
			find(withArgs(c, c.words[2:]), f)
	case "run":
		python(&simple{words: append([]word{{text: "python"}}, withoutFlags(c.words[2:], "--branch -a --append -p --parallel-mode")...),
			dir: c.dir}, f)
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

// compiler is for compilers, whose options have no end: those that begin like known
// families are harmless, and what is written like a path is read.
func compiler(c *simple, f *finding) {
	if len(c.words) == 2 && oneOf(c.words[1].text, "-v -V -version -dumpversion -dumpmachine -vV") {
		return
	}
	f.raise(permission.RiskWorkspace, "it writes files")
	f.compilerWords(c, c.args())
}

func (f *finding) compilerWords(c *simple, args []word) {
	for i, w := range args {
		next := word{}
		if i+1 < len(args) {
			next = args[i+1]
		}
		evaluates := oneOf(base(c.name()), "ghc kotlinc nvcc swiftc") && beginsWith(w.text, "-e -run --run --interactive -script -interpret -repl")
		if (evaluates || compilerRuns(w.text)) && !w.unknown || w.text == "-C" && compilerRuns(next.text) {
			f.raise(permission.RiskOpaque, base(c.name())+" may run or write what the option "+w.text+" names")
		}
		if w.pattern && w.mayBeOption() {
			f.raise(permission.RiskOpaque, "a file whose name begins with - would be an option of "+base(c.name())+": write ./"+w.text)
		}
		f.compilerWord(w, next)
	}
	if base(c.name()) == "cpp" || strings.HasPrefix(base(c.name()), "cpp-") {
		if files := f.parse(withArgs(c, args), "I= D= U= include= imacros= isystem= iquote= idirafter= x= MF= MT= MQ=", single|loose).operands; len(files) > 1 {
			f.artifact(files[1])
		}
	}
}

// compilerRuns reports whether an option loads or runs code, takes more options from a
// file, or hands them to a program whose options air does not read here.
func compilerRuns(text string) bool {
	if beginsWith(text, "-wrapper -fplugin -specs --specs -Xclang -Xlinker -Xassembler -Xpreprocessor -load -B @ -Clinker -Clink-arg link-arg "+
		"-Zcodegen-backend -fuse-ld= -processor --processor -J -plug --plug --ld-path --compiler-bindir -pgm -pp -I@ -fpass-plugin "+
		"-no-integrated-cpp -ccbin -sysroot=/ -Wa, -Wp,") {
		return true
	}
	if list, ok := strings.CutPrefix(text, "-Wl,"); ok {
		for part := range strings.SplitSeq(list, ",") {
			if beginsWith(part, "- @") && !plainLinking[part] && !beginsWith(part, "-rpath -O") {
				return true
			}
		}
	}
	return strings.Contains(text, "plugin") || strings.Contains(text, "linker=")
}

// plainLinking are options of linkers that neither run nor write anything.
var plainLinking = set("-s -S -z -x --as-needed --no-as-needed --gc-sections --start-group --end-group --whole-archive --no-whole-archive " +
	"-Bstatic -Bdynamic -Bsymbolic --no-undefined --export-dynamic -E --strip-all --build-id --enable-new-dtags --fatal-warnings -dead_strip")

// compilerReads begin the options whose value compilers read, or take for no file.
const compilerReads = "-D -U -I -L -l -T -W -std -m -O -g -x -isystem -include -imacros -idirafter -iquote -isysroot -sysroot --sysroot -F -A -V " +
	"-fprofile-use -fprofile-instr-use -ffile-prefix-map -fdebug-prefix-map -fmacro-prefix-map -fsanitize -R --remap-path-prefix --extern --cfg " +
	"--target -target --edition --crate -cp -classpath --class-path -sourcepath --source-path --module-path --proto_path --descriptor_set_in " +
	"--version-script --dynamic-list --just-symbols --script --defsym --dynamic-linker -rpath --rpath -soname -fmodule-file --config --release"

// compilerValue writes the files in the value of an option of which air does not know
// that it reads them: all, or what is written like a path or behind a mark.
func (f *finding) compilerValue(w word, value string, all bool) {
	for part := range strings.SplitSeq(value, ",") {
		at := strings.LastIndexAny(part, "=:")
		if file := part[at+1:]; all || at >= 0 || namesFile(file) {
			f.artifact(word{text: file, unknown: w.unknown})
		}
	}
}

// compilerWord adds what one word reads or writes. The one after it may be its value.
func (f *finding) compilerWord(w, next word) {
	name, value, inline := strings.Cut(w.text, "=")
	switch {
	case oneOf(w.text, "-o -d -h -MF -MJ -aux-info -dumpbase -dumpdir --MD"), outputName(name) && !inline,
		len(w.text) > 3 && strings.HasPrefix("--output", w.text): // which ld and as also know
		f.artifact(next)
	case oneOf(w.text, "--emit --print"):
		f.compilerValue(next, next.text, false)
	case outputName(name), oneOf(name, "-a -al -as -ah"):
		f.compilerValue(w, value, true)
	case strings.HasPrefix(w.text, "-MF") || strings.HasPrefix(w.text, "-MJ"):
		f.artifact(word{text: w.text[3:], unknown: w.unknown})
	case strings.HasPrefix(w.text, "-o") && len(w.text) > 2 && !strings.HasPrefix(w.text, "-objc"):
		f.artifact(word{text: w.text[2:], unknown: w.unknown})
	case inline && strings.HasPrefix(w.text, "-") && !beginsWith(name, compilerReads) && !strings.HasSuffix(name, "_opt"):
		f.compilerValue(w, value, false)
	case strings.HasPrefix(w.text, "-"):
		f.readNamed(word{text: strings.TrimLeft(w.text[min(2, len(w.text)):], "abcdefghijklmnopqrstuvwxyz")})
	default:
		f.readNamed(w)
	}
}

// outputName reports whether an option has a name by which programs write its value.
func outputName(option string) bool {
	name := strings.ToLower(strings.TrimLeft(option, "-"))
	if !strings.HasPrefix(option, "-") || strings.Contains(name, "format") || strings.Contains(name, "style") || strings.Contains(name, "-on-") {
		return false
	}
	for _, part := range []string{
		"output", "outfile", "out-file", "out_file", "outdir", "out-dir", "out_dir", "_out", "logfile", "log-file", "log_file", "cachefile", "cache-file",
		"cache-location", "cachedir", "cache-dir", "cache_dir", "dump-file", "junit",
		"result-json", "report-file", "report-log", "reportfile", "dependency-file",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	if strings.HasSuffix(name, "-report") || strings.HasSuffix(name, "-json") || beginsWith(name, "coverage- testdox-") {
		return !oneOf(name, "coverage-filter coverage-text")
	}
	return oneOf(name, "o out log map save serialize-diagnostics jsonfile junitfile")
}

// jar packs classes, or takes them out where it runs. Its first word is letters.
func jar(c *simple, f *finding) {
	args := c.args()
	f.raise(permission.RiskWorkspace, "it writes files")
	if len(args) == 0 {
		return
	}
	letters := strings.TrimPrefix(args[0].text, "-")
	switch {
	case letters == "" || strings.Trim(letters, "cxtuvfe0Mi") != "" || !allKnown(args):
		f.raise(permission.RiskOpaque, "air does not know the option "+args[0].text+" of jar")
	case strings.Contains(letters, "x"):
		f.unpacks(word{text: "."})
	case len(args) > 1 && strings.ContainsAny(letters, "cu") && strings.Contains(letters, "f"):
		f.writeFile(args[1])
	}
	elsewhere.add(args[1:], f)
}

// ar works on an archive of a build, or takes files out where it runs.
func ar(c *simple, f *finding) {
	args := c.args()
	f.raise(permission.RiskWorkspace, "it writes files")
	if len(args) < 2 {
		f.raise(permission.RiskOpaque, "it takes its commands from its input")
		return
	}
	letters := strings.TrimPrefix(args[0].text, "-")
	switch {
	case letters == "" || strings.Trim(letters, "dmpqrstxabcDfilNoOPSTuUvV") != "" || !allKnown(args) || strings.HasPrefix(args[1].text, "@"):
		f.raise(permission.RiskOpaque, "air does not know the option "+args[0].text+" of ar")
	case strings.Contains(letters, "x"):
		f.unpacks(word{text: "."})
	case strings.ContainsAny(letters, "dmqrs"):
		f.artifact(args[1])
	}
	elsewhere.add(args[1:], f)
}

// artifact writes what a build makes. Where it has a name as only builds give, it can be
// made again.
func (f *finding) artifact(w word) {
	inFolder := strings.HasSuffix(w.text, "/")
	if w.text != "" && !w.unknown {
		w.text = path.Clean(w.text)
	}
	name, built := base(w.text), false
	for _, ending := range []string{".o", ".a", ".so", ".exe", ".out", ".wasm", ".dylib", ".d", ".obj", ".prof", ".pprof", ".test", ".class", ".pyc"} {
		built = built || strings.HasSuffix(name, ending)
	}
	folder, _, below := strings.Cut(w.text, "/")
	switch {
	case w.text == "":
	case built || inFolder || oneOf(w.text, ". ./") || oneOf(folder, "dist out target") || below && folder == "build":
		f.touch(w)
	default:
		f.writeFile(w)
	}
}

// everyLetter are all options of one letter.
const everyLetter spec = "a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z "
