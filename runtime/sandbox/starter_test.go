package sandbox

import (
	"errors"
	"os/exec"
	"testing"
)

func TestStarter(t *testing.T) {
	var s Starter
	for range 3 {
		cmd := exec.CommandContext(t.Context(), "true")
		if err := s.Start(cmd); err != nil {
			t.Skip(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		s.Ended()
	}
	if err := s.Start(exec.CommandContext(t.Context(), "no-such-program-anywhere")); err == nil {
		t.Error("nothing was started")
	}
	s.Close()
	s.Close()
	if err := s.Start(exec.CommandContext(t.Context(), "true")); !errors.Is(err, ErrStarterClosed) {
		t.Errorf("after Close: %v", err)
	}
	new(Starter).Close() // which never started a thread
}
