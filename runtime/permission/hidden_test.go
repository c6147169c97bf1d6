package permission

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
)

type typed struct {
	value string
	err   error
}

// secretly asks in the background, and waits until the prompt is shown.
func (s *screen) secretly(ctx context.Context) <-chan typed {
	s.Helper()
	done := make(chan typed, 1)
	go func() {
		value, err := s.Secret(ctx, "value of \x1btoken")
		done <- typed{value, err}
	}()
	s.await(`value of \u{1b}token (not shown): `, 1)
	return done
}

func (s *screen) got(done <-chan typed) typed {
	s.Helper()
	select {
	case got := <-done:
		return got
	case <-time.After(5 * time.Second):
		s.Fatalf("no answer after:\n%s", s.shown())
		return typed{}
	}
}

func (s *screen) echoes() bool {
	s.Helper()
	state, err := unix.IoctlGetTermios(s.fd, getTermios)
	if err != nil {
		s.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

func TestSecret(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"hidden value\n", "hidden value"},
		{" \n", " "},
		{"\n", ""},
		{"\x04", ""},
		{"half\x04\x04", "half"},
		{strings.Repeat("x", longestLine-1) + "\n", strings.Repeat("x", longestLine-1)},
	} {
		s := newScreen(t)
		s.types("typed before\n")
		done := s.secretly(t.Context())
		s.types(c.typed)
		if got := s.got(done); got.err != nil || got.value != c.want {
			t.Errorf("%.20q: got %d bytes %.20q, %v", c.typed, len(got.value), got.value, got.err)
		}
		if len(c.want) > 1 && strings.Contains(s.shown(), c.want) {
			t.Errorf("%.20q is shown:\n%.200s", c.typed, s.shown())
		}
		if !s.echoes() {
			t.Error("the terminal is left without its echo")
		}
	}
}

func TestSecretTooLong(t *testing.T) {
	s := newScreen(t)
	done := s.secretly(t.Context())
	s.types(strings.Repeat("x", longestLine) + "\n")
	if got := s.got(done); !fault.Is(got.err, fault.InvalidInput) || got.value != "" {
		t.Errorf("got %d bytes, %v", len(got.value), got.err)
	}
}

func TestSecretInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	s := newScreen(t)
	done := s.secretly(ctx)
	why := errors.New("interrupt")
	cancel(why)
	if got := s.got(done); !errors.Is(got.err, why) || got.value != "" {
		t.Errorf("%+v", got)
	}
	if !s.echoes() {
		t.Error("the terminal is left without its echo")
	}
}
