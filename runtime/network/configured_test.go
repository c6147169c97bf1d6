package network

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/gitfile"
	"github.com/aircoding/air/runtime/permission"
)

// The hosts by each place where a person writes some, as the programs' own documentation has
// these places. Where nothing is written, nothing is known.
func TestConfiguredHosts(t *testing.T) {
	for _, c := range []struct {
		command string
		env     string
		files   map[string]string // in the project; ~ is the home of commands
		want    string
	}{
		{"go mod download", "", nil, ""},
		{"/usr/local/go/bin/go get x", "GOPROXY=https://goproxy.example/x|direct GOSUMDB=off", nil, "https://goproxy.example:443"},
		{"go get x", "GOPROXY=off GOSUMDB=off", nil, ""},
		{"go get x", "GOSUMDB=sums.example+033de0ae+Ac4 GOPROXY=direct", nil, "https://sums.example:443"},
		{"go get x", "", map[string]string{"~/.config/go/env": "GOPROXY=http://127.0.0.1:3000\nGOSUMDB=off\n"}, "http://127.0.0.1:3000"},
		{"npm ci", "", nil, ""},
		{"npx -y x", "npm_config_registry=https://npm.example/x/", nil, "https://npm.example:443"},
		{"pnpm i", "", map[string]string{".npmrc": "# x\nregistry=https://npm.example/\n@a:registry=http://a.example:8080/\n//npm.example/:_authToken=secret\n"}, "https://npm.example:443 http://a.example:8080"},
		{"npm ci", "", map[string]string{"sub/.npmrc": "registry = \"https://sub.example\"", ".npmrc": "registry=https://top.example"}, "https://sub.example:443"},
		{"npm i --registry=https://given.example x", "", nil, "https://given.example:443"},
		{"yarn install", "", nil, ""},
		{"yarn add x", "", map[string]string{".yarnrc.yml": "npmRegistryServer: \"https://y.example\"\n"}, "https://y.example:443"},
		{"yarn", "", map[string]string{".yarnrc": "registry \"https://classic.example\"\n"}, "https://classic.example:443"},
		{"pip install x", "", nil, ""},
		{"python3 -m pip install x", "PIP_INDEX_URL=https://user:word@pip.example/simple", nil, "https://pip.example:443"},
		{"pip install -i http://i.example:81/simple git+https://g.example/x.git", "", nil, "http://i.example:81 https://g.example:443"},
		{"pip install x", "", map[string]string{".venv/pip.conf": "[global]\nindex-url = https://venv.example/simple ; ours\n"}, "https://venv.example:443"},
		{"uv sync", "UV_EXTRA_INDEX_URL=https://more.example", nil, "https://more.example:443"},
		{"uv sync", "UV_INDEX=own=https://more.example", map[string]string{"pyproject.toml": "[[tool.uv.index]]\nname = \"x\"\nurl = \"https://u.example\"\n"}, "https://more.example:443 https://u.example:443"},
		{"cargo fetch", "", nil, ""},
		{"cargo add x", "", map[string]string{".cargo/config.toml": "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\nregistry = \"sparse+https://m.example/index/\"\n"}, "https://m.example:443"},
		{"apt-get update", "", nil, ""},
		{"docker pull x", "", nil, ""},
		{"curl x", "", nil, ""},
	} {
		if got := hostsOf(t, c.command, c.env, c.files); got != c.want {
			t.Errorf("%s with %s %v: %s, want %s", c.command, c.env, c.files, got, c.want)
		}
	}
}

func TestConfiguredRemotes(t *testing.T) {
	const config = `[core]
	bare = false
[remote "origin"]
	url = https://me@git.example/x.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "fork"]
	url = https://fork.example:8443/x
	pushurl = "https://push.example/x"
[remote "ssh"]
	url = git@ssh.example:x/y.git
[remote "short"]
	url = gh:x/y
[remote "file"]
	url = /srv/x.git
[branch "main"]
	remote = fork
[url "https://hub.example/"]
	insteadOf = gh:
`
	for _, c := range []struct{ command, head, want string }{
		{"git fetch", "feature", "https://git.example:443"},
		{"git fetch origin", "main", "https://git.example:443"},
		{"git pull", "main", "https://fork.example:8443 https://git.example:443"},
		{"git push", "main", "https://push.example:443 https://git.example:443"},
		{"git fetch ssh", "main", "ssh://ssh.example:22"},
		{"git fetch short", "main", "https://hub.example:443"},
		{"git fetch file", "main", ""},
		{"git fetch --all", "main", "https://git.example:443 https://fork.example:8443 ssh://ssh.example:22 https://hub.example:443"},
		{"git submodule update", "feature", "https://git.example:443 https://sub.example:443"},
		{"git status", "main", ""},
		{"git clone https://elsewhere.example/x", "main", ""}, // which the command itself says
	} {
		files := map[string]string{".git/config": config, ".git/HEAD": "ref: refs/heads/" + c.head + "\n", ".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = https://sub.example/x\n"}
		got := hostsOf(t, c.command, "", files)
		if got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.command, c.head, got, c.want)
		}
	}
}

// The remotes of a submodule and of a worktree are those of their own repository and branch,
// and a file .git that leads out of the project is not followed.
func TestConfiguredRemotesElsewhere(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, trees := filepath.Join(top, "project"), filepath.Join(top, "workspaces")
	for name, content := range map[string]string{
		"project/.git/config":                   "[remote \"origin\"]\n\turl = https://super.example/x\n[Remote \"up\"] URL = \"https://up.example\" # x\n[branch \"topic\"]\n\tremote = up\n",
		"project/.git/HEAD":                     "ref: refs/heads/main\n",
		"project/.git/modules/sub/config":       "[remote \"origin\"]\n\turl = https://sub.example/x\n",
		"project/sub/.git":                      "gitdir: ../.git/modules/sub\n",
		"project/sub/deep/x":                    "",
		"project/.git/worktrees/one/commondir":  "../..\n",
		"project/.git/worktrees/one/HEAD":       "ref: refs/heads/topic\n",
		"project/.git/worktrees/one/index.lock": "",
		"workspaces/one/.git":                   "gitdir: " + root + "/.git/worktrees/one\n",
		"workspaces/one/web/.npmrc":             "registry=https://npm.example\n",
		"elsewhere/config":                      "[remote \"origin\"]\n\turl = https://elsewhere.example/x\n",
		"project/out/.git":                      "gitdir: " + top + "/elsewhere\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := Configured{Root: root, Trees: trees}
	for _, row := range []struct{ dir, command, want string }{
		{root, "git fetch", "https://super.example:443"},
		{root + "/sub/deep", "git fetch", "https://sub.example:443"},
		{root, "git -C sub fetch", "https://sub.example:443"},
		{root, "git -c a.b=fetch -C sub status", ""},
		{trees + "/one", "git pull", "https://up.example:443 https://super.example:443"},
		{trees + "/one/web", "npm ci", "https://npm.example:443"},
		{root + "/out", "git fetch", ""},
		{trees, "git fetch", "https://super.example:443"},
		{"/", "git fetch", "https://super.example:443"},
		{"", "git fetch", "https://super.example:443"},
	} {
		if got := list(c.Hosts(permission.Effect{Kind: permission.Run, Target: row.command, Dir: row.dir})); got != row.want {
			t.Errorf("%s in %s: %q, want %q", row.command, row.dir, got, row.want)
		}
	}
}

// What cannot be read, or lies elsewhere, adds nothing and holds nothing up.
func TestConfiguredReadsTheProjectOnly(t *testing.T) {
	if got := hostsOf(t, "npm ci", "", map[string]string{"../.npmrc": "registry=https://outside.example"}); got != "" {
		t.Error(got)
	}
	root := t.TempDir()
	secret := filepath.Join(t.TempDir(), "npmrc")
	if err := os.WriteFile(secret, []byte("registry=https://secret.example"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(root, ".npmrc")); err != nil {
		t.Fatal(err)
	}
	c := Configured{Root: root}
	if got := list(c.Hosts(permission.Effect{Kind: permission.Run, Target: "npm ci", Dir: root})); got != "" {
		t.Error(got)
	}
	if got := c.Hosts(permission.Effect{Kind: permission.Run, Target: "'", Dir: "/"}); got != nil {
		t.Error(got)
	}
}

func TestNpmEnvironment(t *testing.T) {
	root := t.TempDir()
	content := "registry=https://npm.example/\n@own:registry = \"https://own.example\"\n//npm.example/:_authToken=secret\n@x:registry=https://me:word@x.example\n@y:registry=${Y}\ncafile=/x\n"
	if err := os.WriteFile(filepath.Join(root, ".npmrc"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	got := Configured{Root: root}.NpmEnvironment(root)
	want := []string{"npm_config_registry=https://npm.example/", "npm_config_@own:registry=https://own.example"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func hostsOf(t *testing.T, command, env string, files map[string]string) string {
	t.Helper()
	top := t.TempDir()
	root, home := filepath.Join(top, "project"), filepath.Join(top, "home")
	dir := filepath.Join(root, "sub")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		file := filepath.Join(root, name)
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			file = filepath.Join(home, below)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string {
		for pair := range strings.FieldsSeq(env) {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
	c := Configured{Root: root, Home: home, Getenv: getenv}
	return list(c.Hosts(permission.Effect{Kind: permission.Run, Target: command, Dir: dir}))
}

func list(effects []permission.Effect) string {
	var targets []string
	for _, e := range effects {
		targets = append(targets, e.Target)
	}
	return strings.Join(targets, " ")
}

func FuzzSettings(f *testing.F) {
	f.Add("[a]\nb = \"c\" # d\n")
	f.Add("[\n]]=\n= \n\"")
	f.Fuzz(func(t *testing.T, content string) {
		written, _ := gitfile.Settings(content)
		for _, s := range settings(content) {
			for _, e := range effects([]string{s.value, withScheme(s.value), instead(written, s.value)}) {
				if plain, err := permission.NetTarget(e.Target); err != nil || plain != e {
					t.Errorf("%q: %v", s.value, e)
				}
			}
		}
	})
}
