package runner

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/network"
	"github.com/aircoding/air/runtime/permission"
)

// site is a server of this machine, which counts what reaches it.
type site struct {
	*httptest.Server
	port    string
	reached *atomic.Int32
}

// serve listens on an address of this machine.
func serve(t *testing.T, address string, secure bool, h http.Handler) site {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	reached := new(atomic.Int32)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		h.ServeHTTP(w, r)
	}))
	s.Listener.Close()
	s.Listener = l
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return site{s, port, reached}
}

var says = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "reached %s", r.Host) })

// reaching is a command line for which hosts were decided, and no others will be.
func (r *rig) reaching(text string, urls ...string) runtime.Launch {
	r.Helper()
	l := r.line(text)
	for _, url := range urls {
		e, err := permission.NetTarget(url)
		must(r, err)
		l.Effects = append(l.Effects, e)
	}
	l.Decide = func(_ context.Context, effects []permission.Effect) error {
		for _, e := range effects {
			same := func(have permission.Effect) bool { return have.Target == e.Target && have.Class == e.Class }
			if e.Kind == permission.Net && !slices.ContainsFunc(l.Effects, same) {
				return fault.New(fault.ApprovalRequired, "approval_required", "%s needs approval", e)
			}
		}
		return nil
	}
	return l
}

// The one way out is the proxy, and by it the decided hosts.
func TestDecidedHostsAreReached(t *testing.T) {
	needsSandbox(t)
	needs(t, "curl", "curl")
	plain, secure := serve(t, "127.0.0.1", false, says), serve(t, "127.0.0.1", true, says)
	r := newRig(t, nil)
	for _, url := range []string{plain.URL, secure.URL} {
		for _, bash := range []bool{false, true} {
			l := r.reaching("curl -sSk "+url, url)
			l.Bash = bash
			if ended, out := r.run(l); ended.Code != 0 || out != "reached "+strings.TrimPrefix(strings.TrimPrefix(url, "http://"), "https://") {
				t.Errorf("%s, bash %v: %d %s", url, bash, ended.Code, out)
			}
		}
	}
	before := plain.reached.Load()
	if ended, out := r.run(r.reaching("curl -sS --noproxy '*' -m 3 "+plain.URL, plain.URL)); ended.Code == 0 || plain.reached.Load() != before {
		t.Errorf("past the proxy: %d %s", ended.Code, out)
	}
	l := r.line("curl -sS -m 3 " + plain.URL)
	l.Bash = true
	if ended, out := r.run(l); ended.Code == 0 || plain.reached.Load() != before {
		t.Errorf("without a decided host: %d %s", ended.Code, out)
	}
}

// N1 to N6 from inside a command: none reaches its server, and the reader is told why.
func TestNetworkFromInside(t *testing.T) {
	needsSandbox(t)
	needs(t, "curl", "curl")
	plain, secure, other := serve(t, "127.0.0.1", false, says), serve(t, "127.0.0.1", true, says), serve(t, "127.0.0.1", false, says)
	away := serve(t, "127.0.0.1", false, http.RedirectHandler(other.URL, http.StatusFound))
	r := newRig(t, nil)
	r.config.Dialer = network.Dialer{Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	named := "http://ok.example:" + plain.port
	fails := "curl -sS -f -m 5 "
	for _, c := range []struct {
		number string
		launch runtime.Launch
		want   string // in what is told
	}{
		{"N1", r.reaching(fails+"$URL", named), "needs approval"},
		{"N2", r.reaching(fails+"-L "+away.URL, away.URL), other.URL},
		{"N3", r.reaching(fails+"http://127.0.0.1:"+other.port, plain.URL), other.URL},
		{"N3", r.reaching(fails+"http://ok.example.evil:"+plain.port, named), "http://ok.example.evil:" + plain.port},
		{"N3", r.reaching(fails+"http://ok.example.:"+plain.port, named), "another spelling"},
		{"N3", r.reaching(fails+"--globoff 'http://[::ffff:127.0.0.1]:"+plain.port+"'", plain.URL), ""},
		{"N3", r.reaching(fails+"-x http://127.0.0.1:3128 http://0x7f000001:"+plain.port, "http://ok.example"), ""},
		{"N4", r.reaching("exec 5<>/dev/tcp/127.0.0.1/"+plain.port+" && echo x >&5", plain.URL), ""},
		{"N4", r.reaching("exec 5<>/dev/tcp/1.1.1.1/53", plain.URL), ""},
		{"N5", r.reaching(fails+"-p "+plain.URL, "https://127.0.0.1:"+plain.port), "https was allowed"},
		{"N5", r.reaching(fails+"-k "+secure.URL, "http://127.0.0.1:"+secure.port), secure.URL},
		{"N5", r.reaching(fails+plain.URL, "https://127.0.0.1:"+plain.port), plain.URL},
		{"N6", r.reaching(fails+"--unix-socket /var/run/docker.sock http://x/", plain.URL), ""},
	} {
		l := c.launch
		l.Env, l.Bash = map[string]string{"URL": named}, true
		ended, out := r.run(l)
		if ended.Code == 0 || !strings.Contains(out, c.want) {
			t.Errorf("%s, %s: %d %s", c.number, l.Text, ended.Code, out)
		}
		if c.want != "" && (!strings.HasPrefix(ended.Held["hosts"], "not reached: http") || !strings.HasSuffix(ended.Held["hosts"], ")")) {
			t.Errorf("%s, %s: held %v", c.number, l.Text, ended.Held)
		}
	}
	for _, s := range []site{plain, secure, other} {
		if n := s.reached.Load(); n > 0 {
			t.Errorf("%s was reached %d times", s.URL, n)
		}
	}
}

// Hosts that are decided while a command line runs are let through from then on.
func TestHostsDecidedLate(t *testing.T) {
	needsSandbox(t)
	needs(t, "curl", "curl")
	s := serve(t, "127.0.0.1", false, says)
	r := newRig(t, nil)
	l := r.line(`for p in ` + s.port + `; do curl -sS -f http://127.0.0.1:$p; done`)
	l.Effects = []permission.Effect{{Kind: permission.Run, Target: "curl", Hosts: true, Risk: permission.RiskNetwork}}
	var asked []string
	l.Decide = func(_ context.Context, effects []permission.Effect) error {
		for _, e := range effects {
			asked = append(asked, e.Target)
		}
		return nil
	}
	ended, out := r.run(l)
	if !slices.Contains(asked, s.URL) {
		t.Fatalf("asked about %v", asked)
	}
	if ended.Code == 0 || s.reached.Load() != 0 { // 127.0.0.1 is what listens inside, as no host of the machine was decided before
		t.Errorf("%d %s", ended.Code, out)
	}
	l.Env = map[string]string{"NO_PROXY": "", "no_proxy": ""}
	if ended, out := r.run(l); ended.Code != 0 || s.reached.Load() != 1 {
		t.Errorf("%d %s", ended.Code, out)
	}
}

// Where packages lie that a registry names is asked about when they are fetched, once for
// each host. What is refused is not installed, and the reason is told.
func TestNpmAsksForHostsLate(t *testing.T) {
	needsSandbox(t)
	needs(t, "npm", "npm")
	npm, err := exec.LookPath("npm")
	must(t, err)
	packed := serve(t, "127.0.0.1", false, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packageFile(t)) }))
	moved := serve(t, "127.0.0.1", false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://packed.internal:"+packed.port+r.URL.Path, http.StatusFound)
	}))
	named := func(port string) string { return "http://registry.internal:" + port }
	registry := serve(t, "127.0.0.1", false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": name, "dist-tags": map[string]string{"latest": "1.0.0"},
			"versions": map[string]any{"1.0.0": map[string]any{"name": name, "version": "1.0.0", "dist": map[string]string{"tarball": "http://moved.internal:" + moved.port + "/" + name + ".tgz"}}},
		})
	}))
	for _, refuse := range []string{"", "http://packed.internal:" + packed.port} {
		r := newRig(t, map[string]string{"PATH": filepath.Dir(npm) + ":/usr/local/bin:/usr/bin:/bin"})
		r.config.Dialer = network.Dialer{Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}}
		r.put("src/project/package.json", `{"name":"p","version":"1.0.0","dependencies":{"one":"1.0.0","two":"1.0.0"}}`)
		l := r.line("npm install --no-audit --no-fund --no-update-notifier --fetch-retries=0")
		l.Bash, l.Env = true, map[string]string{"npm_config_registry": named(registry.port)}
		l.Effects = []permission.Effect{{Kind: permission.Run, Target: "npm install", Hosts: true}}
		asked := map[string]int{}
		l.Decide = func(_ context.Context, effects []permission.Effect) error {
			for _, e := range effects {
				if asked[e.Target]++; e.Target == refuse {
					return fault.New(fault.ApprovalRequired, "private_address", "%s needs approval", e)
				}
			}
			return nil
		}
		ended, out := r.run(l)
		want := map[string]int{named(registry.port): 1, "http://moved.internal:" + moved.port: 1, "http://packed.internal:" + packed.port: 1}
		if !maps.Equal(asked, want) {
			t.Errorf("refusing %q: asked about %v, want %v", refuse, asked, want)
		}
		_, err := os.Stat(filepath.Join(r.root, "node_modules", "two", "package.json"))
		if installed := err == nil; installed != (refuse == "") || (ended.Code == 0) != (refuse == "") {
			t.Errorf("refusing %q: %d, installed %v: %s", refuse, ended.Code, installed, out)
		}
		if refuse != "" && (!strings.Contains(out, "needs approval") || ended.Held["hosts"] != "not reached: "+refuse+" (net("+refuse+") needs approval)") {
			t.Errorf("%s\nheld %v", out, ended.Held)
		}
	}
}

// packageFile is what npm pack makes of a package without files of its own.
func packageFile(t *testing.T) []byte {
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	all := tar.NewWriter(z)
	content := `{"version":"1.0.0"}`
	must(t, all.WriteHeader(&tar.Header{Name: "package/package.json", Mode: 0o644, Size: int64(len(content))}))
	_, err := io.WriteString(all, content)
	must(t, err)
	must(t, all.Close())
	must(t, z.Close())
	return file.Bytes()
}

// What was not said to need hosts has no way out, whoever would allow one.
func TestNoProxyWithoutANetworkEffect(t *testing.T) {
	needsSandbox(t)
	needs(t, "curl", "curl")
	s := serve(t, outer(t), false, says)
	r := newRig(t, nil)
	for _, network := range []bool{false, true} {
		l := r.line("curl -sS -f -m 5 " + s.URL)
		l.Bash, l.Effects = true, []permission.Effect{{Kind: permission.Run, Target: "bash -c x", Risk: permission.RiskOpaque}}
		if network {
			l.Effects = append(l.Effects, permission.Effect{Kind: permission.Run, Target: "curl", Risk: permission.RiskNetwork})
		}
		if ended, out := r.run(l); (ended.Code == 0) != network || (s.reached.Load() > 0) != network {
			t.Errorf("network %v: %d %s", network, ended.Code, out)
		}
	}
}

func TestGitThroughTheProxy(t *testing.T) {
	needsSandbox(t)
	needs(t, "git", "git")
	repo := filepath.Join(t.TempDir(), "x.git")
	for _, args := range [][]string{{"init", "-q", "--bare", repo}, {"-C", repo, "update-server-info"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	s := serve(t, "127.0.0.1", false, http.FileServer(http.Dir(filepath.Dir(repo))))
	r := newRig(t, nil)
	url := s.URL + "/x.git"
	if ended, out := r.run(r.reaching("git ls-remote "+url+" && git clone -q "+url+" y && ls y/.git/HEAD", s.URL)); ended.Code != 0 || s.reached.Load() == 0 {
		t.Errorf("%d %s", ended.Code, out)
	}
	before := s.reached.Load()
	l := r.reaching("git ls-remote "+url, "http://127.0.0.1:1")
	l.Bash = true
	if ended, out := r.run(l); ended.Code == 0 || s.reached.Load() != before || !strings.Contains(out, s.URL) {
		t.Errorf("%d %s", ended.Code, out)
	}
	ended, out := r.run(r.reaching("git ls-remote ssh://git@git.example/x", "ssh://git.example"))
	if ended.Code == 0 || !strings.Contains(out, "ssh is neither") {
		t.Errorf("%d %s", ended.Code, out)
	}
}

// outer is an address of this machine that is not its loopback: Go takes no proxy to that.
func outer(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range all {
		if addr := netip.MustParsePrefix(a.String()).Addr(); addr.Is4() && !addr.IsLoopback() && !addr.IsLinkLocalUnicast() {
			return addr.String()
		}
	}
	t.Skip("this machine has no address but its loopback")
	return ""
}

func TestGoModulesThroughTheProxy(t *testing.T) {
	needsSandbox(t)
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go here: apt-get install golang-go")
	}
	var module bytes.Buffer
	z := zip.NewWriter(&module)
	for name, content := range map[string]string{"go.mod": "module m.example/x\n", "x.go": "package x\n"} {
		w, err := z.Create("m.example/x@v1.0.0/" + name)
		must(t, err)
		_, err = io.WriteString(w, content)
		must(t, err)
	}
	must(t, z.Close())
	s := serve(t, outer(t), false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch filepath.Ext(r.URL.Path) {
		case ".info":
			fmt.Fprint(w, `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`)
		case ".mod":
			fmt.Fprint(w, "module m.example/x\n")
		case ".zip":
			_, _ = w.Write(module.Bytes())
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	r := newRig(t, map[string]string{"PATH": filepath.Dir(goTool) + ":/usr/bin:/bin", "GOPROXY": s.URL, "GOSUMDB": "off"})
	r.put("src/project/go.mod", "module p.example\n\ngo 1.20\n\nrequire m.example/x v1.0.0\n")
	l := r.reaching("go mod download m.example/x", s.URL)
	l.Bash, l.Env = true, map[string]string{"GOFLAGS": "-modcacherw"}
	if ended, out := r.run(l); ended.Code != 0 || s.reached.Load() == 0 {
		t.Errorf("%d %s", ended.Code, out)
	}
}

func TestNpmThroughTheProxy(t *testing.T) {
	needsSandbox(t)
	needs(t, "npm", "npm")
	s := serve(t, "127.0.0.1", false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": "thing", "dist-tags": map[string]string{"latest": "1.2.3"},
			"versions": map[string]any{"1.2.3": map[string]any{"name": "thing", "version": "1.2.3", "dist": map[string]string{"tarball": "http://" + r.Host + "/thing.tgz"}}},
		})
	}))
	npm, err := exec.LookPath("npm")
	must(t, err)
	r := newRig(t, map[string]string{"PATH": filepath.Dir(npm) + ":/usr/local/bin:/usr/bin:/bin"})
	r.put("src/project/package.json", "{}")
	must(t, os.WriteFile(filepath.Join(r.root, ".npmrc"), []byte("registry="+s.URL+"\n@own:registry="+s.URL+"\n//x/:_authToken=secret\n"), 0o644))
	l := r.reaching("npm view thing version && npm view @own/thing version", s.URL)
	l.Bash = true
	if ended, out := r.run(l); ended.Code != 0 || !strings.Contains(out, "1.2.3") || s.reached.Load() == 0 {
		t.Errorf("%d %s", ended.Code, out)
	}
}
