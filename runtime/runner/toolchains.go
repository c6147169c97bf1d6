package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/runtime/permission"
)

// toolchainRoots are where toolchains are installed outside the system's folders, relative
// to the person's home: what holds a person's settings or tokens beside is not among them,
// and so ~/.cargo and ~/.local/share/uv are named by their parts.
var toolchainRoots = []string{
	".asdf", ".bun/bin", ".bun/install/global", ".cargo/bin", ".deno/bin", ".dotnet", ".fnm", ".ghcup/bin", ".ghcup/ghc",
	".local/bin", ".local/pipx/venvs", ".local/share/fnm", ".local/share/mise/installs", ".local/share/mise/shims",
	".local/share/pipx/venvs", ".local/share/pnpm", ".local/share/uv/python", ".local/share/uv/tools", ".nvm", ".pyenv", ".rbenv", ".rustup",
	".rvm", ".sdkman/candidates", ".volta/bin", ".volta/tools", "go/bin", "sdk/go*",
}

// farRoots are those that lie in nobody's home.
var farRoots = []string{"/nix/store", "/home/linuxbrew/.linuxbrew", "/usr/local/go"}

// rootVariables name the folder of a toolchain.
var rootVariables = []string{"GOROOT", "RUSTUP_HOME", "PYENV_ROOT", "NVM_DIR", "JAVA_HOME"}

// marks are what a toolchain's folder holds beside bin, by which the folder above one of
// PATH is known as such.
var marks = []string{
	"pkg/tool", "pyvenv.cfg", "conda-meta", "lib/node_modules/npm", "lib/rustlib", "lib/modules", "lib/python3*/os.py",
}

// cache is a folder of a toolchain that holds nothing but copies.
type cache struct {
	variable string // names another place of it, "" for none
	below    string // that variable's folder, where the cache is a part of it
	path     string // relative to a home
}

// caches of toolchains. Tokens lie beside some, and so each is named by itself.
var caches = []cache{
	{"GOMODCACHE", "", "go/pkg/mod"},
	{"CARGO_HOME", "registry", ".cargo/registry"},
	{"CARGO_HOME", "git", ".cargo/git"},
	{"npm_config_cache", "_cacache", ".npm/_cacache"},
	{"PIP_CACHE_DIR", "", ".cache/pip"},
	{"UV_CACHE_DIR", "", ".cache/uv"},
	{"CCACHE_DIR", "", ".ccache"},
	{"", "", ".cache/ccache"},
	{"", "", ".cache/yarn"},
	{"", "", ".cache/pypoetry/cache"},
	{"", "", ".cache/composer"},
	{"", "", ".cache/ms-playwright"},
	{"DENO_DIR", "", ".cache/deno"},
	{"", "", ".local/share/pnpm/store"},
	{"", "", ".bun/install/cache"},
	{"", "", ".m2/repository"},
	{"", "", ".gradle/caches"},
	{"", "", ".gradle/wrapper"},
	{"NUGET_PACKAGES", "", ".nuget/packages"},
}

// place is a folder of the host and where it is seen inside.
type place struct{ source, target string }

// found is what a command needs of the person's.
type found struct {
	path       []string // folders of PATH, by their canonical names, that exist inside
	toolchains []place
	caches     []place
}

// fresh is how long what was found is taken to be there: what goes meanwhile is left out of
// the sandbox, and what comes is seen by the next command.
const fresh = time.Second

// look finds the toolchains and caches that are there now.
func (r *Runner) look() found {
	r.looking.Lock()
	defer r.looking.Unlock()
	if r.looked.IsZero() || time.Since(r.looked) > fresh {
		r.found, r.looked = r.find(), time.Now()
	}
	return r.found
}

func (r *Runner) find() found {
	f := &finder{runner: r, home: r.realHome(), named: r.home()}
	f.state, _ = filepath.EvalSymlinks(r.config.State) // what is not there is seen by nobody
	if r.config.Home != "" {
		for _, pattern := range toolchainRoots {
			dirs, _ := filepath.Glob(filepath.Join(f.named, pattern)) // our own patterns are well formed
			for _, dir := range dirs {
				f.add(dir)
			}
		}
	}
	for _, dir := range farRoots {
		f.add(dir)
	}
	for _, variable := range rootVariables {
		f.add(r.getenv(variable))
	}
	for _, dir := range filepath.SplitList(r.getenv("PATH")) {
		f.addPath(dir)
	}
	f.cache()
	return f.found
}

type finder struct {
	found
	runner      *Runner
	home, named string // the person's home, canonical, and as it is named
	state       string // air's folder for the project, canonical
}

// add shows a folder by its canonical name, and by the one it was found under: installations
// know themselves by either.
func (f *finder) add(dir string) {
	real, ok := f.mayShow(dir)
	if !ok {
		return
	}
	f.show(real, real)
	if dir = f.inside(dir); dir != real {
		f.show(real, dir)
	}
}

// inside is the name that a folder has inside: the home has its canonical one there.
func (f *finder) inside(dir string) string {
	dir = filepath.Clean(dir)
	if rel, ok := strings.CutPrefix(dir, f.named+"/"); ok {
		return filepath.Join(f.home, rel)
	}
	return dir
}

func (f *finder) show(source, target string) {
	if inSystem(target) || isBelow(target, f.runner.config.Root) {
		return
	}
	for _, shown := range f.toolchains {
		if isBelow(target, shown.target) {
			return
		}
	}
	f.toolchains = append(slices.DeleteFunc(f.toolchains, func(p place) bool { return isBelow(p.target, target) }), place{source, target})
}

// addPath shows a folder of PATH, and the installation that it is a part of where that is
// known as one.
func (f *finder) addPath(dir string) {
	real, ok := f.mayShow(dir)
	if !ok {
		return
	}
	if above := filepath.Dir(real); filepath.Base(real) == "bin" && isInstallation(above) {
		f.add(above)
	}
	if f.add(dir); !slices.Contains(f.path, real) {
		f.path = append(f.path, real)
	}
}

func isInstallation(dir string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool {
		there, _ := filepath.Glob(filepath.Join(escapeGlob(dir), mark))
		return len(there) > 0
	})
}

func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// cache finds the person's caches. Inside they lie where their toolchain looks when nothing
// tells it otherwise.
func (f *finder) cache() {
	for _, c := range caches {
		dir := f.runner.getenv(c.variable)
		switch {
		case c.path == "go/pkg/mod" && dir == "" && f.runner.getenv("GOPATH") != "":
			dir = filepath.Join(filepath.SplitList(f.runner.getenv("GOPATH"))[0], "pkg", "mod")
		case dir != "":
			dir = filepath.Join(dir, c.below)
		case f.runner.config.Home != "":
			dir = filepath.Join(f.named, c.path)
		}
		if real, ok := f.mayShow(dir); ok {
			f.caches = append(f.caches, place{real, filepath.Join(f.home, c.path)})
		}
	}
}

// mayShow returns the canonical name of a folder that commands may see. It may hold nothing
// of air's and no credentials, and not the whole home.
func (f *finder) mayShow(dir string) (real string, ok bool) {
	if !filepath.IsAbs(dir) {
		return "", false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || real == "/" || isBelow(f.home, real) {
		return "", false
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", false
	}
	if f.state != "" && isBelow(f.state, real) {
		return "", false
	}
	e, err := f.runner.config.Paths.Resolve(permission.Effect{Kind: permission.Read, Target: real})
	if err != nil || e.Target != real {
		return "", false
	}
	return real, slices.Contains([]permission.Class{
		permission.ClassProject, permission.ClassSystem, permission.ClassOutside, permission.ClassDangerous,
	}, e.Class)
}

// inSystem reports whether a folder is seen inside without a mount of its own.
func inSystem(dir string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/opt", "/lib", "/lib32", "/lib64", "/etc/ssl"}, func(system string) bool {
		return isBelow(dir, system)
	})
}

// isBelow reports whether a path is dir or lies in it. Nothing lies in "".
func isBelow(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

// getenv is the person's environment.
func (r *Runner) getenv(name string) string {
	if r.config.Getenv == nil || name == "" {
		return ""
	}
	return r.config.Getenv(name)
}
