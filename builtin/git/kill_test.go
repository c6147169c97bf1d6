package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/rig"
)

const (
	killDir = "AIR_TEST_GIT_KILL_DIR"
	killID  = "AIR_TEST_GIT_KILL_ID"
)

// TestKilledMerger is what TestKilled kills.
func TestKilledMerger(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("for TestKilled")
	}
	r := rig.New(t, rig.Options{Dir: dir})
	r.Call("git.merge_workspace", object{"workspace_id": os.Getenv(killID), "strategy": "fast_forward"})
}

// TestKilled: air killed at any moment of a merge leaves the branch at the old commit or at
// the new one, and a repository that git takes for whole and brings back to either. git
// itself writes files in place: one may be missing, or cut short, and no more than that.
func TestKilled(t *testing.T) {
	p := newProject(t, rig.Options{})
	for i := range 300 {
		p.Put("f"+string(rune('a'+i%26))+"/"+strings.Repeat("x", 1+i/26)+".txt", "old\n")
	}
	old := p.commit(p.Root, "one")
	w := p.workspace("w")
	for i := range 300 {
		p.Put(w.Path+"/f"+string(rune('a'+i%26))+"/"+strings.Repeat("x", 1+i/26)+".txt", "new\n")
	}
	next := p.commit(w.Path, "work")
	rounds := 8
	if testing.Short() {
		rounds = 3
	}
	var took time.Duration
	for i := -1; i < rounds; i++ {
		c := exec.Command(os.Args[0], "-test.run=^TestKilledMerger$")
		c.Env = append(os.Environ(), killDir+"="+filepath.Dir(p.Root), killID+"="+w.ID)
		start := time.Now()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if i >= 0 { // late rounds, where files change
			time.Sleep(took/2 + took*time.Duration(i)/time.Duration(2*rounds))
			_ = c.Process.Kill()
		}
		_ = c.Wait()
		if i < 0 {
			took = time.Since(start)
		}
		time.Sleep(300 * time.Millisecond) // the sandbox ends with its parent
		head := strings.TrimSpace(p.git("rev-parse", "HEAD"))
		if head != old && head != next || i < 0 && head != next {
			t.Fatalf("HEAD is %s", head)
		}
		for n := range 300 {
			text, _ := os.ReadFile(filepath.Join(p.Root, "f"+string(rune('a'+n%26)), strings.Repeat("x", 1+n/26)+".txt"))
			if !strings.HasPrefix("old\n", string(text)) && !strings.HasPrefix("new\n", string(text)) {
				t.Errorf("%q", text)
			}
		}
		p.git("fsck", "--no-dangling")
		_ = os.Remove(filepath.Join(p.Root, ".git/index.lock"))
		p.git("reset", "-q", "--hard", old)
		if s := p.status("."); !s.Clean {
			t.Errorf("%+v", s)
		}
	}
}
