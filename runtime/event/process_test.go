package event

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// Four processes append to one new store at once.
func TestProcessesAppendAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all []*exec.Cmd
	for range 4 {
		c := process(t, "append50", dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, dir, Options{})
	if err := whole(s, 200); err != nil {
		t.Error(err)
	}
	list, err := s.List(ctx, Query{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	if len(ids) != 200 || !slices.IsSorted(ids) || len(slices.Compact(ids)) != 200 {
		t.Errorf("%d ids, which are not unique and in order", len(ids))
	}
}

// A process that is killed while it appends loses no event that it was told is stored,
// and leaves a whole chain.
func TestKilledWhileAppending(t *testing.T) {
	dir := t.TempDir()
	told := 0
	for range 20 {
		out := counter{begun: make(chan bool)}
		c := process(t, "append for ever", dir)
		c.Stdout = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-out.begun:
		case <-time.After(20 * time.Second):
			t.Fatal("the process does not come to append anything")
		}
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Fatal(err)
		}
		told = killed(t, dir, told+out.n)
	}
}

// counter counts bytes and says when the first came.
type counter struct {
	n     int
	begun chan bool
}

func (c *counter) Write(p []byte) (int, error) {
	if c.n == 0 {
		close(c.begun)
	}
	c.n += len(p)
	return len(p), nil
}

// killed returns how many events are stored now.
func killed(t *testing.T, dir string, told int) int {
	t.Helper()
	s := open(t, dir, Options{})
	defer s.Close()
	r, err := s.Verify(ctx)
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("%q %v", r.Problems, err)
	}
	if r.Events < told || r.Events > told+1 {
		t.Fatalf("%d events are stored, and %d were told of", r.Events, told)
	}
	return r.Events
}

// Case G25: a disk that is full, here a limit to the size of files, which every
// system has, makes an append fail as a whole.
func TestG25FullDisk(t *testing.T) {
	if out, err := process(t, "append until full", t.TempDir()).Output(); err != nil {
		t.Errorf("%s%v", out, err)
	}
}
