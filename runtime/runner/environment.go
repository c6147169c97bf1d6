package runner

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/redact"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/sandbox"
)

// systemPath are where programs lie on every machine.
var systemPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// passed are the variables of the person that commands see: what chooses a language, a
// toolchain or where packages come from. No variable that is made to hold a token is here.
var passed = strings.Fields(`
	LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME TZ SOURCE_DATE_EPOCH
	GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
	GOPROXY GOSUMDB GONOSUMDB GONOSUMCHECK GONOPROXY GOPRIVATE GOINSECURE GOTOOLCHAIN GOFLAGS GOEXPERIMENT
	GOOS GOARCH GOAMD64 GOARM GOARM64 CGO_ENABLED CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
	CMAKE_GENERATOR CMAKE_BUILD_PARALLEL_LEVEL
	npm_config_registry NPM_CONFIG_REGISTRY YARN_REGISTRY
	PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_NO_INDEX PIP_DISABLE_PIP_VERSION_CHECK
	UV_INDEX_URL UV_EXTRA_INDEX_URL UV_DEFAULT_INDEX UV_INDEX UV_PYTHON
	CARGO_REGISTRY_DEFAULT CARGO_NET_OFFLINE CARGO_BUILD_TARGET RUSTUP_TOOLCHAIN RUSTUP_AUTO_INSTALL RUSTFLAGS RUST_BACKTRACE
	PYENV_VERSION PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED NVM_BIN VOLTA_HOME SDKMAN_CANDIDATES_DIR`)

// passedPlaces are passed where what they name is seen inside.
var passedPlaces = append(strings.Fields(`
	SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT GIT_SSL_CAINFO
	CARGO_HTTP_CAINFO PIP_FIND_LINKS`), rootVariables...)

// environment is all that a command finds in its environment: what holds for each, what is
// passed of the person's, and what the call adds.
func (r *Runner) environment(l runtime.Launch) []string {
	return r.variables(l, map[string]string{
		"HOME": r.home(), "USER": sandbox.CommandUser, "LOGNAME": sandbox.CommandUser,
		"GIT_CONFIG_GLOBAL": filepath.Join(r.home(), gitConfigName),
	})
}

// bareEnvironment is that of a command without a sandbox: it sees the person's home, and is
// told nothing else of it than others are.
func (r *Runner) bareEnvironment(l runtime.Launch) []string {
	config, err := r.gitIdentity()
	if err != nil {
		config = "/dev/null"
	}
	return r.variables(l, map[string]string{
		"HOME": r.home(), "USER": r.getenv("USER"), "LOGNAME": r.getenv("LOGNAME"), "GIT_CONFIG_GLOBAL": config,
	})
}

func (r *Runner) variables(l runtime.Launch, env map[string]string) []string {
	maps.Copy(env, map[string]string{
		"PWD": l.Dir, "LANG": "C.UTF-8", "TMPDIR": "/tmp", "TERM": "dumb", "PAGER": "cat",
		"GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat",
		"GIT_EDITOR": "true", // messages stay as they are; there is no terminal to edit them at
	})
	f := r.look()
	env["PATH"] = f.pathVariable()
	for _, name := range passed {
		if value := r.getenv(name); mayPass(value) {
			env[name] = value
		}
	}
	for _, name := range passedPlaces {
		if value := r.getenv(name); mayPass(value) && f.sees(value) {
			env[name] = value
		}
	}
	maps.Copy(env, l.Env)
	r.gitSettings(env)
	return pairs(env)
}

func pairs(env map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// userInfo is a name or password in an address.
var userInfo = lazyregexp.New(`://[^/\s,|]*@`)

// mayPass refuses values that hold what looks like a secret.
func mayPass(value string) bool {
	return value != "" && !strings.ContainsRune(value, 0) && !userInfo.MatchString(value) && (*redact.Redactor)(nil).Text(value) == value
}

// pathWithout is pathVariable without what lies in one of these folders, where commands may
// have written.
func (f found) pathWithout(writable ...string) string {
	f.path = slices.DeleteFunc(slices.Clone(f.path), func(dir string) bool {
		return slices.ContainsFunc(writable, func(folder string) bool { return folder != "" && isBelow(dir, folder) })
	})
	return f.pathVariable()
}

// pathVariable is the person's PATH as far as it exists inside, and the system's folders.
func (f found) pathVariable() string {
	folders := slices.Clone(f.path)
	for _, dir := range systemPath {
		if !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	return strings.Join(folders, ":")
}

// sees reports whether a path is seen inside, by its name.
func (f found) sees(path string) bool {
	path = filepath.Clean(path)
	return inSystem(path) || slices.ContainsFunc(f.toolchains, func(p place) bool { return isBelow(path, p.target) })
}

// gitCount is how many settings of git the environment holds, git-config(1).
const gitCount = "GIT_CONFIG_COUNT"

// gitSettings keep git from running hooks and the like and from what outlives it. They come
// after those of the call and therefore hold.
func (r *Runner) gitSettings(env map[string]string) {
	settings := [][2]string{
		{"core.hooksPath", "/dev/null"}, {"core.fsmonitor", "false"}, {"core.pager", "cat"},
		{"safe.bareRepository", "explicit"}, {"gc.autoDetach", "false"}, {"maintenance.autoDetach", "false"},
		{"diff.ignoreSubmodules", "dirty"}, // or it would run what their settings name
	}
	if r.config.Root != "" {
		settings = append(settings, [2]string{"safe.directory", r.config.Root})
	}
	first, err := strconv.Atoi(env[gitCount])
	if err != nil || first < 0 || first > 1000 {
		first = 0
	}
	for i, s := range settings {
		n := strconv.Itoa(first + i)
		env["GIT_CONFIG_KEY_"+n], env["GIT_CONFIG_VALUE_"+n] = s[0], s[1]
	}
	env[gitCount] = strconv.Itoa(first + len(settings))
}
