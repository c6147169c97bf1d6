package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHome(t *testing.T) {
	needsSandbox(t)
	r := newRig(t, nil)
	r.put(".ssh/id_ed25519", "secret")
	r.put(".air/keys/key", "secret")
	r.put("notes.txt", "secret")
	r.put(".gitconfig", "[core]\n\thooksPath = /evil\n[user]\n\tname = \"Ada \\\"L\\\"\" ; who\n\temail = ada@example.org # mail\n[credential]\n\thelper = store\n")
	if got := r.bash("cd ~; pwd; ls -A; test ! -e .ssh; test ! -e .air; test ! -e notes.txt"); got != r.home+"\n.gitconfig\nsrc" {
		t.Errorf("the home holds %q", got)
	}
	if got := r.bash("cat ~/.gitconfig | grep -v '^#'"); got != "[user]\n\tname = \"Ada \\\"L\\\"\"\n\temail = \"ada@example.org\"" {
		t.Errorf("git is told %q", got)
	}
	r.bash("echo kept > ~/kept")
	if got := r.bash("cat ~/kept"); got != "kept" {
		t.Errorf("the home of the project has not kept a file: %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.home, "kept")); err == nil {
		t.Error("a command wrote to the person's home")
	}
	if info, err := os.Stat(filepath.Join(r.state, "state", "home")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the home of commands is %v, %v", info.Mode(), err)
	}
}

// What an earlier command left in its home must not lead the next, or air, elsewhere.
func TestHostileHome(t *testing.T) {
	needsSandbox(t)
	r := newRig(t, map[string]string{"PATH": "~/.cargo/bin:/usr/bin:/bin"})
	tool := r.put(".cargo/bin/tool", "#!/bin/sh\necho tool\n")
	outside := filepath.Join(filepath.Dir(r.home), "outside")
	must(t, os.MkdirAll(outside, 0o755))
	private := filepath.Join(r.state, "state", "home")
	must(t, os.MkdirAll(private, 0o755))
	for _, c := range []struct {
		what string
		do   func() error
	}{
		{"a link to a folder of the host", func() error { return os.Symlink(outside, filepath.Join(private, ".cargo")) }},
		{"a link up", func() error { return os.Symlink("..", filepath.Join(private, ".cargo")) }},
		{"a file", func() error { return os.WriteFile(filepath.Join(private, ".cargo"), nil, 0o644) }},
		{"a link for git's configuration", func() error { return os.Symlink(tool, filepath.Join(private, ".gitconfig")) }},
		{"a folder for git's configuration", func() error { return os.MkdirAll(filepath.Join(private, ".gitconfig", "a"), 0o755) }},
		{"a link for the project", func() error { return os.Symlink(outside, filepath.Join(private, "src")) }},
		{"a closed folder", func() error { return os.Mkdir(filepath.Join(private, "src"), 0) }},
		{"a closed home", func() error { return os.Chmod(private, 0) }},
	} {
		must(t, os.RemoveAll(filepath.Join(private, ".cargo")))
		must(t, os.RemoveAll(filepath.Join(private, ".gitconfig")))
		must(t, os.RemoveAll(filepath.Join(private, "src")))
		must(t, c.do())
		if got := r.bash("tool; pwd"); got != "tool\n"+r.root {
			t.Errorf("after %s: %q", c.what, got)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Errorf("after %s: %v outside, %v", c.what, left, err)
		}
	}
}

// A home of commands that is a link itself is used by nobody.
func TestHomeIsNoLink(t *testing.T) {
	needsSandbox(t)
	r := newRig(t, nil)
	must(t, os.MkdirAll(filepath.Join(r.state, "state"), 0o700))
	must(t, os.Symlink(r.home, filepath.Join(r.state, "state", "home")))
	if _, err := r.Launch(t.Context(), r.line("/bin/true")); err == nil {
		t.Error("a command ran with a link as its home")
	}
}

func TestLinkedHome(t *testing.T) {
	needsSandbox(t)
	r := newRig(t, nil)
	link := filepath.Join(filepath.Dir(r.home), "link")
	must(t, os.Symlink(r.home, link))
	r.config.Home = link
	if got := r.bash("echo $HOME; cd ~/src/project; pwd -P; echo x > ~/x; cat " + r.home + "/x"); got != link+"\n"+r.root+"\nx" {
		t.Errorf("got %q", got)
	}
}

func TestIdentity(t *testing.T) {
	for _, c := range []struct{ config, name, email string }{
		{"[user]\nname=A B\nemail=a@b", "A B", "a@b"},
		{"[User] name = A\n[core]\nname = no\n[user \"x\"]\nname = no", "A", ""},
		{"[user]\n\tName = one\n[other]\nemail = no\n[user]\nname = two", "two", ""},
		{"[user]\nname = \"a # b\" # c\nemail = a\\\\b", "a # b", `a\b`},
		{"[user]\nname = x\x07y\x00\u200b", "xy\u200b", ""},
		{"[user]\nname", "", ""},
	} {
		var who identity
		who.read(c.config)
		if who.name != c.name || who.email != c.email {
			t.Errorf("%q: got %q, want %q <%s>", c.config, who, c.name, c.email)
		}
	}
}

func TestToolchains(t *testing.T) {
	r := newRig(t, map[string]string{
		"PATH":      "~/bin:~/tools/go/bin:~:~/.ssh:~/.air/bin:relative::/:/usr/bin:~/src/project/bin:~/gone",
		"JAVA_HOME": "~/jdk", "GOROOT": "~/.aws", "CARGO_HOME": "~/cargo", "GOPATH": "~/gopath:/x",
	})
	for _, f := range []string{
		"bin/x", "tools/go/bin/go", "tools/go/pkg/tool/x", ".ssh/x", ".air/bin/x", "src/project/bin/x", "jdk/bin/java", ".aws/x",
		".cargo/credentials.toml", ".cargo/bin/cargo", ".cargo/registry/x", "cargo/registry/x", "gopath/pkg/mod/x", "sdk/go1.99/bin/go",
		".npmrc", ".npm/_cacache/x", ".m2/settings.xml", ".m2/repository/x", ".local/share/uv/credentials/x", ".local/share/uv/python/x",
	} {
		r.put(f, "")
	}
	f := r.look()
	at := func(places []place) (list []string) {
		for _, p := range places {
			source, _ := strings.CutPrefix(p.source, r.home+"/")
			target, _ := strings.CutPrefix(p.target, r.home+"/")
			if source != target {
				target += " from " + source
			}
			if !strings.HasPrefix(p.target, r.home) && !strings.HasPrefix(p.target, os.TempDir()) {
				continue // this machine's
			}
			list = append(list, target)
		}
		slices.Sort(list)
		return list
	}
	if got, want := at(f.toolchains), []string{".cargo/bin", ".local/share/uv/python", "bin", "jdk", "sdk/go1.99", "tools/go"}; !slices.Equal(got, want) {
		t.Errorf("toolchains %q, want %q", got, want)
	}
	if got, want := at(f.caches), []string{".cargo/registry from cargo/registry", ".m2/repository", ".npm/_cacache", "go/pkg/mod from gopath/pkg/mod"}; !slices.Equal(got, want) {
		t.Errorf("caches %q, want %q", got, want)
	}
	want := strings.ReplaceAll("~/bin:~/tools/go/bin:/usr/bin:~/src/project/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin", "~", r.home)
	if got := f.pathVariable(); got != want {
		t.Errorf("PATH is %q, want %q", got, want)
	}
}

// A folder that a symbolic link leads to is seen by both names, unless it may not be seen.
func TestLinkedToolchains(t *testing.T) {
	needsSandbox(t)
	r := newRig(t, map[string]string{"PATH": "~/current/bin:/usr/bin:/bin"})
	r.put("versions/1/bin/tool", "#!/bin/sh\necho one\n")
	r.put(".ssh/tool", "#!/bin/sh\necho evil\n")
	must(t, os.Symlink(filepath.Join(r.home, "versions", "1"), filepath.Join(r.home, "current")))
	must(t, os.Symlink(filepath.Join(r.home, ".ssh"), filepath.Join(r.home, ".pyenv")))
	if got := r.bash("tool; ~/current/bin/tool; ~/versions/1/bin/tool; test ! -e ~/.pyenv; touch ~/current/bin/x 2>/dev/null || echo read-only"); got != "one\none\none\nread-only" {
		t.Errorf("got %q", got)
	}
}

func TestEnvironment(t *testing.T) {
	r := newRig(t, map[string]string{
		"AWS_SECRET_ACCESS_KEY": "x", "GITHUB_TOKEN": "x", "CI": "1", "TERM": "xterm", "LC_ALL": "de_DE.UTF-8",
		"GOPROXY": "https://me:secret@proxy.example.org,direct", "npm_config_registry": "https://npm.example.org/",
		"SSL_CERT_FILE": "/etc/ssl/certs/x.crt", "PIP_CERT": "~/ca.crt", "LD_PRELOAD": "/x.so", "GIT_AUTHOR_NAME": "Ada",
	})
	l := r.line("x")
	l.Env = map[string]string{"A": "b", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": "hooks"}
	env := map[string]string{}
	for _, pair := range r.environment(l) {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	for name, want := range map[string]string{
		"AWS_SECRET_ACCESS_KEY": "", "GITHUB_TOKEN": "", "CI": "", "TERM": "dumb", "LC_ALL": "de_DE.UTF-8", "GOPROXY": "",
		"npm_config_registry": "https://npm.example.org/", "SSL_CERT_FILE": "/etc/ssl/certs/x.crt", "PIP_CERT": "", "LD_PRELOAD": "",
		"GIT_AUTHOR_NAME": "Ada", "A": "b", "HOME": r.home, "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_KEY_1": "core.hooksPath",
		"GIT_CONFIG_VALUE_1": "/dev/null", "GIT_CONFIG_COUNT": "9", "GIT_CONFIG_VALUE_8": r.root, "GIT_TERMINAL_PROMPT": "0",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
}
