package doctor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const asNobody = "AIR_DOCTOR_TEST_AS_NOBODY"

// TestAsNobody looks again as a user without a home and without rights.
func TestAsNobody(t *testing.T) {
	if os.Getenv(asNobody) != "" {
		lookAsNobody(t)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	needs(t, "dpkg-query", "dpkg")
	dir, err := os.MkdirTemp("", "air-doctor-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	mode(t, dir, 0o755)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "doctor.test")
	if err := os.WriteFile(copied, self, 0o755); err != nil {
		t.Fatal(err)
	}
	script(t, filepath.Join(dir, "private"), "echo 1.0")
	mode(t, filepath.Join(dir, "private"), 0o700)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, copied, "-test.run=^TestAsNobody$", "-test.v")
	c.Dir = "/"
	c.Env = []string{asNobody + "=" + dir, "PATH=" + dir + ":" + strings.Join(systemPath, ":"), "HOME=/nonexistent"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

func lookAsNobody(t *testing.T) {
	d := New(Config{})
	for detector, want := range map[string]string{
		"binary:sh": "present", "binary:private": "missing", "binary:absent": "missing",
		"apt:dpkg": "present", "npm:absent": "missing", "go:modules.example/absent": "missing", "service:localhost:1": "missing",
	} {
		if got := one(t, d, detector); string(got.State) != want {
			t.Errorf("%s: got %s, %s; want %s", detector, got.State, got.Detail, want)
		}
	}
	plan := NewPlan([]Need{{Dependency: wanted("apt:xz").Dependency}}).ForPerson(os.Geteuid() == 0)
	if len(plan.Steps) != 0 || len(plan.Manual) != 1 || !strings.HasPrefix(plan.Manual[0].What, "sudo apt-get install ") {
		t.Errorf("got %+v", plan)
	}
	done, err := d.Install(t.Context(), NewPlan([]Need{{Dependency: wanted("apt:xz").Dependency}}), os.Stderr)
	if err != nil || len(done) != 1 || !strings.Contains(done[0].Error, "sudo apt-get install") {
		t.Errorf("got %+v, %v", done, err)
	}
}
