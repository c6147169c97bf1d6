package runner

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/permission"
)

// secretText is in every file that no command may show.
const secretText = "SECRET-7f3a"

// bypass is a case of bypass.md, attempted by a script that bash runs, as a person allowed
// it. In the script OUTSIDE stands for a folder beside the home.
type bypass struct {
	number, script string
	// git says that a command that changes the repository was planned, too.
	git bool
	// withheld are the names that the script could make, and that were taken away.
	withheld []string
}

func bypasses() []bypass {
	write := func(names ...string) (script string) {
		for _, n := range names {
			script += fmt.Sprintf("echo evil > %[1]s; echo evil >> %[1]s; rm -f %[1]s; mv %[1]s moved; ln -sf /etc/hosts %[1]s; cp /etc/hosts %[1]s\n", n)
		}
		return script
	}
	obeyed := write(".claude/settings.json", ".claude/new.json", ".mcp.json", ".vscode/tasks.json", ".envrc", ".github/workflows/ci.yml",
		".github/workflows/new.yml", ".gitattributes", "sub/.claude/settings.json") + "rm -rf .claude .vscode .github; mv .claude .claude-old; mkdir .claude"
	hooks := write(".git/hooks/pre-commit", ".git/hooks/post-commit", ".git/config", ".git/info/attributes", ".git/info/exclude") +
		"git config core.fsmonitor 'touch ran'; chmod +x .git/hooks/*; mv .git/hooks .git/h; rm -rf .git/hooks .git/info; mv .git/info .git/i"
	away := "mv .git old; rm -rf .git/hooks; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; mv sub other; mv .git/config .git/c"
	return []bypass{
		{number: "F1", script: "cat ../../secret ../../../outside/secret OUTSIDE/secret; echo evil > ../../new; echo evil > OUTSIDE/new"},
		{number: "F2", script: "cat out/secret; echo evil > out/new; mkdir out/made; ls out/"},
		{number: "F3", script: "echo evil > dangling; cp /etc/hosts dangling"},
		{number: "F6", script: "cat linked keys linked-env; ln .env here; ln -P sub/.env here2; cat here here2"},
		{number: "F6", script: "cp -l .env copied; cat copied; tar c --ignore-failed-read . | grep -a " + secretText},
		{number: "F7", script: "cat /proc/self/root/OUTSIDE/secret /proc/1/root/OUTSIDE/secret /proc/*/cwd/.env; for f in /proc/*/fd/*; do timeout 0.2 head -c 100 $f; done </dev/null; cat /etc/shadow"},
		{number: "F9", script: "cat .ENV .Env .env ./.env .//.env/. caps/.ENV $'sub/.e\\u0301nv' $'zero/.e\\u200bnv'; echo evil > caps/.Git/config; echo evil > caps/.Git/new"},
		{number: "F12", script: "git -C gitlink log; git -C gitlink show HEAD:secret; cat gitlink/.git; echo evil > gitlink/.git; rm -f gitlink/.git"},
		{number: "F14", script: hooks},
		{number: "F14", script: hooks, git: true},
		{number: "F14", script: "echo ../evil > .git/commondir", git: true, withheld: []string{".git/commondir"}},
		{number: "F15", script: away},
		{number: "F15", script: away, git: true},
		{number: "F19", script: write(".air/shared/permissions.yaml", ".air/local", ".air/shared/capabilities.yaml") + "rm -rf .air; mv .air x; mkdir -p .air/local"},
		{number: "F20", script: obeyed},
		{number: "F20", script: "mkdir .husky .cursor; echo evil > .husky/pre-commit; echo evil > CLAUDE.md; mkdir -p .cargo; echo evil > .cargo/config.toml",
			withheld: []string{".cargo/config.toml", ".cursor", ".husky", "CLAUDE.md"}},
		{number: "F22", script: "rm -rf work; ln -s .git/hooks work; echo evil > work/pre-commit; ln -sf .env plain; cat plain; ln -s sub/keys/id_rsa k; cat k; rm work plain k"},
		{number: "P9", script: "mv .git old; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit"},
		{number: "P9", script: "mkdir -p fresh/.git/hooks; echo evil > fresh/.git/hooks/pre-commit; chmod 0 fresh", withheld: []string{"fresh/.git"}},
		{number: "P10", script: "make -f leak.mk; cat ~/.aws/credentials HOME/.aws/credentials HOME/.ssh/id_rsa; ls -A ~/.ssh"},
		{number: "P11", script: "cat HOME/.air/keys/key; echo 'rules: []' > HOME/.air/permissions.yaml; mkdir -p HOME/.air/grants; echo '{}' > HOME/.air/grants/x.json; ls HOME/.air/keys"},
		{number: "P12", script: "echo evil > /dev/tty; exec 7<> /dev/tty && echo opened " + secretText + "; ls /dev/pts /dev/tty* /dev/console && echo " + secretText},
		{number: "N4", script: "exec 3<>/dev/tcp/127.0.0.1/PORT && head -c 100 <&3; exec 4<>/dev/udp/127.0.0.1/PORT; ping -c 1 127.0.0.1 && echo " + secretText},
		{number: "N6", script: "for s in /var/run/docker.sock /run/docker.sock OUTSIDE/docker.sock; do test -e $s && echo " + secretText + "; done"},
		{number: "S18", script: "git status; git diff; git -c core.pager=cat log; git stash list; rm -f ran.external ran.textconv", git: true},
		{number: "S19", script: "git -C embedded status; cd embedded && git log; git rev-parse --git-dir && echo " + secretText},
	}
}

// TestBypass attempts each case from inside a command.
func TestBypass(t *testing.T) {
	needsSandbox(t)
	for i, c := range bypasses() {
		t.Run(fmt.Sprintf("%s/%d", c.number, i), func(t *testing.T) { newGround(t).refuses(c) })
	}
}

// TestBypassAsNobody makes the same attempts as an ordinary user.
func TestBypassAsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir, err := os.MkdirTemp("", "air-nobody-")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	must(t, os.Chown(dir, 65534, 65534))
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^Test(Bypass|Git|Decided|Appeared|Guards)", "-test.v")
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	output, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(output, []byte("--- PASS: TestBypass/F14")) {
		t.Errorf("%v\n%s", err, output)
	}
}

// ground is a project with what a command must not have in it and around it.
type ground struct {
	*rig
	outside string
	port    string
}

func newGround(t *testing.T) *ground {
	t.Helper()
	g := &ground{rig: newRig(t, nil)}
	g.outside = filepath.Join(filepath.Dir(g.home), "outside")
	must(t, os.MkdirAll(g.outside, 0o755))
	for _, name := range []string{
		".ssh/id_rsa", ".aws/credentials", "secret", ".air/keys/key", "../outside/secret",
		"src/project/.env", "src/project/sub/.env", "src/project/sub/keys/id_rsa", "src/project/sub/tls.pem",
		"src/project/caps/.ENV", "src/project/zero/.e\u200bnv",
	} {
		g.put(name, secretText+"\n")
	}
	for _, name := range []string{
		"plain", "work/file", ".claude/settings.json", "sub/.claude/settings.json", ".mcp.json", ".vscode/tasks.json", ".envrc",
		".github/workflows/ci.yml", "caps/.Git/config", ".air/shared/permissions.yaml",
	} {
		g.put("src/project/"+name, "good\n")
	}
	g.put("src/project/leak.mk", "all:\n\tcat $(HOME)/.aws/credentials "+g.home+"/.aws/credentials; cat .env\n")
	g.repository()
	for link, to := range map[string]string{"out": g.outside, "dangling": filepath.Join(g.outside, "new")} {
		must(t, os.Symlink(to, filepath.Join(g.root, link)))
	}
	for link, to := range map[string]string{"linked": filepath.Join(g.home, ".ssh/id_rsa"), "linked-env": filepath.Join(g.root, "sub/.env")} {
		must(t, os.Link(to, filepath.Join(g.root, link)))
	}
	g.listen()
	return g
}

// repository makes the project a repository in which each command that git could run would
// leave a file.
func (g *ground) repository() {
	g.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		g.Skip("git is missing: apt-get install git")
	}
	g.put("src/project/.gitattributes", "*.txt diff=evil\n")
	g.put("src/project/a.txt", "one\n")
	g.host(g.root, "git", "init", "-q", "-b", "main")
	g.host(g.root, "git", "add", "-f", "a.txt", ".gitattributes")
	g.host(g.root, "git", "commit", "-q", "-m", "first")
	evil := g.put("src/project/evil.sh", "#!/bin/sh\ntouch "+g.root+"/.git/hooks/ran\necho > "+g.outside+"/ran\ncat .env\ncat $1\n")
	for key, value := range map[string]string{"core.fsmonitor": evil, "diff.evil.textconv": evil, "diff.external": evil} {
		g.host(g.root, "git", "config", key, value)
	}
	g.put("src/project/a.txt", "two\n")
	g.host(g.outside, "git", "init", "-q")
	g.host(g.outside, "git", "add", "secret")
	g.host(g.outside, "git", "commit", "-q", "-m", "secret")
	g.put("src/project/gitlink/.git", "gitdir: "+g.outside+"/.git\n")
	g.host(g.root, "git", "init", "-q", "--bare", "embedded")
	g.host(g.root, "git", "-C", "embedded", "config", "core.fsmonitor", evil)
}

// host runs a program as the person does.
func (g *ground) host(dir, name string, args ...string) string {
	g.Helper()
	cmd := exec.CommandContext(g.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b.c")
	output, err := cmd.CombinedOutput()
	if err != nil {
		g.Fatalf("%s %q: %v\n%s", name, args, err, output)
	}
	return strings.TrimSpace(string(output))
}

// listen is a server of the host's, and a socket.
func (g *ground) listen() {
	g.Helper()
	for _, at := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", filepath.Join(g.outside, "docker.sock")}} {
		l, err := net.Listen(at[0], at[1])
		must(g, err)
		g.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				fmt.Fprintln(conn, secretText)
				_ = conn.Close()
			}
		}()
		if at[0] == "tcp" {
			_, g.port, err = net.SplitHostPort(l.Addr().String())
			must(g, err)
		}
	}
}

// refuses expects that a case has no effect, and shows nothing.
func (g *ground) refuses(c bypass) {
	g.Helper()
	script := strings.NewReplacer("OUTSIDE", g.outside, "HOME", g.home, "PORT", g.port).Replace(c.script)
	before := g.guarded()
	l := runtime.Launch{ID: ids.New(), Text: script + "\necho to the end\n", Bash: true, Dir: g.root, Repository: c.git}
	var out bytes.Buffer
	l.Stdout, l.Stderr = &out, &out
	_, err := g.Launch(g.Context(), l)
	if !strings.Contains(out.String(), "to the end") {
		g.Errorf("the script was not tried to its end: %v\n%s", err, out.String())
	}
	if strings.Contains(out.String(), secretText) {
		g.Errorf("it shows the secret:\n%s", out.String())
	}
	g.withheld(err, c.withheld, l.ID)
	for _, path := range differences(before, g.guarded()) {
		g.Errorf("%s has changed\n%s", path, out.String())
	}
}

// withheld expects an error that names what was made, and that it is out of the way.
func (g *ground) withheld(err error, names []string, id string) {
	g.Helper()
	var failure *fault.Error
	switch {
	case len(names) == 0 && err == nil:
		return
	case !errors.As(err, &failure) || failure.Kind != fault.PermissionDenied || failure.Code != "protected_created":
		g.Errorf("the error is %v", err)
		return
	}
	got, _ := failure.Details["withheld"].([]string)
	slices.Sort(got)
	if !slices.Equal(got, names) {
		g.Errorf("withheld are %q, not %q", got, names)
	}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(g.root, name)); err == nil {
			g.Errorf("%s is there", name)
		}
		if _, err := os.Lstat(filepath.Join(g.root, name+".withheld-"+id)); err != nil {
			g.Error(err)
		}
	}
}

// guarded are the digests of all that no command may change: what lies around the project,
// and what is guarded in it.
func (g *ground) guarded() map[string]string {
	g.Helper()
	all := map[string]string{}
	for _, top := range []string{g.home, g.outside} {
		must(g, filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil && isBelow(path, g.root): // closed by the script
				return nil
			case err != nil:
				return err
			case isBelow(path, g.state):
				return fs.SkipDir
			}
			if isBelow(path, g.root) && !g.isGuarded(path) {
				return nil
			}
			all[path] = digest(path, entry)
			return nil
		}))
	}
	return all
}

func (g *ground) isGuarded(path string) bool {
	rel, _ := strings.CutPrefix(path, g.root+"/")
	if slices.ContainsFunc([]string{".git/objects", ".git/index", ".git/logs", ".git/refs"}, func(own string) bool { return isBelow(rel, own) }) ||
		strings.Contains(rel, ".withheld-") || rel == ".git" {
		return false
	}
	for _, kind := range []permission.Kind{permission.Read, permission.Overwrite} {
		if e, err := g.config.Paths.ByName(permission.Effect{Kind: kind, Target: path}); err != nil || e.Class != permission.ClassProject {
			return true
		}
	}
	return false
}

func digest(path string, entry fs.DirEntry) string {
	switch {
	case entry.IsDir():
		return "folder"
	case entry.Type().IsRegular():
		content, err := os.ReadFile(path)
		return fmt.Sprintf("%x %v", sha256.Sum256(content), err)
	}
	to, _ := os.Readlink(path)
	return "link " + to
}

func differences(before, after map[string]string) (paths []string) {
	for path, was := range before {
		if after[path] != was {
			paths = append(paths, path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// planned is a command line with the effects that the analysis finds, as if all were allowed.
func (g *ground) planned(dir, text string) runtime.Launch {
	g.Helper()
	effects, err := command.Analyse(text, command.Place{Dir: dir, Root: g.root, Home: g.home})
	must(g, err)
	l := runtime.Launch{ID: ids.New(), Text: text, Bash: true, Dir: dir}
	for _, e := range effects {
		e, err := g.config.Paths.Resolve(e)
		must(g, err)
		l.Effects = append(l.Effects, e)
	}
	return l
}
