package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// endsWithin runs a launch that must not outlast its limit.
func (r *rig) endsWithin(ctx context.Context, limit time.Duration, l runtime.Launch) (ended runtime.Ended, err error) {
	r.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended, err = r.Launch(ctx, l)
	}()
	select {
	case <-done:
	case <-time.After(limit):
		r.Fatalf("%q still runs after %v", l.Text, limit)
	}
	return ended, err
}

// stuck is a reader that never returns.
type stuck chan struct{}

func (s stuck) Read([]byte) (int, error) { <-s; return 0, io.EOF }

// TestLaunchEnds: a launch ends with its tree and with its context, whatever else waits.
func TestLaunchEnds(t *testing.T) {
	needsSandbox(t)
	const limit = 20 * time.Second
	r := newRig(t, nil)
	never := make(stuck)
	defer close(never)
	asked := func(ctx context.Context, _ []permission.Effect) error { <-ctx.Done(); return context.Cause(ctx) }

	t.Run("a reader that says nothing", func(t *testing.T) {
		l := r.line("true; true")
		l.Stdin = never
		if ended, err := r.endsWithin(t.Context(), limit, l); err != nil || ended.Code != 0 {
			t.Errorf("%+v, %v", ended, err)
		}
	})
	t.Run("the interpreter is killed while somebody is asked", func(t *testing.T) {
		l := r.line("/bin/true; /bin/true")
		pids := make(chan int, 1)
		l.Started = func(pid int) { pids <- pid }
		l.Decide = func(ctx context.Context, e []permission.Effect) error {
			for _, child := range childrenByParent()[<-pids] {
				must(t, unix.Kill(child, unix.SIGKILL))
			}
			return asked(ctx, e)
		}
		if ended, err := r.endsWithin(t.Context(), limit, l); err != nil || ended.Signal != 9 {
			t.Errorf("%+v, %v", ended, err)
		}
	})
	t.Run("its part in the background is being decided about", func(t *testing.T) {
		l := r.line("{ sleep 0.1; /bin/false; } & sleep 0.5; exit 3")
		l.Decide = func(ctx context.Context, e []permission.Effect) error {
			if strings.Contains(e[0].Target, "false") {
				return asked(ctx, e)
			}
			return nil
		}
		if _, err := r.endsWithin(t.Context(), limit, l); err != nil {
			t.Error(err)
		}
	})
	t.Run("a child holds what the interpreter had", func(t *testing.T) {
		l := r.line("setsid sleep 1000 < /dev/null & disown; echo x; exit 0")
		l.Bash = true
		if ended, err := r.endsWithin(t.Context(), limit, l); err != nil || ended.Code != 0 {
			t.Errorf("%+v, %v", ended, err)
		}
	})
	t.Run("the context ends", func(t *testing.T) {
		for _, text := range []string{"sleep 1000", "trap '' TERM INT; sleep 1000", "sleep 1000 | cat; true", "/bin/true; /bin/true"} {
			for _, after := range []time.Duration{0, 3 * time.Millisecond, 300 * time.Millisecond} {
				ctx, stop := context.WithTimeout(t.Context(), after)
				l := r.line(text)
				l.Bash = strings.HasPrefix(text, "trap")
				if !l.Bash && after > 100*time.Millisecond {
					l.Decide = asked
				}
				var out bytes.Buffer
				l.Stdin, l.Stdout, l.Stderr = never, &out, &out
				if _, err := r.endsWithin(ctx, limit, l); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%q: %v", text, err)
				}
				stop()
			}
		}
	})
}

// A project that holds much is not looked through for a call that has ended.
func TestLookingEndsWithTheContext(t *testing.T) {
	r := newRig(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s := &survey{judge: projectJudge(r.config.Paths, &decided{}), root: r.root}
	defer s.close()
	if err := s.look(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestPermitted: what the rules open for reading can be read inside, and stays read-only.
func TestPermitted(t *testing.T) {
	needsSandbox(t)
	r := newRig(t, nil)
	r.put("src/project/.env", "a secret")
	r.put("src/project/testdata/server.key", "a key")
	asked := map[string]int{}
	l := r.line("cat testdata/server.key .env; echo x > testdata/server.key; true")
	l.Bash = true
	l.Permits = func(e permission.Effect) bool {
		asked[string(e.Kind)+" "+e.Target]++
		return e.Kind == permission.Read && strings.HasSuffix(e.Target, "testdata/server.key")
	}
	if _, out := r.run(l); !strings.Contains(out, "a key") || strings.Contains(out, "a secret") || !strings.Contains(out, "Read-only") {
		t.Error(out)
	}
	for effect, times := range asked {
		if times != 1 {
			t.Errorf("%s was asked about %d times", effect, times)
		}
	}
}

// TestOwners: a program of a built-in tool finds the owners of files that were noted outside,
// and a command line does not find that it is root.
func TestOwners(t *testing.T) {
	needsSandbox(t)
	r := newRig(t, nil)
	r.put("src/project/a", "")
	_, got := r.run(runtime.Launch{ID: "x", Argv: []string{"stat", "-c", "%u %U", "a"}, Dir: r.root})
	if want := fmt.Sprintf("%d %s", os.Getuid(), sandbox.CommandUser); got != want {
		t.Errorf("a program finds %q, not %q", got, want)
	}
	if got := r.bash("id -u; id -un"); strings.HasPrefix(got, "0\n") || !strings.HasSuffix(got, "\n"+sandbox.CommandUser) {
		t.Errorf("a command line is %q", got)
	}
}
