package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/sys/unix"
)

// patience is for what takes milliseconds on a machine with nothing else to do.
const patience = 60 * time.Second

// result is what came of a command.
type result struct {
	Exit
	out string
	err error
	p   *Process
}

// run runs a command to its end, with what it writes in one text.
func run(t *testing.T, c Command) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out bytes.Buffer
	if c.Stdout == nil {
		c.Stdout, c.Stderr = &out, &out
	}
	c.Mounts = append(System(), c.Mounts...)
	p, err := c.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait()
	if ctx.Err() != nil {
		t.Fatalf("it took too long; until then: %s", out.String())
	}
	return result{exit, strings.TrimSpace(out.String()), err, p}
}

func script(text string, mounts ...Mount) Command {
	return Command{Argv: []string{"sh", "-c", text}, Mounts: mounts}
}

func inside(arguments ...string) Command {
	return Command{Self: append([]string{insideName}, arguments...)}
}

// project makes a folder of the host with files in it, by name.
func project(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("text of "+f+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (r result) want(t *testing.T, code int, out string) {
	t.Helper()
	if r.Code != code || r.out != out || r.err != nil {
		t.Errorf("got code %d, error %v, output:\n%s\nwant code %d, output:\n%s", r.Code, r.err, r.out, code, out)
	}
}

// TestCommandAsNobody runs the tests of commands again as a user without any right.
func TestCommandAsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become somebody else")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "air-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^Test(Command|Check)", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{"TMPDIR=" + dir, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("--- PASS: TestCommandP1")) {
		t.Errorf("the tests did not run:\n%s", out)
	}
}

func TestCommandExit(t *testing.T) {
	run(t, script("echo out; echo err >&2; exit 7")).want(t, 7, "out\nerr")
	if r := run(t, script("kill -15 $$")); r.Code != 128+15 || r.Signal != 15 || r.Killed {
		t.Errorf("%+v", r.Exit)
	}
	run(t, Command{Argv: []string{"cat"}, Stdin: strings.NewReader("read\n")}).want(t, 0, "read")
	c := script("pwd; echo $X; env | wc -l")
	c.Dir, c.Env = "/tmp", []string{"PATH=/usr/bin:/bin", "X=y"}
	run(t, c).want(t, 0, "/tmp\ny\n3") // and PWD, which the shell sets
	r := run(t, script("id -un; echo ~; pwd; touch ~/x && echo made"))
	r.want(t, 0, "air\n/home/air\n/home/air\nmade")
	first, err := r.p.Wait()
	if again, errAgain := r.p.Wait(); first != again || err != errAgain {
		t.Errorf("Wait answers %+v, then %+v", first, again)
	}
}

func TestCommandThatCannotStart(t *testing.T) {
	_, err := Command{Argv: []string{"no-such-program"}, Mounts: System()}.Start(t.Context())
	if !errors.Is(err, exec.ErrNotFound) || isUnavailable(err) {
		t.Errorf("a program that is not there: %v", err)
	}
	_, err = Command{Argv: []string{"/etc/hosts"}, Mounts: System()}.Start(t.Context())
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.ENOEXEC) {
		t.Errorf("a program that is none: %v", err)
	}
	_, err = Command{Argv: []string{"true"}, Mounts: System(), Dir: "/no/such"}.Start(t.Context())
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/no/such") {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err = (Command{}).Start(t.Context()); err == nil {
		t.Error("no program was started")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = (Command{Argv: []string{"true"}, Mounts: System()}).Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
}

func TestCommandThatCannotMount(t *testing.T) {
	dir := project(t, "file", "sub/file")
	if err := os.Symlink("sub", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Mount{
		{Source: filepath.Join(dir, "missing"), Target: "/x"},
		{Source: filepath.Join(dir, "link"), Target: "/x"},
		{Source: filepath.Join(dir, "link", "file"), Target: "/x"},
		{Source: dir, Target: "/"},
		{Source: dir, Target: "x"},
		{Source: dir, Target: "/x/../y"},
		{Source: filepath.Join(dir, "file"), Target: "/p/missing"},
		{Source: filepath.Join(dir, "sub"), Target: "/p/link"},
		{Target: "/p/link/file", Mode: Covered},
		{Target: "/p/missing", Mode: Covered},
		{Source: dir, Target: "/x", Mode: Link + 1},
	} {
		_, err := Command{Argv: []string{"true"}, Mounts: append(System(), Mount{Source: dir, Target: "/p", Mode: ReadWrite}, m)}.Start(t.Context())
		var mount *MountError
		if !errors.As(err, &mount) || mount.Mount.Target != m.Target || isUnavailable(err) {
			t.Errorf("%+v: got %v", m, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a mount point was made in a folder of the host")
	}
	run(t, script("ls /p", Mount{Source: dir, Target: "/p"},
		Mount{Source: filepath.Join(dir, "missing"), Target: "/x", Optional: true},
		Mount{Target: "/p/missing", Mode: Covered, Optional: true})).want(t, 0, "file\nlink\nsub")
}

// What was decided about has to lie there still when the mount is made.
func TestCommandMountOverAnother(t *testing.T) {
	dir := project(t, ".env", "decoy", "gitfile")
	over, err := FileIDOf(filepath.Join(dir, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	p := Mount{Source: dir, Target: "/p", Mode: ReadWrite}
	for _, m := range []Mount{{Target: "/p/.env", Mode: Covered, Over: over}, {Source: "/etc/hosts", Target: "/p/.env", Over: over}} {
		run(t, script("true", p, m)).want(t, 0, "")
		m.Target = "/p/decoy"
		_, err := Command{Argv: []string{"true"}, Mounts: append(System(), p, m)}.Start(t.Context())
		var mount *MountError
		if !errors.As(err, &mount) || mount.Mount.Target != "/p/decoy" {
			t.Errorf("%v: %v", m.Mode, err)
		}
	}
	// A file where a folder would be is no such place either.
	run(t, script("true", p, Mount{Target: "/p/gitfile/hooks", Mode: Covered, Optional: true},
		Mount{Source: filepath.Join(dir, "gitfile", "hooks"), Target: "/x", Optional: true})).want(t, 0, "")
}

func TestCommandRootHoldsNothingOfTheHost(t *testing.T) {
	r := run(t, script("ls -A / /home; for f in /root /run /var /sys /boot /mnt /srv /etc/shadow /etc/gitconfig; do test -e $f && echo $f; done; ls /dev"))
	for line := range strings.Lines(r.out) {
		switch line = strings.TrimSpace(line); {
		case line == "", line == "/:", line == "/home:", strings.HasPrefix(line, "lib"):
		case strings.Contains(" bin dev etc home opt proc sbin tmp usr air fd full null random shm stderr stdin stdout urandom zero ", " "+line+" "):
		default:
			t.Errorf("inside there is %s", line)
		}
	}
	run(t, script("echo x > /x; echo x > /usr/x; echo x > /etc/x; mkdir /home/x; rm /etc/passwd; exit 0")).
		wantLines(t, 5, "Read-only file system")
}

// wantLines wants a number of lines, and a text in each.
func (r result) wantLines(t *testing.T, n int, text string) {
	t.Helper()
	lines := strings.Split(r.out, "\n")
	if len(lines) != n || strings.Count(r.out, text) != n {
		t.Errorf("want %d lines with %q, got:\n%s", n, text, r.out)
	}
}

func TestCommandMounts(t *testing.T) {
	dir := project(t, "read/file", "write/file", "write/covered/file", "write/secret")
	home := project(t, "in-home")
	c := script(`cat /r/file; echo new > /r/file; echo new > /w/new; cat ~/in-home; echo new > ~/new
		cat /w/secret; ls /w/covered; chmod 700 /w/covered; mv /w/covered /w/x; readlink /l`,
		Mount{Source: filepath.Join(dir, "read"), Target: "/r"},
		Mount{Source: filepath.Join(dir, "write"), Target: "/w", Mode: ReadWrite},
		Mount{Target: "/w/covered", Mode: Covered},
		Mount{Target: "/w/secret", Mode: Covered},
		Mount{Source: "r/file", Target: "/l", Mode: Link})
	c.Home = home
	r := run(t, c)
	for _, want := range []string{
		"text of read/file\n", "cannot create /r/file: Read-only", "text of in-home\n", "/w/secret: Permission denied",
		"directory '/w/covered': Permission denied", "permissions of '/w/covered': Read-only", "'/w/covered' to '/w/x': Device or resource busy", "r/file",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in:\n%s", want, r.out)
		}
	}
	for _, made := range []string{filepath.Join(dir, "write", "new"), filepath.Join(home, "new")} {
		info, err := os.Stat(made)
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Getuid()) {
			t.Errorf("%s: %v", made, err)
		}
	}
}

func TestCommandLayers(t *testing.T) {
	lower, upper := project(t, "old", "gone"), project(t)
	m := Mount{Source: lower, Target: "/cache", Mode: Layered, Upper: upper}
	r := run(t, script("cat /cache/old; echo more >> /cache/old; rm /cache/gone; echo new > /cache/new", m))
	how := r.p.Confinement().Layers
	if len(how) != 1 || how[0].Name != "/cache" {
		t.Fatalf("layers are %v", how)
	}
	if how[0].How != "overlay" {
		t.Skipf("the kernel has no overlay here: %s", how[0].How)
	}
	r.want(t, 0, "text of old")
	run(t, script("cat /cache/*; ls /cache", m)).want(t, 0, "new\ntext of old\nmore\nnew\nold")
	entries, err := os.ReadDir(lower)
	if err != nil || len(entries) != 2 {
		t.Errorf("the lower folder holds %v now", entries)
	}
	if text, err := os.ReadFile(filepath.Join(lower, "old")); string(text) != "text of old\n" {
		t.Errorf("the lower file says %q now (%v)", text, err)
	}
}

func TestCommandP1DoubleForkDiesWithTheTree(t *testing.T) {
	tag := "AIRTAG=" + filepath.Base(t.TempDir()) + fmt.Sprint(time.Now().UnixNano())
	ctx, cancel := context.WithCancel(t.Context())
	out := new(notifying)
	out.on("up\n", cancel)
	c := script("sleep 300 & setsid sleep 301 & (setsid sh -c 'sleep 302 & sleep 303' &); echo up; sleep 304")
	c.Env, c.Mounts, c.Stdout = append(DefaultEnv(), tag), System(), out
	p, err := c.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait()
	if !errors.Is(err, context.Canceled) || !exit.Killed {
		t.Errorf("%+v, %v", exit, err)
	}
	if left := tagged(t, tag); len(left) > 0 {
		t.Errorf("there still run %v", left)
	}
}

// notifying calls a function once a text has been written.
type notifying struct {
	written []byte // no bytes.Buffer: its ReadFrom would go past Write
	text    string
	then    func()
}

func (n *notifying) on(text string, then func()) { n.text, n.then = text, then }

func (n *notifying) Write(p []byte) (int, error) {
	n.written = append(n.written, p...)
	if n.then != nil && bytes.Contains(n.written, []byte(n.text)) {
		n.then()
		n.then = nil
	}
	return len(p), nil
}

func TestCommandDiesWithItsHost(t *testing.T) {
	tag := "AIRTAG=" + fmt.Sprint(time.Now().UnixNano())
	host := exec.CommandContext(t.Context(), "/proc/self/exe")
	host.Args = []string{insideName, "host", tag}
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("up\n"))); err != nil {
		t.Fatal(err)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	for end := time.Now().Add(patience); len(tagged(t, tag)) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("there still run %v", tagged(t, tag))
		}
	}
}

func TestCommandP2BackgroundChildHoldsNothing(t *testing.T) {
	tag := "AIRTAG=" + fmt.Sprint(time.Now().UnixNano())
	c := script("sleep 300 & echo done")
	c.Env = append(DefaultEnv(), tag)
	run(t, c).want(t, 0, "done")
	if left := tagged(t, tag); len(left) > 0 {
		t.Errorf("there still run %v", left)
	}
}

var errFull = errors.New("full")

// bounded refuses what is more than its room.
type bounded struct{ room int }

func (b *bounded) Write(p []byte) (int, error) {
	if b.room -= len(p); b.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestCommandP3EndlessOutput(t *testing.T) {
	r := run(t, Command{Argv: []string{"yes"}, Stdout: &bounded{1 << 20}})
	if r.Signal != int(unix.SIGPIPE) {
		t.Errorf("%+v, %v", r.Exit, r.err)
	}
	killed := new(notifying)
	c := Command{Argv: []string{"yes"}, Mounts: System(), Stdout: killed}
	running := make(chan *Process, 1)
	killed.on("y\n", func() { (<-running).Kill() })
	p, err := c.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	running <- p
	if exit, err := p.Wait(); !exit.Killed || err != nil {
		t.Errorf("%+v, %v", exit, err)
	}
}

// terminal opens a pseudoterminal and returns the side that programs have.
func terminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudoterminals: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudoterminals: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// slow takes its time over each Write.
type slow struct{ bytes.Buffer }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return s.Buffer.Write(p)
}

func TestCommandSlowWriter(t *testing.T) {
	out := new(slow)
	r := run(t, Command{Argv: []string{"head", "-c", "150000", "/dev/zero"}, Stdout: out})
	if r.Code != 0 || r.err != nil || out.Len() != 150000 {
		t.Errorf("%+v, %v, %d bytes", r.Exit, r.err, out.Len())
	}
}

// A reader that has nothing to say holds up neither a program that has ended nor one that
// was never started.
func TestCommandSilentReader(t *testing.T) {
	silent, open := io.Pipe()
	defer open.Close()
	run(t, Command{Argv: []string{"echo", "done"}, Stdin: silent}).want(t, 0, "done")
	_, err := Command{Argv: []string{"no-such-program"}, Stdin: silent, Mounts: System()}.Start(t.Context())
	if !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Command{Argv: []string{"cat"}, Stdin: silent, Mounts: System()}.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if exit, err := p.Wait(); !exit.Killed || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", exit, err)
	}
}

func TestCommandReaderThatFails(t *testing.T) {
	r := run(t, Command{Argv: []string{"cat"}, Stdin: iotest.ErrReader(errFull)})
	if r.Code != 0 || r.err != errFull {
		t.Errorf("%+v, %v", r.Exit, r.err)
	}
}

// Names are bytes.
func TestCommandNamesThatAreNotUTF8(t *testing.T) {
	dir := project(t, "d\xff/.env")
	c := script(`cat d*/.env; printf %s "$1$X" | od -An -tx1`, Mount{Source: dir, Target: "/p\xfe", Mode: ReadWrite},
		Mount{Target: "/p\xfe/d\xff/.env", Mode: Covered, Optional: true})
	c.Argv, c.Env, c.Dir = append(c.Argv, "sh", "a\xffb"), append(DefaultEnv(), "X=\xfe"), "/p\xfe"
	if r := run(t, c); !strings.Contains(r.out, "Permission denied") || !strings.HasSuffix(r.out, "61 ff 62 fe") {
		t.Error(r.out)
	}
	_, err := Command{Argv: []string{"true"}, Mounts: []Mount{{Source: dir + "/\xff", Target: "/x"}}}.Start(t.Context())
	var mount *MountError
	if !errors.As(err, &mount) || mount.Mount.Source != dir+"/\xff" {
		t.Error(err)
	}
}

func TestCommandLongFailure(t *testing.T) {
	_, err := Command{Argv: []string{strings.Repeat("\x01", 30000)}, Mounts: System()}.Start(t.Context())
	var program *exec.Error
	if !errors.As(err, &program) {
		t.Errorf("%.200v", err)
	}
}

// What would be too long for the init to report is refused before anything starts.
func TestCommandTooLong(t *testing.T) {
	long := "/" + strings.Repeat("x", unix.PathMax-1)
	layers := make([]Mount, 1000)
	for i := range layers {
		layers[i] = Mount{Source: "/usr", Target: fmt.Sprintf("/layer%d", i), Upper: t.TempDir(), Mode: Layered}
	}
	for name, c := range map[string]Command{
		"source": {Mounts: []Mount{{Source: long, Target: "/x"}}},
		"target": {Mounts: []Mount{{Source: "/usr", Target: long}}},
		"upper":  {Mounts: []Mount{{Source: "/usr", Target: "/x", Upper: long, Mode: Layered}}},
		"home":   {Home: long},
		"layers": {Mounts: layers},
	} {
		c.Argv = []string{"true"}
		var mount *MountError
		if _, err := c.Start(t.Context()); !errors.As(err, &mount) || name != "layers" && !errors.Is(err, unix.ENAMETOOLONG) {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	// The longest path that the kernel takes gets an answer, and the right one.
	deep := strings.Repeat("/x", (unix.PathMax-1)/2)
	_, err := Command{Argv: []string{"true"}, Mounts: append(System(), Mount{Source: deep, Target: deep})}.Start(t.Context())
	var mount *MountError
	if !errors.As(err, &mount) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%.200v", err)
	}
}

// What is counted for the user who runs air, outside too, is limited for one run.
func TestCommandLimitsOfTheUser(t *testing.T) {
	run(t, script("cd /proc/sys/user; cat max_user_namespaces max_inotify_instances; grep -c 'core file size *1 *1 ' /proc/self/limits")).
		want(t, 0, "0\n32\n1")
}

func TestCommandP4NoTerminal(t *testing.T) {
	r := run(t, script("cat; tty; cat /dev/tty; echo x > /dev/tty"))
	for _, want := range []string{"not a tty", "/dev/tty: No such file", "cannot create /dev/tty"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in %s", want, r.out)
		}
	}
	if _, err := (Command{Argv: []string{"cat"}, Stdin: terminal(t)}).Start(t.Context()); err == nil {
		t.Error("a terminal was read from")
	}
}

func TestCommandP5Signals(t *testing.T) {
	r := run(t, script(fmt.Sprintf(`for s in $(seq 64); do kill -$s 1; done
		kill -9 %d; kill -9 %d; ls /proc | grep -c '^[0-9]'; echo alive`, os.Getpid(), os.Getppid())))
	if r.Code != 0 || !strings.HasSuffix(r.out, "\nalive") || strings.Count(r.out, "No such process") != 2 {
		t.Errorf("%+v\n%s", r.Exit, r.out)
	}
	// The signals that the init handles are not handed down.
	run(t, script("grep SigIgn /proc/self/status")).want(t, 0, "SigIgn:\t0000000000000000")
}

// holder is what holds a limit of a run, "" for nothing.
func holder(p *Process, limit string) string {
	limits := p.Confinement().Limits
	return limits[slices.IndexFunc(limits, func(h Held) bool { return h.Name == limit })].How
}

func TestCommandP6Limits(t *testing.T) {
	c := script("(for i in $(seq 300); do sleep 300 & done) 2>/dev/null; set -- /proc/[0-9]*; echo $#; kill -9 -1")
	c.Limits.Processes = 50
	r := run(t, c)
	var n int
	if _, err := fmt.Sscan(r.out, &n); err != nil {
		t.Errorf("%q: %v", r.out, err)
	}
	if how := holder(r.p, "processes"); how == "" {
		t.Log("nothing holds the number of processes here")
	} else if n < 20 || n > 50+initTasks {
		t.Errorf("%d processes, held by %s", n, how)
	}

	c = script("dd if=/dev/zero of=/tmp/x bs=1M count=64; stat -c %s /tmp/x; dd if=/dev/zero of=/dev/shm/x bs=1M count=64; stat -c %s /dev/shm/x")
	c.Limits.TmpBytes = 8 << 20
	if r = run(t, c); strings.Count(r.out, "No space left") != 2 || !strings.Contains(r.out, "\n8388608\n") || !strings.HasSuffix(r.out, "\n2097152") {
		t.Errorf("filling /tmp: %s", r.out)
	}

	c = script("dd if=/dev/zero of=/p/x bs=1M count=64", Mount{Source: project(t), Target: "/p", Mode: ReadWrite})
	c.Limits.FileBytes = 1 << 20
	if r = run(t, c); !strings.Contains(r.out, "File size limit") && !strings.Contains(r.out, "File too large") {
		t.Errorf("a large file: %s", r.out)
	}
	c = script("ulimit -n; ulimit -Hn; ulimit -Hc")
	c.Limits.OpenFiles = 77
	run(t, c).want(t, 0, "77\n77\n0")
}

// The init is not under the limits of what it holds, and the program is under them from its
// first instruction.
func TestCommandLimitsOfTheProgramAlone(t *testing.T) {
	const limits = "cd /proc; grep -h -e 'Max cpu' -e 'Max data' %s | tr -s ' ' | sed 's, $,,'; grep Tracer self/status"
	data := "Max data size 67108864 67108864 bytes"
	r := run(t, limited(fmt.Sprintf(limits, "self/limits")))
	if strings.HasPrefix(holder(r.p, "memory"), "cgroup") {
		data = ownLimit(t, "Max data")
	}
	held := "Max cpu time 1 1 seconds\n" + data + "\nTracerPid:\t0"
	r.want(t, 0, held)
	run(t, limited(fmt.Sprintf(limits, "1/limits"))).want(t, 0, ownLimit(t, "Max cpu")+"\n"+ownLimit(t, "Max data")+"\nTracerPid:\t0")
	if r := run(t, limited("while :; do :; done")); r.Signal != int(unix.SIGKILL) || r.Killed {
		t.Errorf("%+v", r.Exit)
	}

	host := exec.CommandContext(t.Context(), "/proc/self/exe")
	host.Args = []string{insideName, "untraced", fmt.Sprintf(limits, "self/limits")}
	out, err := host.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != held {
		t.Errorf("untraced: %v\n%s\nwant\n%s", err, got, held)
	}
}

// ownLimit is the line of this process's limits that begins with name.
func ownLimit(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, name) {
			return strings.Join(strings.Fields(line), " ")
		}
	}
	t.Fatalf("no %q in %s", name, text)
	return ""
}

func TestCommandP6ForkBomb(t *testing.T) {
	tag := "AIRTAG=" + fmt.Sprint(time.Now().UnixNano())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := new(notifying)
	most := 0
	out.on("annot fork", func() { most = len(tagged(t, tag)); cancel() })
	c := script("b() { b | b & b; }; b")
	c.Env, c.Mounts, c.Stdout, c.Stderr, c.Limits.Processes = append(DefaultEnv(), tag), System(), out, out, 50
	p, err := c.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if holder(p, "processes") == "" {
		p.Kill()
		_, _ = p.Wait()
		t.Skip("nothing holds the number of processes here")
	}
	exit, err := p.Wait()
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", exit, err)
	}
	if most > 50+initTasks || len(tagged(t, tag)) > 0 {
		t.Errorf("%d processes, and then %v", most, tagged(t, tag))
	}
}

func TestCommandMemory(t *testing.T) {
	c := script("head -c 400m /dev/zero | tail -c 300m | wc -c")
	c.Limits.MemoryBytes = 128 << 20
	r := run(t, c)
	if r.out == fmt.Sprint(300<<20) {
		t.Errorf("300 MB were held, in 128 (%s)", holder(r.p, "memory"))
	}
	if strings.HasPrefix(holder(r.p, "memory"), "cgroup") && !r.OutOfMemory {
		t.Errorf("%+v: %s", r.Exit, r.out)
	}
}

func TestCommandP7Machine(t *testing.T) {
	r := run(t, script("mount -o remount,rw /usr || mount -o remount,bind,rw /usr || mount -t tmpfs none /tmp || umount /proc/sys || unshare -r true || unshare -n true || echo refused; touch /usr/x || echo read-only"))
	if !strings.Contains(r.out, "\nrefused\n") || !strings.HasSuffix(r.out, "\nread-only") {
		t.Error(r.out)
	}
	// Opened for writing, but nothing is written: should this work, it must not change the machine.
	run(t, script("for f in kernel/core_pattern vm/drop_caches kernel/pid_max user/max_user_namespaces; do (: >> /proc/sys/$f) 2>/dev/null || echo refused; done; cat /proc/sys/user/max_user_namespaces")).
		want(t, 0, "refused\nrefused\nrefused\nrefused\n0")
	run(t, script("mknod /tmp/null c 1 3 2>/dev/null || echo refused")).want(t, 0, "refused")
}

func TestCommandGainsNothingBySetUserID(t *testing.T) {
	run(t, script("grep NoNewPrivs /proc/self/status; grep -vc nosuid /proc/self/mountinfo", Mount{Source: project(t), Target: "/p", Mode: ReadWrite})).
		want(t, 1, "NoNewPrivs:\t1\n0")
}

// A set-user-id file in a folder of the host would count outside.
func TestCommandMakesNoSetUserID(t *testing.T) {
	dir := project(t, "file")
	probe := inside("set-id", "/p")
	probe.Mounts = []Mount{{Source: dir, Target: "/p", Mode: ReadWrite}}
	run(t, probe).want(t, 0, "")
	run(t, script("cd /p; cp /bin/sh sh; chmod 4755 sh || chmod g+s sh || install -m 6755 sh s || echo refused; chmod 1755 sh && install -m 755 sh s && rm sh && echo made", probe.Mounts...)).
		wantEnd(t, "\nrefused\nmade")
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		info, err := e.Info()
		if err != nil || info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

func (r result) wantEnd(t *testing.T, end string) {
	t.Helper()
	if r.Code != 0 || !strings.HasSuffix(r.out, end) {
		t.Errorf("code %d, want an end of %q, got:\n%s", r.Code, end, r.out)
	}
}

// A device is a file of the host. Root may change it, and so might a command that root runs.
func TestCommandDevicesAreUnchanged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, who owns devices")
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Args = []string{insideName, "devices"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// What lies under a mount can be moved from outside, and takes the mount off or along.
func TestCommandUncovered(t *testing.T) {
	replace := func(name string) error {
		if err := os.WriteFile(name+".tmp", []byte("new"), 0o600); err != nil {
			return err
		}
		return os.Rename(name+".tmp", name)
	}
	away := func(name string) error { return os.Rename(name, name+"~") }
	for name, c := range map[string]struct {
		mounted   Mount
		change    func(string) error
		file      string
		uncovered string
	}{
		"covered file replaced":    {Mount{Target: "/p/.env", Mode: Covered}, replace, ".env", "/p/.env"},
		"covered file moved":       {Mount{Target: "/p/.env", Mode: Covered}, away, ".env", "/p/.env"},
		"covered file removed":     {Mount{Target: "/p/.env", Mode: Covered}, os.Remove, ".env", "/p/.env"},
		"read-only file replaced":  {Mount{Source: "/etc/hosts", Target: "/p/.env"}, replace, ".env", "/p/.env"},
		"read-only folder removed": {Mount{Source: "/usr", Target: "/p/empty"}, os.Remove, "empty", "/p/empty"},
		"folder above moved":       {Mount{Target: "/p/sub/.env", Mode: Covered}, away, "sub", "/p/sub"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := project(t, ".env", "sub/.env")
			if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
				t.Fatal(err)
			}
			// Told to go on, the program ends: a loss is seen then at the latest.
			for _, then := range []string{"sleep 300", "read x"} {
				in, tell := io.Pipe()
				out := new(notifying)
				out.on("up\n", func() {
					if err := c.change(filepath.Join(dir, c.file)); err != nil {
						t.Error(err)
					}
					if then == "read x" {
						fmt.Fprintln(tell, "go on")
					}
					tell.Close()
				})
				cmd := script("echo up; "+then, Mount{Source: dir, Target: "/p", Mode: ReadWrite}, c.mounted)
				cmd.Stdin, cmd.Stdout = in, out
				if r := run(t, cmd); r.Uncovered != c.uncovered || then == "sleep 300" && !r.Killed || r.err != nil {
					t.Errorf("%s: %+v, %v", then, r.Exit, r.err)
				}
				undo(t, dir, c.file)
			}
		})
	}
}

// undo puts something back where a file or folder of a project was.
func undo(t *testing.T, dir, file string) {
	t.Helper()
	name := filepath.Join(dir, file)
	if _, err := os.Lstat(name); err == nil {
		return
	}
	err := os.Rename(name+"~", name)
	if errors.Is(err, fs.ErrNotExist) && file == "empty" {
		err = os.Mkdir(name, 0o700)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = os.WriteFile(name, nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestCommandP8Sockets(t *testing.T) {
	outside, home, work := project(t), project(t), project(t)
	for _, dir := range []string{outside, home, work} {
		loopback(t, "unix", filepath.Join(dir, "s"))
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(outside, "s"), "operation not permitted"},
		{"/home/air/s", "operation not permitted"},
		{"/p/s", "operation not permitted"},
	} {
		probe := inside("dial", "unix", c.path)
		probe.Home, probe.Mounts = home, []Mount{{Source: work, Target: "/p", Mode: ReadWrite}}
		if r := run(t, probe); r.Code != 1 || !strings.HasSuffix(r.out, c.want) {
			t.Errorf("%s: code %d, %s", c.path, r.Code, r.out)
		}
	}
	run(t, script("test -S /p/s && echo there; test -e "+outside+" || echo absent", Mount{Source: work, Target: "/p"})).want(t, 0, "there\nabsent")
}

func TestCommandP9GitRenamed(t *testing.T) {
	dir := project(t, ".git/config", "file")
	r := run(t, script("cd /p; mv .git old; rm -rf .git; mkdir -p .git/hooks; echo x > .git/config; mv /p /q",
		Mount{Source: dir, Target: "/p", Mode: ReadWrite}, Mount{Source: filepath.Join(dir, ".git"), Target: "/p/.git"}))
	for _, want := range []string{"cannot move '.git'", ".git/hooks’: Read-only", "cannot create .git/config", "cannot move '/p'"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in %s", want, r.out)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".git", "config")); string(text) != "text of .git/config\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git", "hooks")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// No folder above a protected path can be renamed, however deep; those beside can.
func TestCommandP9FolderAboveRenamed(t *testing.T) {
	for _, m := range []Mount{
		{Target: "a/b/.git"}, {Target: "a/b/file", Mode: Covered}, {Target: "a/b/.git", Mode: Covered},
	} {
		dir := project(t, "a/b/.git/config", "a/b/file", "a/c/file")
		m.Source, m.Target = filepath.Join(dir, m.Target), "/p/"+m.Target
		r := run(t, script("cd /p; mv a old; mv a/b a/old; rmdir a/b; mv a/c a/d; ls a; echo x > a/b/new && mv a/b/new a/d/new && cat a/d/new",
			Mount{Source: dir, Target: "/p", Mode: ReadWrite}, m))
		if strings.Count(r.out, "Device or resource busy") != 3 || !strings.HasSuffix(r.out, "\nb\nd\nx") || r.Uncovered != "" {
			t.Errorf("%v %s: %+v\n%s", m.Mode, m.Target, r.Exit, r.out)
		}
	}
}

func TestCommandP10Credentials(t *testing.T) {
	person, work := project(t, ".aws/credentials", ".ssh/id_ed25519"), project(t, "Makefile")
	run(t, script("for f in "+person+"/.aws/credentials "+person+"/.ssh/id_ed25519 ~/.aws/credentials "+person+"; do test -e $f && echo $f; done; echo end",
		Mount{Source: work, Target: "/p", Mode: ReadWrite})).want(t, 0, "end")
}

func TestCommandP11HomeOfAir(t *testing.T) {
	work := project(t, "air-home/permissions.yaml")
	run(t, script(`cd /p; { cat air-home/permissions.yaml || echo x > air-home/permissions.yaml || echo x > air-home/new || mv air-home old || chmod 700 air-home; } 2>/dev/null || echo refused; ls -A ~`,
		Mount{Source: work, Target: "/p", Mode: ReadWrite}, Mount{Target: "/p/air-home", Mode: Covered})).want(t, 0, "refused")
}

func TestCommandP12TerminalOfTheHost(t *testing.T) {
	tty := terminal(t)
	c := inside("type")
	c.Stdout, c.Stderr = tty, tty // for they are opened for reading too
	if r := run(t, c); r.Code != 0 {
		t.Errorf("%+v", r.Exit)
	}
	var seen bytes.Buffer
	c = script("for fd in /proc/self/fd/*; do readlink $fd; done | grep -c -e /dev/pts -e /dev/tty; ps -o tty= -p $$ 2>/dev/null || echo '?'")
	c.Stdout, c.Stderr = &seen, tty
	run(t, c)
	if got := strings.Fields(seen.String()); len(got) != 2 || got[0] != "0" || got[1] != "?" {
		t.Errorf("got %q", seen.String())
	}
}

func TestCommandDescriptorsOfTheHost(t *testing.T) {
	fd, err := unix.Open("/", unix.O_RDONLY, 0) // without O_CLOEXEC, as a careless parent leaves them
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	run(t, script("for f in /proc/self/fd/*; do test -d $f/ && echo $f; done; readlink /proc/self/fd/1 | grep -c pipe")).want(t, 0, "1")
}

func TestCommandN4Network(t *testing.T) {
	tcp := loopback(t, "tcp", "127.0.0.1:0")
	if r := run(t, inside("dial", "tcp", tcp.String())); r.Code != 1 || !strings.HasSuffix(r.out, "connection refused") {
		t.Errorf("the host's loopback: code %d, %s", r.Code, r.out)
	}
	if r := run(t, inside("dial", "ip4:icmp", "127.0.0.1")); r.Code != 1 || !strings.HasSuffix(r.out, "operation not permitted") {
		t.Errorf("a raw socket: code %d, %s", r.Code, r.out)
	}
}

func TestCommandLoopback(t *testing.T) {
	c := inside("get", "http://"+LoopbackAddress+"/x")
	var out bytes.Buffer
	c.Mounts, c.Loopback, c.Stdout = System(), true, &out
	p, err := c.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "the host answers ", r.URL.Path)
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(p.Listener()) }()
	exit, err := p.Wait()
	if exit.Code != 0 || err != nil || out.String() != "the host answers /x" {
		t.Errorf("%+v, %v: %s", exit, err, out.String())
	}
	if err := <-served; err == nil {
		t.Error("the listener outlives the process")
	}
	if p := run(t, script("true")).p; p.Listener() != nil {
		t.Error("a listener that nobody wanted")
	}
}

// The root of a namespace may not set groups there, unless its maker could.
func TestCommandOfRootInNamespace(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Args = []string{insideName, "start"}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestSystemCoversTheHome(t *testing.T) {
	dir := project(t, "person/file")
	home := filepath.Join(dir, "person")
	for _, c := range []struct {
		home, system string
		covered      bool
	}{{home, dir, true}, {home, home, false}, {home, dir + "/per", false}, {"/usr", "/", false}, {"/no/such", "/", false}} {
		t.Setenv("HOME", c.home)
		mounts := coverHome([]Mount{{Target: c.system}})
		if (len(mounts) == 1 && mounts[0].Target == home && mounts[0].Mode == Covered) != c.covered {
			t.Errorf("%+v: %+v", c, mounts)
		}
	}
}

func TestCommandNested(t *testing.T) { run(t, inside("nest")).want(t, 0, "") }

func TestCommandGit(t *testing.T) {
	if _, err := os.Stat("/usr/bin/git"); err != nil {
		t.Skip(err)
	}
	run(t, script("cd /p && git init -q && git add . && git -c user.name=n -c user.email=e commit -qm m && git status --short && git log --format=%s && git clone -q /p ~/clone && cat ~/clone/file",
		Mount{Source: project(t, "file"), Target: "/p", Mode: ReadWrite})).want(t, 0, "m\ntext of file")
}

func TestCommandLeavesNoCgroups(t *testing.T) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	run(t, script("true"))
	old, unified := hierarchies(string(mounts), string(own))
	for _, dir := range []string{old["memory"], old["pids"], unified.dir} {
		left, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("%s%d-*", cgroupPrefix, os.Getpid())))
		if dir != "" && len(left) > 0 {
			t.Errorf("there are still %v", left)
		}
	}
}
