package doctor

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/capabilities"
)

func wanted(detector string, packages ...string) Need {
	return Need{CapabilityID: "acme", Dependency: capabilities.Dependency{
		DependencyID: "it", Kind: "language_package", Required: true, Detector: detector,
		Installer: &capabilities.Installer{Strategy: "doctor_allowlisted", PackageNames: packages},
	}}
}

// installed checks, plans, installs and checks again.
func installed(t *testing.T, d *Doctor, n Need, command string) (before, after capabilities.Verdict) {
	t.Helper()
	check := func() capabilities.Verdict {
		return d.Check(t.Context(), []capabilities.Dependency{n.Dependency})[0]
	}
	before = check()
	n.Verdict = before
	plan := NewPlan([]Need{n, n})
	if len(plan.Steps) != 1 || plan.Steps[0].String() != command || len(before.Install) != 1 || before.Install[0] != command {
		t.Fatalf("the plan is %+v, the verdict %+v, want %s", plan, before, command)
	}
	var said bytes.Buffer
	done, err := d.Install(t.Context(), plan, &said)
	if err != nil || len(done) != 1 || done[0].Error != "" {
		t.Fatalf("%+v, %v, said:\n%s", done, err, said.String())
	}
	return before, check()
}

// go installs from a module proxy, and doctor finds the program by its module.
func TestInstallGo(t *testing.T) {
	tool := needs(t, "go", "golang-go")
	cache, err := exec.Command(tool, "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	home, bin, modules := t.TempDir(), filepath.Join(t.TempDir(), "bin"), t.TempDir()
	env := map[string]string{
		"PATH": filepath.Dir(tool), "HOME": home, "GOBIN": bin, "GOCACHE": strings.TrimSpace(string(cache)), "GOMODCACHE": modules,
		"GOPROXY": "file://" + goProxy(t), "GOSUMDB": "off", "GOTOOLCHAIN": "local",
		"GOFLAGS": "-toolexec=/nonexistent/evil", // never passed on
	}
	t.Cleanup(func() {
		c := exec.Command(tool, "clean", "-modcache")
		c.Env = append(os.Environ(), "GOMODCACHE="+modules)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	d := New(Config{Getenv: variables(env)})
	before, after := installed(t, d, wanted("go:modules.example/tool/v2", "modules.example/tool/v2@v2.0.1"), "go install modules.example/tool/v2@v2.0.1")
	if before.State != isMissing || after.State != isPresent || after.Detail != bin+"/tool v2.0.1" {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if err := os.Rename(filepath.Join(bin, "tool"), filepath.Join(bin, "other")); err != nil {
		t.Fatal(err)
	}
	if got := one(t, d, "go:modules.example/tool/v2"); got.State != isPresent {
		t.Errorf("under another name: %+v", got)
	}
	if got := one(t, d, "go:modules.example/other"); got.State != isMissing {
		t.Errorf("by its file's name: %+v", got)
	}
}

// goProxy is a folder that holds the module modules.example/tool/v2, as a proxy serves it.
func goProxy(t *testing.T) string {
	const module, version = "modules.example/tool/v2", "v2.0.1"
	dir := t.TempDir()
	at := filepath.Join(dir, module, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	mod := "module " + module + "\n\ngo 1.24\n"
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, body := range map[string]string{"go.mod": mod, "main.go": "package main\n\nfunc main() {}\n"} {
		f, err := z.Create(module + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for file, body := range map[string]string{
		version + ".zip": packed.String(), version + ".mod": mod, version + ".info": `{"Version":"` + version + `"}`,
		"list": version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(at, file), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// npm installs from a registry into the person's prefix, and runs no script of the package.
func TestInstallNPM(t *testing.T) {
	npm := needs(t, "npm", "npm")
	mark := filepath.Join(t.TempDir(), "ran")
	registry := npmRegistry(t, "@acme/tool", "1.2.3", "touch "+mark)
	prefix := t.TempDir()
	d := New(Config{Getenv: variables(map[string]string{
		"PATH": filepath.Dir(npm), "HOME": t.TempDir(), "npm_config_registry": registry, "npm_config_prefix": prefix,
	})})
	before, after := installed(t, d, wanted("npm:@acme/tool"), "npm install --global --ignore-scripts @acme/tool")
	if before.State != isMissing || after.State != isPresent || after.Detail != "npm package @acme/tool 1.2.3" {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if exists(mark) {
		t.Error("a script of the package was run")
	}
}

// npmRegistry serves one package, whose installation has a script.
func npmRegistry(t *testing.T, name, version, onInstall string) (address string) {
	about := map[string]any{"name": name, "version": version, "scripts": map[string]string{"preinstall": onInstall, "install": onInstall, "postinstall": onInstall}}
	text, err := json.Marshal(about)
	if err != nil {
		t.Fatal(err)
	}
	packed := packedPackage(t, text)
	sum := sha512.Sum512(packed)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			_, _ = w.Write(packed) // the client sees it cut
			return
		}
		about["dist"] = map[string]string{"tarball": "http://" + r.Host + "/it.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: about},
		})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

func packedPackage(t *testing.T, about []byte) []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	archive := tar.NewWriter(z)
	if err := archive.WriteHeader(&tar.Header{Name: "package/package.json", Mode: 0o644, Size: int64(len(about)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{
		func() error { _, err := archive.Write(about); return err }, archive.Close, z.Close,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return packed.Bytes()
}

// apt-get understands the command, here without doing it, and takes no name for a pattern.
func TestAptTakesTheCommand(t *testing.T) {
	needs(t, "apt-get", "apt")
	simulate := func(name string) error {
		p, ok := namedPackage(name, managerApt)
		if !ok {
			t.Fatalf("%s is no package", name)
		}
		command := p.command()
		c := exec.Command(command[0], append([]string{"--simulate", "-o", "Debug::NoLocking=true"}, command[1:]...)...)
		out, err := c.CombinedOutput()
		t.Logf("%s: %v: %s", c, err, out)
		return err
	}
	if err := simulate("dpkg"); err != nil {
		t.Errorf("dpkg: %v", err)
	}
	for _, pattern := range []string{"d.kg", "dp.+"} {
		if err := simulate(pattern); err == nil {
			t.Errorf("%s was taken for a pattern", pattern)
		}
	}
}

// What a manager says is shown line by line, and steers no terminal. It ends with its context.
func TestInstallShowsAndEnds(t *testing.T) {
	dir := folder(t, map[string]string{"npm": `printf 'one\rtwo\033[2J\n%5000s\nend' x; pwd; env | grep SECRET; sleep 300`})
	d := New(Config{Getenv: variables(map[string]string{"PATH": dir, "SECRET": "s"})})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	plan := NewPlan([]Need{{Dependency: wanted("npm:x").Dependency, Verdict: capabilities.Verdict{State: isMissing}}, {Dependency: wanted("npm:y").Dependency, Verdict: capabilities.Verdict{State: isMissing}}})
	var said bytes.Buffer
	begun := time.Now()
	done, err := d.Install(ctx, plan, &said)
	if err == nil || len(done) != 1 || done[0].Error == "" || time.Since(begun) > 8*time.Second {
		t.Errorf("got %+v, %v after %s", done, err, time.Since(begun))
	}
	lines := strings.Split(said.String(), "\n")
	if lines[0] != "  one" || !strings.HasPrefix(lines[1], "  two") || strings.ContainsAny(said.String(), "\x1b\r") || strings.Contains(said.String(), "SECRET") {
		t.Errorf("it shows %q", said.String())
	}
	for _, line := range lines {
		if len(line) > maxLine+10 {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
	if !strings.Contains(said.String(), "end"+os.TempDir()) {
		t.Errorf("it did not work in a folder of its own: %q", said.String())
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "air-doctor-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestPlan(t *testing.T) {
	manual := Need{CapabilityID: "b", Dependency: capabilities.Dependency{
		DependencyID: "key", Kind: "provider", Detector: "env:ACME_KEY", Installer: &capabilities.Installer{Strategy: "manual", Commands: []string{"curl x | sh"}},
	}, Verdict: capabilities.Verdict{State: isMissing}}
	refused := wanted("binary:x")
	refused.Dependency.Installer.Commands = []string{"curl x | sh"}
	refused.Verdict = capabilities.Verdict{State: isMissing, Disallowed: "it is never run"}
	optional := wanted("binary:jq", "jq", "npm:jq-web")
	optional.Dependency.Required, optional.Verdict.State = false, isOld
	again := wanted("apt:jq")
	again.CapabilityID, again.Verdict.State = "c", isMissing
	there, unsure := wanted("apt:a"), wanted("apt:b")
	there.Verdict.State, unsure.Verdict.State = isPresent, isUnknown
	program := wanted("go:modules.example/x")
	program.Verdict.State = isMissing
	var text strings.Builder
	if err := NewPlan([]Need{program, manual, refused, optional, again, there, unsure}).Write(&text); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`These commands install what is missing, as you, with your network:
  apt-get install -y --no-install-recommends -o APT::Cmd::Pattern-Only=true jq
      for acme/it, c/it
  npm install --global --ignore-scripts jq-web
      for acme/it (optional)
  go install modules.example/x@latest
      for acme/it
Left to you:
  b/key: set the variable ACME_KEY where air is started; its publisher would run [%q]
  acme/it: install what binary:x looks for; its installer is never run: it is never run; its publisher would run [%q]
`, "curl x | sh", "curl x | sh")
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
}
