//go:build linux

package runner

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/runtime/permission"
)

// needs skips where a program is missing, and names the Debian package that brings it.
func needs(t testing.TB, program, debian string) string {
	t.Helper()
	version := "--version"
	if program == "go" {
		version = "version"
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		// One may be there that runs only in another home, as rustup's do.
		if exec.Command(filepath.Join(folder, program), version).Run() == nil {
			return folder
		}
	}
	t.Skipf("%s is missing: apt-get install %s", program, debian)
	return ""
}

// day is a project on this machine, with the toolchains that this machine has.
func day(t *testing.T, program, debian string) *rig {
	t.Helper()
	needsSandbox(t)
	folder := needs(t, program, debian)
	return newRig(t, map[string]string{"PATH": folder + ":" + os.Getenv("PATH")})
}

// ownDay is a day with the toolchains in the home of whoever runs the tests. Commands see no
// more of that home than any, and do not write there.
func ownDay(t *testing.T, program, debian string) *rig {
	t.Helper()
	r := day(t, program, debian)
	person, err := os.UserHomeDir()
	must(t, err)
	for _, name := range append([]string{"RUSTUP_TOOLCHAIN", "RUSTUP_AUTO_INSTALL"}, rootVariables...) {
		r.env[name] = os.Getenv(name)
	}
	r.config.Home = person
	r.config.Paths = permission.NewPaths(permission.PathsConfig{ProjectRoot: r.root, Home: person, AirHome: filepath.Join(r.home, ".air"), Path: r.env["PATH"]})
	return r
}

func (r *rig) project(name, content string) { r.put(filepath.Join("src/project", name), content) }

func TestDayOfGo(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the standard library")
	}
	r := day(t, "go", "golang-go")
	r.project("go.mod", "module example.org/m\n\ngo 1.21\n")
	r.project("m.go", "package m\n\nfunc One() int { return 1 }\n")
	r.project("m_test.go", "package m\n\nimport (\"testing\"; \"os\")\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 { t.Fatal() }\n\tif _, err := os.Stat(\"/root/.aws\"); err == nil { t.Fatal(\"credentials\") }\n}\n")
	if got := r.bash("go build ./... && go test ./..."); !strings.Contains(got, "ok") {
		t.Errorf("go test says %q", got)
	}
	if got := r.bash("go build -x ./... 2>&1"); strings.Contains(got, "compile") {
		t.Errorf("the second build compiles again: %s", got)
	}
	if got := r.bash("go test ./..."); !strings.Contains(got, "(cached)") {
		t.Errorf("the second test is not cached: %q", got)
	}
}

// The person's module cache is there, and what a command adds to it stays the project's.
func TestModuleCache(t *testing.T) {
	r := day(t, "go", "golang-go")
	t.Cleanup(func() { // what lies in a module cache is read-only
		_ = filepath.WalkDir(r.state, func(name string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(name, 0o700)
			}
			return nil
		})
	})
	cached := "go/pkg/mod/cache/download/example.org/dep/@v/v1.0.0"
	r.put(cached+".info", `{"Version":"v1.0.0"}`)
	r.put(cached+".mod", "module example.org/dep\n")
	r.put(cached+".zip", zipped(t, map[string]string{
		"example.org/dep@v1.0.0/go.mod": "module example.org/dep\n", "example.org/dep@v1.0.0/dep.go": "package dep\n\nconst X = 1\n",
	}))
	r.project("go.mod", "module example.org/m\n\ngo 1.21\n\nrequire example.org/dep v1.0.0\n")
	r.project("m.go", "package m\n\nimport \"example.org/dep\"\n\nvar X = dep.X\n")
	if got := r.bash("GOFLAGS=-mod=mod GONOSUMDB='*' GONOSUMCHECK=1 GOPROXY=off go build ./... && echo x > ~/go/pkg/mod/new && cat ~/go/pkg/mod/new"); !strings.HasSuffix(got, "x") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.home, "go/pkg/mod/new")); err == nil {
		t.Error("a command wrote to the person's module cache")
	}
	if got := r.bash("cat ~/go/pkg/mod/new"); got != "x" {
		t.Errorf("the layer is not kept: %q", got)
	}
}

func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		w, err := z.Create(name)
		must(t, err)
		_, err = io.WriteString(w, content)
		must(t, err)
	}
	must(t, z.Close())
	return b.String()
}

func TestDayOfC(t *testing.T) {
	r := day(t, "make", "make")
	needs(t, "cc", "gcc")
	r.project("main.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n")
	r.project("Makefile", "main: main.c\n\tcc -o main main.c\n")
	r.bash("make")
	if got := r.bash("make; ./main"); got != "make: 'main' is up to date.\nhello" {
		t.Errorf("got %q", got)
	}
}

func TestDayOfGit(t *testing.T) {
	r := day(t, "git", "git")
	r.put(".gitconfig", "[user]\nname = Ada\nemail = ada@example.org\n")
	git := exec.Command("git", "init", "-q", "-b", "main")
	git.Dir = r.root
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	r.put("src/project/.git/hooks/pre-commit", "#!/bin/sh\ntouch hooked\n")
	got := r.bash(`echo one > a && git add a && git commit -qm one && git switch -qc work &&
		echo two > b && git add b && git commit -qm two && git switch -q main && echo three > c && git add c && git commit -qm three &&
		git switch -q work && git rebase -q main && git log --format='%an <%ae> %s' && test ! -e hooked && git status --porcelain`)
	want := "Ada <ada@example.org> two\nAda <ada@example.org> three\nAda <ada@example.org> one"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDayOfPython(t *testing.T) {
	r := ownDay(t, "python3", "python3-venv")
	r.project("wheel.py", `import zipfile
with zipfile.ZipFile("small-1.0-py3-none-any.whl", "w") as z:
    z.writestr("small.py", "x = 42\n")
    z.writestr("small-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
    z.writestr("small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("small-1.0.dist-info/RECORD", "")
`)
	l := r.line("python3 -m venv venv")
	l.Bash = true
	if ended, out := r.run(l); ended.Code != 0 && strings.Contains(out, "ensurepip") {
		t.Skip("python3 has no venv: apt-get install python3-venv")
	}
	if got := r.bash("python3 wheel.py && venv/bin/pip install -q --no-index ./small-1.0-py3-none-any.whl 2>&1 | grep -v WARN; venv/bin/python -c 'import small; print(small.x)'"); !strings.HasSuffix(got, "42") {
		t.Errorf("got %q", got)
	}
	l = r.line("venv/bin/pip install --retries 0 --timeout 3 --index-url http://127.0.0.1:9/simple other")
	l.Bash = true
	if ended, out := r.run(l); ended.Code == 0 || !strings.Contains(out, "No matching distribution") {
		t.Errorf("an index that nobody serves: exit %d, %s", ended.Code, out)
	}
}

func TestDayOfNode(t *testing.T) {
	r := day(t, "npm", "npm")
	r.put(".npmrc", "//modules.example/:_authToken=secret\n")
	r.project("dep/package.json", `{"name": "dep", "version": "1.0.0", "main": "index.js"}`)
	r.project("dep/index.js", "module.exports = 42\n")
	r.project("package.json", `{"name": "m", "version": "1.0.0", "dependencies": {"dep": "file:dep"}}`)
	r.bash("npm install --offline --no-audit --no-fund && rm -r node_modules && npm ci --offline --no-audit --no-fund")
	if got := r.bash("node -p 'require(\"dep\")'; npm config get //modules.example/:_authToken 2>&1 | grep -c secret || true"); got != "42\n0" {
		t.Errorf("got %q", got)
	}
}

func TestDayOfRust(t *testing.T) {
	r := ownDay(t, "cargo", "cargo")
	needs(t, "cc", "gcc")
	r.project("Cargo.toml", "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
	r.project("src/main.rs", "fn main() { println!(\"hello\"); }\n")
	if got := r.bash("cargo build --offline -q 2>&1; cargo run --offline -q"); !strings.HasSuffix(got, "hello") {
		t.Errorf("got %q", got)
	}
	if got := r.bash("cargo build --offline -v 2>&1"); !strings.Contains(got, "Fresh") {
		t.Errorf("the second build is not warm: %q", got)
	}
}
