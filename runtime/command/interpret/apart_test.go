package interpret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/command"
)

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git: apt-get install git")
	}
}

// repeats stands for git: it says how it was called and what it read. It fails where it is
// given the word fail, and with slow ends with its context alone.
func repeats(ctx context.Context, a Apart) (int, error) {
	if slices.Contains(a.Argv, "slow") {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	read, err := io.ReadAll(a.Stdin)
	if err != nil {
		return 0, err
	}
	words := strings.Join(a.Argv[slices.Index(a.Argv, "git")+1:], " ")
	if len(a.Assign)+len(a.Unset) > 0 {
		words += fmt.Sprint(a.Assign, a.Unset)
	}
	fmt.Fprintf(a.Stdout, "<%s%s>", words, read)
	if slices.Contains(a.Argv, "fail") {
		fmt.Fprint(a.Stderr, "failed;")
		return 3, nil
	}
	return 0, nil
}

// TestApart: a program that the host runs reads, writes and ends as one of the shell's.
func TestApart(t *testing.T) {
	needGit(t)
	for text, want := range map[string]string{
		"git commit -m x":                                               "<commit -m x>",
		"cat b.txt | git commit -F -":                                   "<commit -F -x y\n>",
		"echo m | git commit -F - | tr a-z A-Z":                         "<COMMIT -F -M\n>",
		"git commit -F - <<< text; git commit --file=- << E\nmore\nE\n": "<commit -F -text\n><commit --file=-more\n>",
		"X=$(git add a); echo \"[$X]\"":                                 "[<add a>]\n",
		"X=$(git add fail 2>&1); echo \"[$X]$?\"":                       "[<add fail>failed;]3\n",
		"X=$(git add fail 2>/dev/null); echo \"[$X]\"":                  "[<add fail>]\n",
		"while read -r l; do git add \"$l\"; done < list":               "<add b c><add a b>",
		"git add fail || echo or; git add a && echo and":                "<add fail>or\n<add a>and\n",
		"git add a > out; echo; cat out":                                "\n<add a>",
		"git add a | cat; git add b & wait; echo done":                  "<add a><add b>done\n",
		"timeout 5 git add a; env git add b":                            "<add a><add b>",
		"NAME=1 git add a; export GIVEN=2; git add b":                   "<add a[NAME=1] []><add b[GIVEN=2] []>",
		"unset GIVEN; git add a":                                        "<add a[] [GIVEN]>",
		"git --version | cut -c 1-3":                                    "git\n",
		"(git add a; git add fail); echo $?":                            "<add a><add fail>3\n",
		"for f in 1 2 3; do git add $f & done; wait; echo":              "",
	} {
		o := hosted(t, Host{Text: text, Place: place(t), Decide: allow, Apart: repeats})
		if o.err != nil || o.code != 0 && !strings.HasPrefix(text, "(") || want != "" && o.stdout != want {
			t.Errorf("%s\nends with %d, %v: %q, want %q; %s", text, o.code, o.err, o.stdout, want, o.stderr)
		}
		if want == "" && (strings.Count(o.stdout, "<add") != 3 || !strings.HasSuffix(o.stdout, "\n")) {
			t.Errorf("%s: %q", text, o.stdout)
		}
	}
}

// TestApartFolder: it runs in the folder that the shell is in.
func TestApartFolder(t *testing.T) {
	needGit(t)
	at, dir := place(t), ""
	hosted(t, Host{Text: "cd d && git add e", Place: at, Decide: allow, Apart: func(_ context.Context, a Apart) (int, error) {
		dir = a.Dir
		return 0, nil
	}})
	if dir != at.Dir+"/d" {
		t.Errorf("it runs in %q", dir)
	}
}

// TestApartEnds: an error of the host ends the line and is what it ends with; that the line is
// over ends what still runs, and is no error.
func TestApartEnds(t *testing.T) {
	needGit(t)
	broken := errors.New("no sandbox")
	o := hosted(t, Host{Text: "git add a; echo on", Place: place(t), Decide: allow, Apart: func(context.Context, Apart) (int, error) { return 0, broken }})
	if !errors.Is(o.err, broken) || o.code != exitRefused || o.stdout != "" || !strings.Contains(o.stderr, "no sandbox") {
		t.Errorf("%+v", o)
	}
	began := time.Now()
	o = hosted(t, Host{Text: "git add slow & sleep 0.2; echo on", Place: place(t), Decide: allow, Apart: repeats})
	if o.err != nil || o.code != 0 || o.stdout != "on\n" {
		t.Errorf("%+v", o)
	}
	refused := errors.New("it made a hook")
	o = hosted(t, Host{Text: "git add slow & sleep 0.2", Place: place(t), Decide: allow, Apart: func(ctx context.Context, _ Apart) (int, error) {
		<-ctx.Done()
		return 0, errors.Join(ctx.Err(), fault.New(fault.PermissionDenied, "protected_created", "%w", refused))
	}})
	if !errors.Is(o.err, refused) || time.Since(began) > 10*time.Second {
		t.Errorf("%+v after %v", o, time.Since(began))
	}
}

// TestApartMany: how many run at once is bounded, how many follow each other is not, and none
// leaves a descriptor behind.
func TestApartMany(t *testing.T) {
	needGit(t)
	text := "X=$(git add warm); ls /proc/$$/fd | wc -l; for i in $(seq 100); do X=$(git add $i 2>&1); git commit -F - <<< x > /dev/null; done; ls /proc/$$/fd | wc -l"
	before := descriptors(t)
	o := hosted(t, Host{Text: text, Place: place(t), Decide: allow, Apart: repeats})
	var first, last int // which vary by what the two pipes have open just then
	if _, err := fmt.Sscan(o.stdout, &first, &last); err != nil || o.err != nil || last > first+20 {
		t.Errorf("the shell's descriptors are %d and then %d: %+v", first, last, o)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors of the host are left", after-before)
	}
	o = hosted(t, Host{Text: "for i in $(seq 60); do git add slow & done; wait", Place: place(t), Decide: allow, Apart: repeats})
	if !fault.Is(o.err, fault.ResourceExhausted) || o.code != exitRefused {
		t.Errorf("60 at once: %+v", o)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(all)
}

// TestApartHostile: whatever comes in place of the descriptors, the conversation ends and
// nothing hangs.
func TestApartHostile(t *testing.T) {
	read, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	fill(t, full)
	for name, c := range map[string]struct {
		send func(fd int) error
		runs bool
	}{
		"none":   {func(fd int) error { return syscall.Sendmsg(fd, []byte{0}, nil, nil, 0) }, false},
		"nobody": {func(int) error { return nil }, false},
		"three":  {func(fd int) error { return syscall.Sendmsg(fd, []byte{0}, syscall.UnixRights(0, 1, 2), nil, 0) }, false},
		"six": {func(fd int) error {
			return syscall.Sendmsg(fd, []byte{0}, syscall.UnixRights(0, 1, 2, 0, 1, 2), nil, 0)
		}, true},
		"no sock": {func(fd int) error {
			return syscall.Sendmsg(fd, []byte{0}, syscall.UnixRights(int(full.Fd()), 0, 1, 2), nil, 0)
		}, true},
	} {
		before := descriptors(t)
		err, ran := hostile(t, c.send)
		if ran != c.runs || (err == nil) != c.runs {
			t.Errorf("%s: %v, it ran: %v", name, err, ran)
		}
		if after := descriptors(t); after > before {
			t.Errorf("%s: %d descriptors are left", name, after-before)
		}
	}
}

// fill writes to a pipe that nobody reads until nothing more goes in.
func fill(t *testing.T, full *os.File) {
	t.Helper()
	fd := int(full.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for err := error(nil); err == nil; _, err = syscall.Write(fd, make([]byte, 4096)) {
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
}

// hostile holds a conversation in which something else than descriptors is sent, and returns
// what the host says of it.
func hostile(t *testing.T, send4 func(fd int) error) (err error, ran bool) {
	t.Helper()
	conn, theirs := pair(t)
	served := make(chan error, 1)
	var mu sync.Mutex
	h := Host{Text: "git add a", Place: command.Place{Dir: "/p", Root: "/p", Home: "/h"}, Decide: allow, Apart: func(context.Context, Apart) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		ran = true
		return 0, nil
	}}
	go func(conn net.Conn) { served <- h.Serve(t.Context(), conn) }(conn)
	var first start
	var a answer
	if err := errors.Join(receive(theirs, &first, maxStart), send(theirs, question{Dir: []byte("/p"), Argv: bytesOf([]string{"git", "add", "a"})}, maxQuestion), receive(theirs, &a, maxAnswer)); err != nil || !a.Apart {
		t.Fatalf("%+v, %v", a, err)
	}
	if err := send4(int(theirs.Fd())); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	select {
	case err = <-served:
	case <-time.After(5 * time.Second):
		t.Fatal("it hangs")
	}
	mu.Lock()
	defer mu.Unlock()
	return err, ran
}
