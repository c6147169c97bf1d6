// Package conformance runs the distribution spec's own program against AIR's registry. It
// is a module of its own, so that what that program needs is no dependency of AIR.
package conformance

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const program = "github.com/opencontainers/distribution-spec/conformance"

// What the spec leaves open and the registry has is asked for as well; what it does not
// have is said here.
var settings = []string{
	"OCI_VERSION=1.1",
	"OCI_TLS=disabled",
	"OCI_API_BLOBS_UPLOAD_CANCEL=true",
	"OCI_API_BLOBS_DIGEST_HEADER=true",
	"OCI_API_MANIFESTS_DIGEST_HEADER=true",
	"OCI_DATA_SHA512=false", // AIR knows sha256 only
}

func TestConformance(t *testing.T) {
	air, conformance := build(t, "../..", "./cmd/air"), build(t, ".", program)
	for _, c := range []struct {
		name  string
		args  []string
		token string
	}{
		{name: "in a temporary folder"},
		{name: "in a folder", args: []string{"--dir", t.TempDir()}},
		{name: "with a token", args: []string{"--dir", t.TempDir()}, token: "s3cret"},
		{name: "private", args: []string{"--private"}, token: "s3cret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), conformance)
			cmd.Env = append(os.Environ(), settings...)
			cmd.Env = append(cmd.Env, "OCI_REGISTRY="+serve(t, air, c.token, c.args...), "OCI_RESULTS_DIR="+t.TempDir())
			if c.token != "" {
				cmd.Env = append(cmd.Env, "OCI_USERNAME=air", "OCI_PASSWORD="+c.token)
			}
			out, err := cmd.CombinedOutput()
			// The program ends with 0 also where it could not begin.
			if err != nil || !bytes.Contains(out, []byte("OCI Conformance Test: Pass")) {
				t.Errorf("%v\n%s", err, failures(out))
			}
		})
	}
}

// failures leaves out what passed.
func failures(out []byte) string {
	var kept []string
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "Pass") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func build(t *testing.T, dir, what string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(what))
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", path, what)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", what, err, out)
	}
	return path
}

// serve runs a registry until the test ends and returns its address.
func serve(t *testing.T, air, token string, args ...string) string {
	t.Helper()
	// The test's context ends before its clean-ups run; this one ends in them.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), air, append([]string{"registry", "serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "AIR_HOME="+t.TempDir(), "AIR_REGISTRY_TOKEN="+token)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the registry does not say its address: %v", err)
	}
	return strings.TrimSpace(line)
}
