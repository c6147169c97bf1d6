package doctor

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/capabilities"
)

const (
	isPresent = capabilities.Present
	isMissing = capabilities.Missing
	isOld     = capabilities.Incompatible
	isUnknown = capabilities.Unknown
)

func TestBinary(t *testing.T) {
	dir := folder(t, map[string]string{
		"jq": "echo jq-1.7.1", "unheard": "echo 9.9", "make": "echo 'GNU Make 4.4'; exit 1", "cmake": "echo none",
		"java": `echo 'openjdk version "21.0.5" 2024-10-15' >&2`, "wasm-opt": "echo 'wasm-opt version 111 (version_111)'",
	})
	if err := os.WriteFile(filepath.Join(dir, "ninja"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	d := New(Config{Getenv: variables(map[string]string{"PATH": dir})})
	for _, c := range []struct {
		detector string
		state    capabilities.DependencyState
		detail   string
	}{
		{"binary:jq", isPresent, dir + "/jq"},
		{"binary:jq>=1.7", isPresent, dir + "/jq 1.7.1"},
		{"binary:jq>=1.7.1.0", isPresent, dir + "/jq 1.7.1"},
		{"binary:jq>=1.10", isOld, dir + "/jq is version 1.7.1, wanted is 1.10"},
		{"binary:java>=17", isPresent, dir + "/java 21.0.5"},
		{"binary:wasm-opt>=112", isOld, "version 111, wanted is 112"},
		{"binary:unheard", isPresent, dir + "/unheard"},
		{"binary:unheard>=1", isUnknown, "does not know how to ask"},
		{"binary:make>=1", isUnknown, "did not say its version"},
		{"binary:cmake>=1", isUnknown, "did not say its version"},
		{"binary:ninja", isMissing, "ninja is not on PATH"},
		{"binary:absent", isMissing, "absent is not on PATH"},
		{"binary:../jq", isUnknown, "it is no detector"},
		{"binary:/bin/sh", isUnknown, "it is no detector"},
		{"binary:-x", isUnknown, "it is no detector"},
		{"binary:$(id)", isUnknown, "it is no detector"},
		{"shell:id", isUnknown, "it is no detector"},
		{"", isUnknown, "it is no detector"},
	} {
		if got := one(t, d, c.detector); got.State != c.state || !strings.Contains(got.Detail, c.detail) {
			t.Errorf("%s: got %s, %q; want %s, %q", c.detector, got.State, got.Detail, c.state, c.detail)
		}
	}
}

// The programs of this machine answer as the table says.
func TestVersionsOfThisMachine(t *testing.T) {
	d := New(Config{Getenv: variables(map[string]string{"PATH": strings.Join(systemPath, ":")})})
	var all []capabilities.Dependency
	for _, q := range versionQuestions {
		for name := range strings.FieldsSeq(q.programs) {
			all = append(all, capabilities.Dependency{Detector: "binary:" + name + ">=0.0.1"})
		}
	}
	asked := 0
	for some := range slices.Chunk(all, 2*together) {
		for _, got := range d.Check(t.Context(), some) {
			switch got.State {
			case isPresent:
				asked++
			case isOld, isUnknown:
				t.Errorf("%s: %s, %s", got.Detector, got.State, got.Detail)
			}
		}
	}
	t.Logf("asked %d programs", asked)
	if asked < 10 {
		t.Errorf("asked only %d programs", asked)
	}
}

// What programs say, as they say it.
func TestVersionIn(t *testing.T) {
	for said, want := range map[string]string{
		"go version go1.26.8 linux/amd64\n":                    "1.26.8",
		"git version 2.39.5":                                   "2.39.5",
		"GNU gdb (Debian 13.1-3) 13.1":                         "13.1",
		"OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15":       "9.2",
		"\nThis is perl 5, version 36, subversion 0 (v5.36.0)": "5.36.0",
		"v20.19.2":              "20.19.2",
		"less 590 (GNU regular": "590",
		"1.2.3.4.5":             "1.2.3.4",
		"":                      "",
		"unreleased":            "",
	} {
		if got := versionIn(said); got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"1.10", "1.9", 1}, {"1.9", "1.10", -1}, {"2", "2.0.0", 0}, {"2.0.1", "2", 1}, {"010", "9", 1}, {"1.02", "1.2", 0},
		{"18446744073709551616", "18446744073709551615", 1}, {"0", "0.0", 0},
	} {
		if got := compare(c.a, c.b); got != c.want {
			t.Errorf("%s against %s: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestServiceVariableDisplay(t *testing.T) {
	tcp := listen(t, "tcp", "127.0.0.1:0")
	port := tcp.Addr().(*net.TCPAddr).Port
	closed := listen(t, "tcp", "127.0.0.1:0")
	free := closed.Addr().(*net.TCPAddr).Port
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	runtimeDir := t.TempDir()
	listen(t, "unix", filepath.Join(runtimeDir, "wayland-0"))
	number := os.Getpid()%50000 + 1000
	listen(t, "unix", fmt.Sprintf("@/tmp/.X11-unix/X%d", number))
	env := map[string]string{"KEY": "sk-very-secret", "EMPTY": "", "XDG_RUNTIME_DIR": runtimeDir}
	for _, c := range []struct {
		detector, display string
		state             capabilities.DependencyState
	}{
		{fmt.Sprintf("service:localhost:%d", port), "", isPresent},
		{fmt.Sprintf("service:127.0.0.1:%d", port), "", isPresent},
		{fmt.Sprintf("service:127.0.0.1:%d", free), "", isMissing},
		{"service:192.0.2.1:80", "", isUnknown},
		{"service:localhost.evil.example:80", "", isUnknown},
		{"service:localhost:0", "", isUnknown},
		{"env:KEY", "", isPresent},
		{"env:EMPTY", "", isMissing},
		{"env:ABSENT", "", isMissing},
		{"env:A=B", "", isUnknown},
		{"display:x11", "", isMissing},
		{"display:x11", fmt.Sprintf(":%d.0", number), isPresent},
		{"display:x11", fmt.Sprintf(":%d", number+1), isMissing},
		{"display:x11", "192.0.2.1:0", isUnknown},
		{"display:x11", "evil.example:0", isUnknown},
		{"display:x11", "nonsense", isUnknown},
		{"display:wayland", "", isPresent},
		{"display:quartz", "", isUnknown},
	} {
		env["DISPLAY"] = c.display
		got := one(t, New(Config{Getenv: variables(env)}), c.detector)
		if got.State != c.state || strings.Contains(got.Detail, "secret") {
			t.Errorf("%s with display %q: got %s, %q; want %s", c.detector, c.display, got.State, got.Detail, c.state)
		}
	}
	env["XDG_RUNTIME_DIR"] = t.TempDir()
	if got := one(t, New(Config{Getenv: variables(env)}), "display:wayland"); got.State != isMissing {
		t.Errorf("a display without a compositor is %s", got.State)
	}
	if port >= 6000 && port-6000 <= 65535-6000 {
		env["DISPLAY"] = fmt.Sprintf("localhost:%d.0", port-6000)
		if got := one(t, New(Config{Getenv: variables(env)}), "display:x11"); got.State != isPresent {
			t.Errorf("a forwarded display is %s: %s", got.State, got.Detail)
		}
	}
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // a test may have closed it
	return l
}

func TestDebianPackage(t *testing.T) {
	needs(t, "dpkg-query", "dpkg")
	d := New(Config{})
	for detector, want := range map[string]capabilities.DependencyState{
		"apt:dpkg": isPresent, "apt:no-such-package-here": isMissing, "apt:d*": isUnknown, "apt:-W": isUnknown, "apt:dpkg-": isUnknown,
	} {
		if got := one(t, d, detector); got.State != want {
			t.Errorf("%s: got %s, %q; want %s", detector, got.State, got.Detail, want)
		}
	}
	bare := New(Config{Getenv: variables(map[string]string{"PATH": "/nonexistent"})})
	if got := one(t, bare, "apt:dpkg"); got.State != isPresent {
		t.Errorf("without a PATH it is %s: %s", got.State, got.Detail)
	}
}

// Whatever a program does, looking ends with the caller's patience, and so does the program.
func TestProgramsEnd(t *testing.T) {
	note := filepath.Join(t.TempDir(), "pid")
	dir := folder(t, map[string]string{
		"jq":    "sleep 300 & echo $! > " + note + "; sleep 300",
		"make":  "while :; do echo 1.2 1.2 1.2 1.2 1.2 1.2; done",
		"tree":  "cat > /dev/null; read line < /dev/tty && echo 1.0; echo 2.0",
		"cmake": "sleep 300 & echo $! > " + note + "2; echo 3.0",
	})
	d := New(Config{Getenv: variables(map[string]string{"PATH": dir})})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	begun := time.Now()
	got := d.Check(ctx, []capabilities.Dependency{
		{Detector: "binary:jq>=1"}, {Detector: "binary:make>=1"}, {Detector: "binary:tree>=1"}, {Detector: "binary:cmake>=1"},
	})
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
	if got[0].State != isUnknown || got[1].State != isUnknown {
		t.Errorf("one that hangs and one that talks for ever: %+v", got[:2])
	}
	if !strings.HasSuffix(got[2].Detail, "tree 2.0") {
		t.Errorf("one that reads the input and the terminal: %+v", got[2])
	}
	for _, name := range []string{note, note + "2"} {
		if pid, err := os.ReadFile(name); err != nil || alive(string(pid)) {
			t.Errorf("what it started goes on: %s, %v", pid, err)
		}
	}
}

// alive reports whether a process goes on for a second.
func alive(pid string) bool {
	for range 50 {
		status, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/stat")
		if err != nil || strings.Contains(string(status), ") Z ") {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// A program that is asked for its version sees nothing of the person's.
func TestProgramsSeeNothing(t *testing.T) {
	note := filepath.Join(t.TempDir(), "seen")
	dir := folder(t, map[string]string{"jq": "{ env; pwd; } > " + note + "; echo 1.0"})
	t.Setenv("SECRET", "sk-inherited")
	d := New(Config{Getenv: variables(map[string]string{"PATH": dir, "SECRET": "sk-given", "HOME": "/home/someone"})})
	if got := one(t, d, "binary:jq>=1"); got.State != isPresent {
		t.Fatalf("got %+v", got)
	}
	seen, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(seen), "SECRET") || strings.Contains(string(seen), "someone") || !strings.HasSuffix(string(seen), "\n/\n") {
		t.Errorf("it saw\n%s", seen)
	}
}

// Where go install writes comes first, before its other folders and the default one.
func TestGoBinsInOrder(t *testing.T) {
	dir := folder(t, map[string]string{"go": "echo /z/own; echo /b/path:/a/path:relative"})
	d := New(Config{Getenv: variables(map[string]string{"PATH": dir, "HOME": "/home/x"})})
	got := d.look(t.Context()).goBins()
	if want := []string{"/z/own", "/b/path/bin", "/a/path/bin", "/home/x/go/bin"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
