package gitsource

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
)

var roomy = Bounds{Files: 100, Bytes: 1 << 20, Total: 10 << 20}

// repo is a repository that the tests make with the real git.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T, files map[string]string, init ...string) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing (Debian: git)")
	}
	r := &repo{t, filepath.Join(t.TempDir(), "repo")}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.git(append([]string{"init", "-q", "-b", "main"}, init...)...)
	r.commit(files)
	return r
}

func (r *repo) git(args ...string) string { return r.gitWith("", args...) }

func (r *repo) gitWith(stdin string, args ...string) string {
	r.t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Stdin = r.dir, strings.NewReader(stdin)
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) commit(files map[string]string) {
	r.t.Helper()
	for name, content := range files {
		path := filepath.Join(r.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			r.t.Fatal(err)
		}
		r.git("update-index", "--add", "--cacheinfo", "100644,"+r.gitWith(content, "hash-object", "-w", "--stdin")+","+name)
	}
	r.git("commit", "-q", "--no-verify", "-m", "files")
}

// commitTree makes a commit of entries as git would never write them.
func (r *repo) commitTree(tree string) string {
	r.t.Helper()
	object := r.gitWith(tree, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
	commit := r.git("commit-tree", "-m", "tree", object)
	r.git("update-ref", "refs/heads/odd", commit)
	return commit
}

func machine(t *testing.T, env map[string]string) Program {
	t.Helper()
	file, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is missing (Debian: git)")
	}
	return Program{File: file, Path: os.Getenv("PATH"), Getenv: func(name string) string { return env[name] }}
}

func fetchArg(t *testing.T, p Program, arg string) (*Repository, error) {
	t.Helper()
	s, err := Parse("git:" + arg)
	if err != nil {
		t.Fatal(err)
	}
	return Fetch(t.Context(), p, t.TempDir(), s)
}

func mustFetch(t *testing.T, arg string) *Repository {
	t.Helper()
	r, err := fetchArg(t, machine(t, nil), arg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func extract(t *testing.T, r *Repository, b Bounds, names ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return dir, r.Extract(t.Context(), root, b, names...)
}

func wantFault(t *testing.T, err error, kind fault.Kind, code, part string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %s %s", kind, code)
	} else if e := fault.From(err); e.Kind != kind || e.Code != code || !strings.Contains(e.Message+e.Hint, part) {
		t.Errorf("got %s %s %q (%s), want %s %s with %q", e.Kind, e.Code, e.Message, e.Hint, kind, code, part)
	}
}

func TestRevisions(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1"})
	first := r.git("rev-parse", "HEAD")
	r.git("tag", "-a", "-m", "x", "v1")
	r.git("branch", "feature/x")
	r.commit(map[string]string{"a": "2"})
	second := r.git("rev-parse", "HEAD")
	for rev, want := range map[string]string{"": second, "@main": second, "@v1": first, "@feature/x": first, "@" + first: first, "@refs/heads/main": second} {
		if got := mustFetch(t, "file://"+r.dir+rev); got.Commit != want {
			t.Errorf("%q is %s, want %s", rev, got.Commit, want)
		}
	}
	for _, rev := range []string{"nothing", first[:10], strings.Repeat("0", 40)} {
		_, err := fetchArg(t, machine(t, nil), r.dir+"@"+rev)
		wantFault(t, err, fault.Unavailable, "git_failed", "name a branch, a tag, or a commit by all of its digits")
	}
	_, err := fetchArg(t, machine(t, nil), r.dir+"@"+r.git("rev-parse", "v1"))
	wantFault(t, err, fault.InvalidInput, "bad_revision", first)
	_, err = fetchArg(t, machine(t, nil), r.dir+"@"+r.git("rev-parse", "main^{tree}"))
	if err == nil {
		t.Error("a tree was taken for a commit")
	}
}

func TestRepositoryOfOtherHashes(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1"}, "--object-format=sha256")
	commit := r.git("rev-parse", "HEAD")
	if got := mustFetch(t, r.dir+"@"+commit); got.Commit != commit || len(commit) != 64 {
		t.Errorf("got %s, want %s", got.Commit, commit)
	}
}

// What is committed is what is written: attributes, filters, and submodules beside the
// wanted files do nothing, and nothing of the repository or of the person's configuration
// is executed.
func TestNothingIsExecuted(t *testing.T) {
	canary := filepath.Join(t.TempDir(), "canary")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+canary+"\nexec \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "$Id$ $Format:%H$\nline\r\n"
	r := newRepo(t, map[string]string{
		"assets/a.txt": text, ".gitattributes": "* filter=evil ident export-subst text eol=crlf diff=evil merge=evil\n",
		".gitmodules": "[submodule \"m\"]\n\tpath = m\n\turl = ext::" + evil + "\n\tupdate = !" + evil + "\n", ".lfsconfig": "[lfs]\n\turl = file:///x\n",
	})
	r.git("update-index", "--add", "--cacheinfo", "160000,"+r.git("rev-parse", "HEAD")+",m")
	r.git("commit", "-qm", "a submodule")
	config := "[filter \"evil\"]\n\tsmudge = " + evil + "\n\tclean = " + evil + "\n\tprocess = " + evil + "\n\trequired = true\n" +
		"[core]\n\tfsmonitor = " + evil + "\n\tsshCommand = " + evil + "\n\talternateRefsCommand = " + evil + "\n\thooksPath = " + filepath.Dir(evil) + "\n" +
		"[uploadpack]\n\tpackObjectsHook = " + evil + "\n[credential]\n\thelper = !" + evil + "\n[url \"ext::" + evil + " \"]\n\tinsteadOf = file://\n"
	for _, file := range []string{filepath.Join(r.dir, ".git", "config"), filepath.Join(t.TempDir(), ".gitconfig")} {
		old, _ := os.ReadFile(file) // the person has none yet
		if err := os.WriteFile(file, append(old, config...), 0o600); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{
			"HOME": filepath.Dir(file), "XDG_CONFIG_HOME": filepath.Dir(file), "GIT_SSH_COMMAND": evil, "GIT_EXTERNAL_DIFF": evil, "GIT_ASKPASS": evil,
			"SSH_ASKPASS": evil, "GIT_CONFIG_GLOBAL": file, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": evil,
			"GIT_EXEC_PATH": filepath.Dir(evil), "GIT_TEMPLATE_DIR": filepath.Dir(evil), "GIT_PROXY_COMMAND": evil,
		}
		got, err := fetchArg(t, machine(t, env), "file://"+r.dir)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := extract(t, got, roomy, "assets", "nothing")
		if err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(filepath.Join(dir, "assets", "a.txt")); string(content) != text {
			t.Errorf("got %q, %v", content, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("there is more than asked for: %v", entries)
		}
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("something of the repository was executed")
	}
}

// A repository on this machine lacks objects, and names a program that would bring them.
func TestPromisedObjectsAreNotFetched(t *testing.T) {
	canary := filepath.Join(t.TempDir(), "canary")
	r := newRepo(t, map[string]string{"a": "1"})
	object := r.git("rev-parse", "HEAD:a")
	if err := os.Remove(filepath.Join(r.dir, ".git", "objects", object[:2], object[2:])); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"core.repositoryFormatVersion": "1", "extensions.partialClone": "o", "remote.o.promisor": "true",
		"remote.o.url": "file://" + r.dir, "remote.o.uploadpack": "touch " + canary + ";",
	} {
		r.git("config", name, value)
	}
	_, err := fetchArg(t, machine(t, nil), "file://"+r.dir)
	if err == nil {
		t.Error("a repository with a missing object was fetched")
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("a program that the repository names was executed")
	}
}

func TestOddTreesAreRefused(t *testing.T) {
	r := newRepo(t, map[string]string{"assets/a": "1"})
	id := r.git("rev-parse", "HEAD:assets/a")
	tree := r.git("rev-parse", "HEAD:assets")
	raw := func(mode, name, object string) string {
		return mode + " " + name + "\x00" + string(unhex(t, object))
	}
	for name, entry := range map[string]string{
		"symbolic link":   raw("120000", "link", id),
		"submodule":       raw("160000", "sub", r.git("rev-parse", "HEAD")),
		"no name":         raw("100644", "..", id),
		"a slash":         raw("40000", "..", tree),
		"an empty folder": raw("40000", ".", tree),
		"twice":           raw("100644", "a", id) + raw("100644", "a", id),
	} {
		t.Run(name, func(t *testing.T) {
			assets := r.gitWith(entry, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
			r.commitTree(raw("40000", "assets", assets))
			got, err := fetchArg(t, machine(t, nil), r.dir+"@odd")
			if err != nil {
				t.Log(err) // git itself refuses it
				return
			}
			dir, err := extract(t, got, roomy, "assets")
			if err == nil {
				t.Error("it was extracted")
			}
			if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) > 2 {
				t.Errorf("something lies beside the folder: %v", entries)
			}
		})
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	var out []byte
	for i := 0; i < len(s); i += 2 {
		out = append(out, byte(strings.IndexByte("0123456789abcdef", s[i])<<4|strings.IndexByte("0123456789abcdef", s[i+1])))
	}
	return out
}

// A few trees, each twice in the next, stand for more folders than can be walked.
func TestTreeBomb(t *testing.T) {
	r := newRepo(t, map[string]string{"c": "1"})
	tree := r.gitWith("", "hash-object", "-t", "tree", "-w", "--stdin")
	for range 45 {
		id := string(unhex(t, tree))
		tree = r.gitWith("40000 a\x00"+id+"40000 b\x00"+id, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
	}
	r.commitTree("40000 assets\x00" + string(unhex(t, tree)))
	got, err := fetchArg(t, machine(t, nil), r.dir+"@odd")
	if err != nil {
		t.Fatal(err)
	}
	got.maxListTime = 300 * time.Millisecond
	_, err = extract(t, got, roomy, "assets")
	wantFault(t, err, fault.ResourceExhausted, "repository_size", "took more than")
}

func TestBounds(t *testing.T) {
	r := newRepo(t, map[string]string{"assets/a": "12345", "assets/b": "123", "c": "1"})
	got := mustFetch(t, r.dir)
	for part, b := range map[string]Bounds{
		"2 files":         {Files: 1, Bytes: 10, Total: 10},
		"more than 4":     {Files: 2, Bytes: 4, Total: 10},
		"more than 7":     {Files: 2, Bytes: 5, Total: 7},
		"limit is 0":      {},
		"bytes in all: x": {Files: 2, Bytes: 5, Total: 8},
	} {
		_, err := extract(t, got, b, "assets")
		if part == "bytes in all: x" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		wantFault(t, err, fault.InvalidInput, "bad_bundle", part)
	}
	_, err := fetchArg(t, machine(t, nil), r.dir+"#assets")
	if err != nil {
		t.Fatal(err)
	}
	got = mustFetch(t, r.dir+"#nowhere")
	_, err = extract(t, got, roomy, "assets")
	wantFault(t, err, fault.NotFound, "no_folder", "nowhere")
}

// A repository of a megabyte that nothing compresses, where 64 KiB are allowed.
func TestLargeRepositoryIsCutOff(t *testing.T) {
	noise := make([]byte, 1<<20)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	r := newRepo(t, map[string]string{"a": string(noise)})
	s, err := Parse("git:" + r.dir)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, err = fetchUpTo(t.Context(), machine(t, nil), dir, s, 64<<10)
	wantFault(t, err, fault.ResourceExhausted, "repository_size", "air install its folder")
	if out, err := exec.Command("du", "-sk", dir).Output(); err != nil || len(strings.Fields(string(out))[0]) > 3 {
		t.Errorf("there are %s, %v", out, err)
	}
}

// A server that says nothing is left in time, with all that git started.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := Parse("git:https://" + l.Addr().String() + "/x")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	before := time.Now()
	_, err = Fetch(ctx, machine(t, nil), t.TempDir(), s)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(before) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(before), err)
	}
	if text := commandLines(t); strings.Contains(text, l.Addr().String()) {
		t.Error("what git started is still running")
	}
}

func commandLines(t *testing.T) string {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well formed
	var b strings.Builder
	for _, file := range all {
		text, _ := os.ReadFile(file) // it may have ended
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// served serves a repository by https to Ada, and counts who else asks with a password.
func served(t *testing.T, r *repo) (server *httptest.Server, env map[string]string, shown *atomic.Bool) {
	t.Helper()
	file, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is missing (Debian: git)")
	}
	backend := &cgi.Handler{Path: file, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + r.dir, "GIT_HTTP_EXPORT_ALL=1", "PATH=" + os.Getenv("PATH")}}
	shown = &atomic.Bool{}
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.Contains(commandLines(t), "hunter22") {
			shown.Store(true)
		}
		if user, password, _ := q.BasicAuth(); user != "ada" || password != "hunter22" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			http.Error(w, "hunter22 is it not", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, q)
	}))
	t.Cleanup(server.Close)
	return server, map[string]string{"GIT_SSL_CAINFO": authority(t, server), "no_proxy": "127.0.0.1"}, shown
}

func TestCredentialsOfAURL(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1"})
	server, env, shown := served(t, r)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fetchArg(t, machine(t, env), "https://ada:hunter22@"+u.Host+"/.git@main")
	if err != nil {
		t.Fatal(err)
	}
	if got.Source().Record() != "https://"+u.Host+"/.git" {
		t.Errorf("recorded as %q", got.Source().Record())
	}
	left, err := exec.Command("grep", "-r", "hunter22", got.dir).Output()
	if len(left) > 0 || err == nil {
		t.Errorf("the password was kept: %s, %v", left, err)
	}
	for _, who := range []string{"", "ada:wrong22@"} {
		_, err := fetchArg(t, machine(t, env), "https://"+who+u.Host+"/.git")
		wantFault(t, err, fault.Unavailable, "git_failed", "asks for no password")
		if strings.Contains(err.Error(), "wrong22") {
			t.Errorf("shown: %v", err)
		}
	}
	if shown.Load() {
		t.Error("everybody on the machine could read the password in a command line")
	}
}

// Another server is sent neither the password nor to another protocol.
func TestRedirections(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1"})
	var told atomic.Bool
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if _, _, ok := q.BasicAuth(); ok {
			told.Store(true)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer other.Close()
	for _, target := range []string{other.URL, "file://" + r.dir, "http://127.0.0.1:1", "ext::touch x"} {
		first := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Location", target+q.URL.Path+"?"+q.URL.RawQuery)
			w.WriteHeader(http.StatusFound)
		}))
		env := map[string]string{"GIT_SSL_CAINFO": authority(t, first), "no_proxy": "127.0.0.1"}
		_, err := fetchArg(t, machine(t, env), "https://ada:hunter22@"+strings.TrimPrefix(first.URL, "https://")+"/x")
		first.Close()
		wantFault(t, err, fault.Unavailable, "git_failed", "")
	}
	if told.Load() {
		t.Error("another server got the password")
	}
}

// authority writes the certificate of a server, which signs for itself.
func authority(t *testing.T, s *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A program in ssh's place runs here what it is told to run there.
func TestSSH(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1"})
	bin := t.TempDir()
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + bin + "/told\nfor last; do :; done\nexec sh -c \"$last\"\n"
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p := machine(t, map[string]string{"SSH_ASKPASS": "/bin/false"})
	p.Path = bin + ":" + p.Path
	for arg, host := range map[string]string{"git@h.example:" + r.dir: "git@h.example", "ssh://ada:hunter22@h.example:2222" + r.dir + "@main": "ada@h.example"} {
		got, err := fetchArg(t, p, arg)
		if err != nil {
			t.Fatal(err)
		}
		told, err := os.ReadFile(filepath.Join(bin, "told"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"-oBatchMode=yes\n", "-oForwardAgent=no\n", "\n" + host + "\n"} {
			if !strings.Contains(string(told), want) {
				t.Errorf("%s: ssh was told %q, want %q", arg, told, want)
			}
		}
		if strings.Contains(got.Source().Record()+string(told), "hunter22") {
			t.Errorf("%s: recorded as %s, ssh was told %q", arg, got.Source().Record(), told)
		}
	}
}
