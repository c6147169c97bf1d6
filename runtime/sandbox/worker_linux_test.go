package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// workerTest is the argv[0] of a worker in these tests; the arguments after it are a role
// and the cache folder.
const workerTest = "air-worker-test"

func serveIfWorkerTest() {
	if os.Args[0] != workerTest {
		return
	}
	roles := map[string]func(dir string) error{
		"reads": readingWorker, "writes": writingWorker, "has no folder": folderlessWorker,
		"serves": servingWorker, "trims": trimmingWorker,
		"has a stray thread": strayWorker, "has threads": threadedWorker,
	}
	if err := roles[os.Args[1]](os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// tell tells the test; heard waits for it to answer.
func tell(format string, args ...any) {
	if _, err := unix.Write(SocketFD, fmt.Appendf(nil, format+"\n", args...)); err != nil {
		os.Exit(1)
	}
}

func heard() {
	if _, err := unix.Read(SocketFD, make([]byte, 1)); err != nil {
		os.Exit(1)
	}
}

type testWorker struct {
	t      *testing.T
	cmd    *exec.Cmd
	exited <-chan error
	end    *os.File
	lines  *bufio.Scanner
	stderr strings.Builder
}

// startWorker starts this program in a role.
func startWorker(t *testing.T, role, dir string) *testWorker {
	t.Helper()
	return startWorkerFrom(t, thisProgram(), role, dir)
}

// startWorkerFrom runs a copy of this program.
func startWorkerFrom(t *testing.T, program, role, dir string) *testWorker {
	t.Helper()
	end, other := socketPair(t)
	defer other.Close() // or a dead worker's silence would last
	w := &testWorker{t: t, end: end, lines: bufio.NewScanner(end)}
	w.cmd = WorkerCommand(context.Background(), []string{workerTest, role, dir}, other, &w.stderr)
	w.cmd.Path = program
	var err error
	if w.exited, err = Start(w.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill() // most have ended by themselves
		<-w.exited
	})
	return w
}

func socketPair(t *testing.T) (end, workers *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	end, workers = os.NewFile(uintptr(fds[0]), "test's end"), os.NewFile(uintptr(fds[1]), "worker's end")
	t.Cleanup(func() {
		end.Close()
		workers.Close()
	})
	return end, workers
}

// expect reads the next line and compares it.
func (w *testWorker) expect(want string) {
	w.t.Helper()
	w.lines.Scan()
	if got := w.lines.Text(); got != want {
		<-w.exited
		w.t.Fatalf("the worker says %q, not %q; %v %s", got, want, w.cmd.ProcessState, w.stderr.String())
	}
}

// ended waits for the worker's end.
func (w *testWorker) ended() syscall.WaitStatus {
	<-w.exited
	return w.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

func (w *testWorker) endsWell() {
	w.t.Helper()
	if s := w.ended(); !s.Exited() || s.ExitStatus() != 0 {
		w.t.Errorf("the worker ended with %v: %s", w.cmd.ProcessState, w.stderr.String())
	}
}

func TestWorkerIsRefusedEverything(t *testing.T) {
	rows := checkWorker(t.Context())
	if len(rows) != len(workerAttempts()) {
		t.Errorf("%d rows for %d attempts", len(rows), len(workerAttempts()))
	}
	for _, r := range rows {
		files := strings.Contains(r.Attempt, "outside the cache") && !strings.HasPrefix(r.Attempt, stageServe)
		if !r.Refused && (!files || landlockVersion() > 0) {
			t.Errorf("%s: %s", r.Attempt, r.How)
		}
	}
}

// TestAttemptsWouldWork proves that it is the profile that refuses: some attempts that harm
// nobody succeed here, outside.
func TestAttemptsWouldWork(t *testing.T) {
	dir, err := probeFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p, err := newProbed(dir)
	if err != nil {
		t.Fatal(err)
	}
	harmless := map[string]bool{ // and true for those that every architecture has
		"openat outside the cache": true, "openat in the cache": true, "open": false, "socket": true, "socketpair": true,
		"memfd_create": true, "mmap code": true, "mmap shared memory": true, "mmap memory that grows": true,
		"mmap memory that is only read": true, "mprotect memory out of the count": true, "clone a process": true, "fork": false,
		"prctl no_new_privs": true, "truncate": true, "unlink": false,
	}
	for _, a := range workerAttempts() {
		if _, ok := harmless[a.name]; !ok || a.stage != stageServe {
			continue
		}
		delete(harmless, a.name)
		if err := a.try(p); err != nil {
			t.Errorf("%s: %v", a.name, err)
		}
	}
	for name, everywhere := range harmless {
		if everywhere {
			t.Errorf("there is no attempt %q", name)
		}
	}
}

func TestServingWorkerReadsItsCache(t *testing.T) {
	dir := cacheFolder(t)
	w := startWorker(t, "reads", dir)
	w.expect("text")
	w.expect("[a b file]")
	w.endsWell()
}

func cacheFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func readingWorker(dir string) error {
	w := Worker{MemoryBytes: 1 << 20, CacheDir: dir}
	if err := w.Load(); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "file"))
	if err != nil {
		return err
	}
	tell("%s", text)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	tell("%v", names)
	return nil
}

func TestCompilingWorkerWritesItsCache(t *testing.T) {
	dir := cacheFolder(t)
	w := startWorker(t, "writes", dir)
	w.expect("written")
	w.endsWell()
	if text, err := os.ReadFile(filepath.Join(dir, "b", "moved")); string(text) != "new" {
		t.Errorf("the moved file reads %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "file")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the removed file: %v", err)
	}
}

func writingWorker(dir string) error {
	w := Worker{CacheDir: dir, Compile: true}
	if err := w.Load(); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Join(dir, "a"), "new")
	if err != nil {
		return err
	}
	_, err = file.WriteString("new")
	err = errors.Join(err, file.Sync(), file.Close(),
		os.Rename(file.Name(), filepath.Join(dir, "b", "moved")), // Landlock minds that the folder changes
		os.MkdirAll(filepath.Join(dir, "c", "d"), 0o700),
		os.WriteFile(filepath.Join(dir, "c", "d", "e"), nil, 0o600),
		os.RemoveAll(filepath.Join(dir, "c")),
		os.Remove(filepath.Join(dir, "file")))
	if err != nil {
		return err
	}
	tell("written")
	return nil
}

func TestWorkerWithoutFolderOpensNothing(t *testing.T) {
	w := startWorker(t, "has no folder", cacheFolder(t))
	w.expect("loaded")
	if s := w.ended(); s.Signal() != unix.SIGSYS {
		t.Errorf("opening a file ended with %v", w.cmd.ProcessState)
	}
}

func folderlessWorker(dir string) error {
	w := Worker{MemoryBytes: 1 << 20}
	if err := w.Load(); err != nil {
		return err
	}
	tell("loaded")
	_, err := os.ReadFile(filepath.Join(dir, "file"))
	return err
}

func TestServeNeedsLoad(t *testing.T) {
	for _, w := range []*Worker{{}, {Compile: true, loaded: &loaded{}}} {
		if err := w.Serve(); err == nil {
			t.Errorf("%+v may serve", *w)
		}
	}
}

// TestServingWorkerLives does what the Go runtime does by itself, under the list of system
// calls that would kill it, and a stop and continuation from outside.
func TestServingWorkerLives(t *testing.T) {
	w := startWorker(t, "serves", cacheFolder(t))
	w.expect("serving")
	w.checkStatus()
	w.checkMemory()
	w.answer()
	for _, done := range []string{"collected", "threads", "timers", "trimmed", "idling"} {
		w.expect(done)
	}
	pid := w.cmd.Process.Pid
	var status unix.WaitStatus
	err := errors.Join(unix.Kill(pid, unix.SIGSTOP))
	if _, err2 := unix.Wait4(pid, &status, unix.WUNTRACED, nil); err != nil || err2 != nil || !status.Stopped() {
		t.Fatalf("stopping the worker: %v, %v, %x", err, err2, status)
	}
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.expect("idled")
	w.answer()
	w.endsWell()
}

func (w *testWorker) answer() {
	w.t.Helper()
	if _, err := w.end.Write([]byte{1}); err != nil {
		w.t.Fatal(err)
	}
}

func servingWorker(dir string) error {
	w := Worker{MemoryBytes: 256 << 20, CacheDir: dir}
	if err := w.Load(); err != nil {
		return err
	}
	if err := w.Serve(); err != nil {
		return err
	}
	tell("serving")
	heard()
	for range 3 {
		growAndCollect()
	}
	rand.Read(make([]byte, 16)) // by the vDSO, for which the kernel wants memory of a kind of its own
	tell("collected")
	manyThreads(20)
	tell("threads")
	<-time.After(time.Millisecond)
	ticker := time.NewTicker(time.Millisecond)
	for range 20 {
		<-ticker.C
	}
	ticker.Stop()
	tell("timers")
	debug.FreeOSMemory()
	w.Trim()
	growAndCollect()
	tell("trimmed")
	tell("idling")
	time.Sleep(1500 * time.Millisecond) // the runtime looks after itself about once a second
	tell("idled")
	heard()
	return nil
}

func growAndCollect() {
	var kept [][]byte
	for range 64 {
		kept = append(kept, make([]byte, 1<<20))
	}
	runtime.KeepAlive(kept)
	runtime.GC()
}

// manyThreads has n goroutines hold a thread each at once, and the threads end.
func manyThreads(n int) {
	var held, done sync.WaitGroup
	held.Add(n)
	for range n {
		done.Go(func() {
			runtime.LockOSThread() // not unlocked: the thread ends
			held.Done()
			held.Wait()
		})
	}
	done.Wait()
}

func TestTrimLetsPagesGo(t *testing.T) {
	w := startWorkerFrom(t, copyInSmallPieces(t), "trims", cacheFolder(t))
	w.expect("serving")
	before := ResidentBytes(w.cmd.Process.Pid)
	w.answer()
	w.expect("trimmed")
	after := ResidentBytes(w.cmd.Process.Pid)
	w.answer()
	w.endsWell()
	t.Logf("resident: %d KiB before, %d after", before>>10, after>>10)
	const least = 256 << 10
	if after > before-least {
		t.Errorf("resident: %d before, %d after", before, after)
	}
}

// copyInSmallPieces copies this program. How much of it comes back with the next page that is
// used depends on how it was written: all of the code at once where the file system's cache
// holds it in large pieces.
func copyInSmallPieces(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(thisProgram())
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "program"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for piece := range slices.Chunk(text, 4096) {
		if _, err := f.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	return f.Name()
}

func trimmingWorker(dir string) error {
	w := Worker{MemoryBytes: 1 << 20, CacheDir: dir}
	if err := errors.Join(w.Load(), w.Serve()); err != nil {
		return err
	}
	debug.FreeOSMemory()
	tell("serving")
	heard()
	w.Trim()
	tell("trimmed")
	heard()
	return nil
}

// checkStatus looks at every thread from outside.
func (w *testWorker) checkStatus() {
	w.t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", w.cmd.Process.Pid))
	if err != nil || len(tasks) < 2 {
		w.t.Fatalf("%d threads, %v", len(tasks), err)
	}
	const none = "0000000000000000"
	want := map[string]string{"Seccomp": "2", "NoNewPrivs": "1", "CapInh": none, "CapPrm": none, "CapEff": none, "CapAmb": none}
	if os.Getuid() == 0 {
		want["CapBnd"] = none
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			w.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			if wanted, ok := want[name]; ok && strings.TrimSpace(value) != wanted {
				w.t.Errorf("%s: %s is %s, not %s", task, name, strings.TrimSpace(value), wanted)
			}
		}
	}
}

// checkMemory expects the host to see how much memory the worker holds, and nobody else who
// is the same user to see what is in it.
func (w *testWorker) checkMemory() {
	w.t.Helper()
	pid := w.cmd.Process.Pid
	if n := ResidentBytes(pid); n < 1<<20 || n > 1<<30 {
		w.t.Errorf("the worker holds %d bytes", n)
	}
	if os.Getuid() != 0 {
		if f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/mem"); err == nil {
			f.Close()
			w.t.Error("the worker's memory is open to its user")
		}
	}
	for resource, most := range map[int]uint64{unix.RLIMIT_NOFILE: 0, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_CORE: 0, unix.RLIMIT_DATA: 2 << 30} {
		var l unix.Rlimit
		if err := unix.Prlimit(pid, resource, nil, &l); err != nil || l.Max > most || l.Cur > most {
			w.t.Errorf("limit %d is %+v, %v", resource, l, err)
		}
	}
}

// TestConfinedWorkerEndsWithItsThread: confining a process must not lose the signal that it
// gets when the thread that started it ends.
func TestConfinedWorkerEndsWithItsThread(t *testing.T) {
	end, other := socketPair(t)
	cmd := WorkerCommand(t.Context(), []string{workerTest, "serves", cacheFolder(t)}, other, nil)
	release, started := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread ends
		started <- cmd.Start()
		<-release
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	other.Close()
	if said, err := bufio.NewReader(end).ReadString('\n'); said != "serving\n" {
		t.Fatalf("the worker says %q, %v", said, err)
	}
	close(release)
	_ = cmd.Wait()
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signal() != unix.SIGKILL {
		t.Errorf("the worker ended with %v", cmd.ProcessState)
	}
}

// TestAsNobody runs the tests of workers again as an ordinary user.
func TestAsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.skip=^Test(Command|Check|AsNobody)", "-test.v")
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	output, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(output, []byte("--- PASS: TestServingWorkerLives")) {
		t.Errorf("%v\n%s", err, output)
	}
}
