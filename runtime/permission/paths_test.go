package permission

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
)

// TestClasses is the table of docs/permissions.md, place by place.
func TestClasses(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		path        string
		read, write Class
	}{
		{"main.go", ClassProject, ClassProject},
		{".", ClassProject, ClassForbidden}, // who replaces the root replaces .air/shared
		{"a/b/c", ClassProject, ClassProject},
		{"env", ClassProject, ClassProject},
		{".environment", ClassProject, ClassProject},
		{".gitignore", ClassProject, ClassProject},
		{".github/CODEOWNERS", ClassProject, ClassProject},
		{".vscode/tasks.json", ClassProject, ClassObeyed},
		{"sub/.envrc", ClassProject, ClassObeyed},
		{".github/workflows/ci.yml", ClassProject, ClassObeyed},
		{".git/HEAD", ClassProtected, ClassProtected},
		{".git", ClassProtected, ClassProtected},
		{"vendor/x/.git/config", ClassProtected, ClassProtected},
		{".env", ClassProtected, ClassProtected},
		{"deploy/.env.production", ClassProtected, ClassProtected},
		{"x/auth.json", ClassProtected, ClassProtected},
		{"keys/id_ed25519", ClassProtected, ClassProtected},
		{"tls/server.pem", ClassProtected, ClassProtected},
		{"vault.kdbx", ClassProtected, ClassProtected},
		{".env/prod", ClassProtected, ClassProtected},
		{"deploy/.env.d/a/b", ClassProtected, ClassProtected},
		{"tls.key/readme", ClassProtected, ClassProtected},
		{".ENV/prod", ClassProtected, ClassProtected},
		{".air/shared/project.json", ClassProject, ClassForbidden},
		{"sub/.air/shared/permissions.yaml", ClassProject, ClassForbidden},
		{p.air + "/permissions.yaml", ClassForbidden, ClassForbidden},
		{p.air, ClassForbidden, ClassForbidden},
		{p.air + "/keys/events.key", ClassForbidden, ClassForbidden},
		{p.artifacts + "/log/art_1.txt", ClassProject, ClassForbidden},
		{p.artifacts + "/quarantine/art_1.json", ClassForbidden, ClassForbidden},
		{strings.Replace(p.artifacts, "/s1/", "/s2/", 1) + "/log/art_1.txt", ClassForbidden, ClassForbidden},
		{p.home + "/tools/air", ClassDangerous, ClassForbidden},
		{p.home + "/tools/git", ClassDangerous, ClassDangerous},
		{p.outside + "/bin/go", ClassDangerous, ClassDangerous},
		{p.outside + "/notes.txt", ClassOutside, ClassOutside},
		{p.outside + "/.git/config", ClassOutside, ClassDangerous},
		{p.outside + "/.env", ClassCredentials, ClassCredentials},
		{p.outside + "/.env/prod", ClassCredentials, ClassCredentials},
		{p.home + "/notes.txt", ClassOutside, ClassOutside},
		{p.home + "/.cache/go-build/x", ClassOutside, ClassDangerous},
		{p.home + "/.ssh/config", ClassCredentials, ClassCredentials},
		{p.home + "/.aws/credentials", ClassCredentials, ClassCredentials},
		{p.home + "/.config/gcloud/x.db", ClassCredentials, ClassCredentials},
		{p.home + "/.kube/config", ClassCredentials, ClassCredentials},
		{p.home + "/.netrc", ClassCredentials, ClassCredentials},
		{p.home + "/.docker/config.json", ClassCredentials, ClassCredentials},
		{p.home + "/.npmrc", ClassCredentials, ClassCredentials},
		{p.home + "/.git-credentials", ClassCredentials, ClassCredentials},
		{p.home + "/.mozilla/firefox/x/logins.json", ClassCredentials, ClassCredentials},
		{"/home/somebody/.ssh/id_rsa", ClassCredentials, ClassCredentials},
		{"/root/x", ClassCredentials, ClassCredentials},
		{"/etc/shadow", ClassCredentials, ClassCredentials},
		{"/etc/ssh/ssh_host_rsa_key", ClassCredentials, ClassCredentials},
		{"/etc/ssl/private/x", ClassCredentials, ClassCredentials},
		{"/usr/include/stdio.h", ClassSystem, ClassSystem},
		{"/usr/share/x/cert.pem", ClassSystem, ClassSystem},
		{"/opt/x", ClassSystem, ClassSystem},
		{"/etc/passwd", ClassSystem, ClassSystem},
		{"/etc/cron.d/x", ClassOutside, ClassDangerous},
		{"/etc/air/permissions.yaml", ClassOutside, ClassForbidden},
		{"/dev/null", ClassForbidden, ClassForbidden},
		{"/proc/1/environ", ClassForbidden, ClassForbidden},
		{"/proc/1/task/1/mem", ClassForbidden, ClassForbidden},
		{"/proc/sys/kernel/core_pattern", ClassOutside, ClassForbidden},
		{"/proc/version", ClassOutside, ClassForbidden},
	} {
		if got := p.paths.classify(p.abs(c.path), Read, 0); got != c.read {
			t.Errorf("reading %s: class %s, want %s", c.path, got, c.read)
		}
		if got := p.paths.classify(p.abs(c.path), Overwrite, 0); got != c.write {
			t.Errorf("writing %s: class %s, want %s", c.path, got, c.write)
		}
	}
}

// A worktree of the project counts as project, another project's does not.
func TestWorktrees(t *testing.T) {
	p := newPlace(t)
	own := p.air + "/projects/p1/workspaces/w1"
	for path, want := range map[string]Class{
		own + "/main.go":                            ClassProject,
		own + "/.git":                               ClassProtected,
		own + "/.env":                               ClassProtected,
		own + "/.air/shared/permissions.yaml":       ClassForbidden,
		filepath.Dir(own):                           ClassForbidden,
		p.air + "/projects/p2/workspaces/w/main.go": ClassForbidden,
	} {
		if got := p.paths.classify(path, Overwrite, 0); got != want {
			t.Errorf("writing %s: class %s, want %s", path, got, want)
		}
	}
}

func TestF1ParentAndAbsolutePaths(t *testing.T) {
	p := newPlace(t)
	p.put(p.outside+"/x", "")
	p.mkdir(p.root + "/sub")
	for _, path := range []string{"../../outside/x", "sub/../../../outside/x", p.outside + "/x", p.root + "/../../outside/x"} {
		if e := p.resolve(Read, path); e.Target != p.outside+"/x" || e.Class != ClassOutside {
			t.Errorf("%s resolved to %s, class %s", path, e.Target, e.Class)
		}
	}
	if e := p.resolve(Read, "missing/../../../outside/x"); e.Target != p.outside+"/x" || e.Class != ClassOutside {
		t.Errorf("up from a folder that is not there: %s in class %s", e, e.Class)
	}
	if e := p.resolve(Write, "missing/../.git/hooks/pre-commit"); e.Class != ClassProtected {
		t.Errorf("past a folder that is not there: %s in class %s", e, e.Class)
	}
	p.put("file", "")
	p.refused(Read, "file/../x", CodeBadPath)
	e := p.engine("")
	p.want(p.decide(e, Read, "../../outside/x"), Ask, CodeOutsideProject)
	p.want(p.decide(e, Write, p.outside+"/new"), Ask, CodeOutsideProject)
	p.want(p.decide(e, Read, "../../outside/x", reader()), Deny, CodeCapabilityCeiling)
}

func TestF2SymlinkedFolder(t *testing.T) {
	p := newPlace(t)
	p.put(p.outside+"/secret", "")
	p.link(p.outside, "data")
	p.link("data", "again")
	for _, path := range []string{"data/secret", "again/secret", "again/../outside/secret"} {
		if e := p.resolve(Read, path); e.Target != p.outside+"/secret" || e.Class != ClassOutside {
			t.Errorf("%s resolved to %s, class %s", path, e.Target, e.Class)
		}
	}
	e := p.engine("schema_version: 1\nrules:\n  - allow: read(data/**)\n")
	p.want(p.decide(e, Read, "data/secret"), Ask, CodeOutsideProject) // the link came with the repository
	p.want(p.decide(e, Read, "data/secret", reader()), Deny, CodeCapabilityCeiling)
	p.link("loop", "loop")
	p.refused(Read, "loop/x", CodeBadPath)
}

// A deny that names a link also denies what it leads to.
func TestDenyFollowsLinks(t *testing.T) {
	p := newPlace(t)
	p.put(p.outside+"/secret", "")
	p.link(p.outside, "data")
	e := p.engine("schema_version: 1\nrules:\n  - deny: read(data/**)\n")
	p.want(p.decide(e, Read, "data/secret"), Deny, CodeDeniedByRule)
	p.want(p.decide(e, Read, p.outside+"/secret"), Deny, CodeDeniedByRule)
}

func TestF3DanglingSymlink(t *testing.T) {
	p := newPlace(t)
	p.link(p.outside+"/new", "out")
	p.link("missing", "in")
	p.link(p.outside+"/nowhere", "folder")
	for _, path := range []string{"out", "in", "folder/x"} {
		p.refused(Write, path, CodeDanglingLink)
		p.refused(Create, path, CodeDanglingLink)
	}
	if e := p.resolve(Read, "out"); e.Target != p.outside+"/new" {
		t.Errorf("reading through a dangling link resolved to %s", e.Target)
	}
	if e := p.resolve(Delete, "out"); e.Target != p.root+"/out" {
		t.Errorf("deleting a link resolved to %s, want the link itself", e.Target)
	}
}

func TestF4MissingParentBelowSymlink(t *testing.T) {
	p := newPlace(t)
	p.link(p.outside, "data")
	e := p.resolve(Write, "data/new/deep/file")
	if e.Target != p.outside+"/new/deep/file" || e.Class != ClassOutside || e.Kind != Create {
		t.Errorf("resolved to %s, class %s", e, e.Class)
	}
}

func TestF6HardLinks(t *testing.T) {
	p := newPlace(t)
	harmless := p.put("a.txt", "")
	for _, secret := range []string{".env", "deep/down/.env.local", ".git/config", ".git/hooks/pre-commit", p.home + "/.ssh/id_rsa", p.home + "/.aws/sso/x", p.air + "/keys/events.key", "node_modules/x/.env", p.air + "/projects/p1/sessions/s1/session.db", p.air + "/projects/p1/workspaces/w1/.env", p.artifacts + "/report/a.txt"} {
		name := p.root + "/" + strings.ReplaceAll(secret, "/", "_") + ".txt"
		if err := os.Link(p.put(secret, "secret"), name); err != nil {
			t.Fatal(err)
		}
		p.wantCode(p.paths.CheckLinks(name, p.stat(name)), CodeProtectedPath)
	}
	for _, single := range []string{harmless, p.put("other/.env", "secret")} { // a rule of the person may have opened the second
		if err := p.paths.CheckLinks(single, p.stat(single)); err != nil {
			t.Errorf("a file with one name is refused: %v", err)
		}
	}
	if err := os.Link(harmless, p.root+"/b.txt"); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(harmless, p.air+"/projects/p1/workspaces/w1/b.txt"); err != nil {
		t.Fatal(err)
	}
	if err := p.paths.CheckLinks(harmless, p.stat(harmless)); err != nil {
		t.Errorf("three names of an ordinary file, one in a worktree, are refused: %v", err)
	}
}

// git's own files are found by any of their names.
func TestF6HardLinkToObject(t *testing.T) {
	p := newPlace(t)
	object := p.put(".git/objects/ab/cdef", "")
	name := p.root + "/innocent"
	if err := os.Link(object, name); err != nil {
		t.Fatal(err)
	}
	p.wantCode(p.paths.CheckLinks(name, p.stat(name)), CodeProtectedPath)
}

// A search that cannot look at all names refuses, wherever the names are.
func TestF6HardLinkAmongManyFiles(t *testing.T) {
	p := newPlace(t)
	name := p.put("a.txt", "")
	if err := os.Link(name, p.root+"/b.txt"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{p.root + "/many", p.home + "/.mozilla"} {
		for i := range 600 {
			p.put(dir+"/"+strconv.Itoa(i), "")
		}
		p.wantCode(p.paths.checkLinks(name, p.stat(name), 500), CodeUnknownLinks)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	s := linkSearch{left: 40}
	if err := s.unseen(syscall.EMFILE); err == nil || s.left >= 0 {
		t.Error("a folder that could not be listed counts as empty")
	}
}

func (p *place) wantCode(err error, code string) {
	p.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.PermissionDenied || f.Code != code || f.Hint == "" {
		p.Errorf("got %v, want a refusal with code %s and a hint", err, code)
	}
}

func (p *place) stat(path string) os.FileInfo {
	p.Helper()
	info, err := os.Stat(path)
	if err != nil {
		p.Fatal(err)
	}
	return info
}

func TestF7LinksIntoProcesses(t *testing.T) {
	if _, err := os.Lstat("/proc/self/root"); err != nil {
		t.Skip("no /proc here")
	}
	p := newPlace(t)
	for _, path := range []string{"/proc/self/root/etc/shadow", "/proc/self/fd/0", "/dev/fd/0", "/dev/stdin", "/proc/self/cwd/x", "/proc/thread-self/root/etc/passwd", "/proc/self/../self/exe"} {
		p.refused(Read, path, CodeMagicLink)
	}
	e := p.engine("schema_version: 1\nrules:\n  - allow: read(/**)\n")
	p.want(p.decide(e, Read, "/proc/self/environ"), Deny, CodeFloorDevice)
	p.want(p.decide(e, Read, "/proc/self/mem"), Deny, CodeFloorDevice)
}

func TestF8PipesAndDevices(t *testing.T) {
	p := newPlace(t)
	if err := unix.Mkfifo(p.root+"/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	e := p.engine("schema_version: 1\nrules:\n  - allow: read(**)\n  - allow: write(pipe)\n  - allow: read(/dev/**)\n")
	p.want(p.decide(e, Read, "pipe"), Deny, CodeFloorDevice)
	p.want(p.decide(e, Write, "pipe"), Deny, CodeFloorDevice)
	p.want(p.decide(e, Read, "/dev/zero"), Deny, CodeFloorDevice)
}

func TestF9SpellingsOfProtectedNames(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	for _, path := range []string{
		".ENV", ".Env.Local", ".Git/config", "sub/.GIT/hooks/x", ".gi\u200ct/config", // HFS+ ignores U+200C: CVE-2014-9390
		"ID_RSA", "x.PEM", ".e\u0301nv/.env", "AUTH.json", ".\ufeffenv",
	} {
		p.want(p.decide(e, Read, path), Deny, CodeProtectedPath)
	}
	if fold("Caf\u00c9") != fold("cafe\u0301") || fold("STRA\u00dfE") != "strasse" || fold("\u212a") != "k" {
		t.Error("composed, decomposed and folded forms differ")
	}
}

func TestF10OddSpellings(t *testing.T) {
	p := newPlace(t)
	p.put("a/b.txt", "")
	for _, path := range []string{"a//b.txt", "./a/./b.txt", "a/b.txt/.", "a/b.txt/", p.root + "//a///b.txt", "a/../a/b.txt"} {
		if e := p.resolve(Write, path); e.Target != p.root+"/a/b.txt" || e.Kind != Overwrite {
			t.Errorf("%q resolved to %s", path, e)
		}
	}
	p.want(p.decide(p.engine(""), Read, ".git//config/."), Deny, CodeProtectedPath)
	for _, path := range []string{"", "a\x00b", ".env\x00.txt", "~", "~/x", strings.Repeat("a/", 3000), strings.Repeat("n", 300)} {
		p.refused(Read, path, CodeBadPath)
	}
	none := NewPaths(PathsConfig{})
	if _, err := none.Resolve(Effect{Kind: Read, Target: "x"}); err == nil {
		t.Error("a relative path without a project resolved")
	}
}

func TestF12GitFile(t *testing.T) {
	p := newPlace(t)
	p.put(".git", "gitdir: "+p.outside+"/elsewhere\n")
	p.put("sub/.git", "gitdir: ../../x\n")
	e := p.engine("")
	for _, path := range []string{".git", "sub/.git"} {
		p.want(p.decide(e, Read, path), Deny, CodeProtectedPath)
		p.want(p.decide(e, Write, path), Deny, CodeProtectedPath)
	}
}

func TestF14GitInternals(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	for _, path := range []string{".git/hooks/pre-commit", ".git/config", ".git/info/attributes", "sub/.git/hooks/x"} {
		p.want(p.decide(e, Write, path), Deny, CodeProtectedPath)
	}
	p.want(p.decide(e, Write, ".gitattributes"), Ask, CodeObeyedFile)
	p.want(p.decide(e, Write, "sub/.gitattributes"), Ask, CodeObeyedFile)
}

func TestF20FilesThatOthersObey(t *testing.T) {
	p := newPlace(t)
	trusted := p.engine("schema_version: 1\nrules:\n  - allow: write(**)\n", func(o *Options) { o.Mode = ModeTrusted })
	for _, path := range []string{".claude/settings.json", ".mcp.json", ".vscode/tasks.json", ".envrc", ".github/workflows/ci.yml", ".husky/pre-commit", ".cursor/rules", ".idea/x", ".gitlab-ci.yml", ".Claude/settings.json"} {
		d := p.decide(trusted, Write, path)
		p.want(d, Ask, CodeObeyedFile)
		if !d.NoAlways {
			t.Errorf("%s may be answered for always", path)
		}
		p.want(p.decide(trusted, Read, path), Allow, "")
	}
	named := p.engine("schema_version: 1\nrules:\n  - allow: write(.github/workflows/*.yml)\n")
	p.want(p.decide(named, Write, ".github/workflows/ci.yml"), Allow, "")
}

func TestF21PersonsOwnFiles(t *testing.T) {
	p := newPlace(t)
	trusted := p.engine("schema_version: 1\nrules:\n  - allow: write(~/**)\n  - allow: write(/**)\n", func(o *Options) { o.Mode = ModeTrusted })
	for _, path := range []string{".gitconfig", ".config/systemd/user/x.service", ".local/bin/git", ".bashrc", ".config/autostart/x.desktop", "tools/git"} {
		d := p.decide(trusted, Write, p.home+"/"+path)
		p.want(d, Ask, CodeDangerousPath)
		if !d.NoAlways {
			t.Errorf("%s may be answered for always", path)
		}
	}
	p.want(p.decide(trusted, Write, p.home+"/.ssh/authorized_keys"), Ask, CodeCredentials)
}

// What only root can read is credentials: to see that, air must run as root.
func TestOnlyRootReads(t *testing.T) {
	p := newPlace(t)
	p.paths.temporary = nil
	file := p.put(p.outside+"/x", "")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	want := ClassOutside
	if os.Geteuid() == 0 {
		want = ClassCredentials
	}
	if got := p.paths.classify(file, Read, 0); got != want {
		t.Errorf("class %s, want %s", got, want)
	}
	if got := p.paths.classify(p.put(p.home+"/x", ""), Read, 0); got != ClassOutside {
		t.Errorf("in the person's home: class %s", got)
	}
}

func TestShow(t *testing.T) {
	p := newPlace(t)
	for path, want := range map[string]string{p.root: ".", p.root + "/a/b": "a/b", p.outside: p.outside, p.root + "2/x": p.root + "2/x"} {
		if got := p.paths.Show(path); got != want {
			t.Errorf("Show(%s) = %s, want %s", path, got, want)
		}
	}
}

// A project reached through a link is the same project.
func TestRootThroughLink(t *testing.T) {
	p := newPlace(t)
	p.link(p.root, p.outside+"/link")
	linked := NewPaths(PathsConfig{ProjectRoot: p.outside + "/link"})
	e, err := linked.Resolve(Effect{Kind: Write, Target: p.outside + "/link/x"})
	if err != nil || linked.Root() != p.root || e.Target != p.root+"/x" || e.Class != ClassProject {
		t.Errorf("root %s, %v, %v", linked.Root(), e, err)
	}
}

// rm ./*.go in the root of a project leaves the root, and .air in it, alone.
func TestBelowAFolder(t *testing.T) {
	p := newPlace(t)
	p.put(".git/config", "")
	e := p.engine("")
	for path, want := range map[string]string{".": CodeOverwrite, ".git": CodeProtectedPath, ".air": CodeFloorShared, p.air: CodeFloorAirHome, p.home + "/.ssh": CodeCredentials} {
		f, err := p.paths.Resolve(Effect{Kind: Delete, Target: path, Recursive: true, Below: true})
		if err != nil {
			t.Fatal(err)
		}
		if d := e.Decide(request("shell.run", nil, f))[0]; d.Code != want {
			t.Errorf("below %s: %s %s, %s is wanted", path, d.Verdict, d.Code, want)
		}
	}
	f, err := p.paths.Resolve(Effect{Kind: Delete, Target: ".", Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	p.want(e.Decide(request("shell.run", nil, f))[0], Deny, CodeFloorShared)
}
