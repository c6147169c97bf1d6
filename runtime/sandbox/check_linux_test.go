package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckCommand(t *testing.T) {
	tier := CommandTier(t.Context())
	t.Logf("%+v", tier)
	if !tier.Held {
		t.Fatal(tier.Reason)
	}
	rows := checkCommand(t.Context())
	want := len(commandEscapes()) + 1
	if os.Getuid() == 0 {
		want += len(commandEscapes())
	}
	if len(rows) != want {
		t.Errorf("%d rows, not %d", len(rows), want)
	}
	for _, r := range rows {
		t.Logf("%-45s %v %s", r.Attempt, r.Refused, r.How)
		if !r.Refused {
			t.Errorf("%s: %s", r.Attempt, r.How)
		}
	}
}

func TestCheck(t *testing.T) {
	r := Check(t.Context())
	if !r.Worker.Held || !r.Command.Held || len(r.Escaped()) > 0 {
		t.Errorf("workers: %s; commands: %s; escaped: %v", r.Worker.Reason, r.Command.Reason, r.Escaped())
	}
	profiles := map[string]int{}
	for _, row := range r.Rows {
		profiles[row.Profile]++
	}
	if profiles["worker"] == 0 || profiles["command"] == 0 || r.Kernel == "" {
		t.Errorf("on kernel %q: %v", r.Kernel, profiles)
	}
}

// Where the temporary folder lies is no fact about the sandbox.
func TestCheckWithOddFolders(t *testing.T) {
	dir := project(t)
	long := filepath.Join(dir, strings.Repeat("long", 40))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir)
	t.Setenv("TMPDIR", long)
	for _, r := range checkCommand(t.Context()) {
		if !r.Refused {
			t.Errorf("%s: %s", r.Attempt, r.How)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	if rows := checkCommand(t.Context()); len(rows) != 1 || !strings.HasPrefix(rows[0].How, "not tried: ") {
		t.Errorf("%+v", rows)
	}
}
