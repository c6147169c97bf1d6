package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Programs of the project, of relative folders and of folders that everybody writes are
// neither found nor run.
func TestOnlySoundPrograms(t *testing.T) {
	project := t.TempDir()
	mark := filepath.Join(t.TempDir(), "ran")
	evil := "touch " + mark + "; echo 9.9"
	script(t, filepath.Join(project, "bin", "jq"), evil)
	script(t, filepath.Join(project, "bin", "only"), evil)
	open := folder(t, map[string]string{"jq": evil})
	mode(t, open, 0o777)
	sticky := folder(t, map[string]string{"jq": evil})
	mode(t, sticky, 0o777|os.ModeSticky)
	below := folder(t, nil)
	script(t, filepath.Join(below, "a", "jq"), evil)
	mode(t, below, 0o777)
	writable := folder(t, map[string]string{"jq": evil})
	mode(t, filepath.Join(writable, "jq"), 0o777)
	linked := folder(t, nil)
	link(t, filepath.Join(project, "bin", "jq"), filepath.Join(linked, "jq"))
	folders := folder(t, nil)
	link(t, filepath.Join(project, "bin"), filepath.Join(folders, "bin"))
	good := folder(t, map[string]string{"jq": "echo 1.6"})
	t.Chdir(project)

	bad := []string{filepath.Join(project, "bin"), "bin", ".", "", open, sticky, filepath.Join(below, "a"), writable, linked, filepath.Join(folders, "bin"), "/nonexistent", mark}
	for _, dir := range bad {
		d := New(Config{Root: project, Getenv: variables(map[string]string{"PATH": dir})})
		if got := one(t, d, "binary:jq>=1"); got.State != isMissing {
			t.Errorf("in %q: %+v", dir, got)
		}
	}
	d := New(Config{Root: project, Getenv: variables(map[string]string{"PATH": strings.Join(append(bad, good), ":")})})
	if got := one(t, d, "binary:jq>=1"); got.State != isPresent || got.Detail != good+"/jq 1.6" {
		t.Errorf("behind them: %+v", got)
	}
	if got := one(t, d, "binary:only"); got.State != isMissing || !strings.Contains(got.Detail, "not counted is "+project+"/bin/only") {
		t.Errorf("only in the project: %+v", got)
	}
	if exists(mark) {
		t.Error("one of them was run")
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}
