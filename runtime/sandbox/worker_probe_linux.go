package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// workerProbe is the argv[0] that makes this program a probe: a worker that has been
// subverted and makes one attempt to escape.
const workerProbe = "air-worker-probe"

// What a probe writes to stderr: that it is confined and about to try, for one that was
// killed earlier proves nothing; and if it lives on, the verdict on what came of it.
const (
	attemptBegins  = "trying: "
	attemptRefused = "refused: "
)

// checkWorker makes each attempt of a subverted worker in a child of its own.
func checkWorker(ctx context.Context) []Row {
	attempts := workerAttempts()
	rows := make([]Row, len(attempts))
	dir, err := probeFolder()
	if err != nil {
		return []Row{{Profile: "worker", Attempt: "all", How: err.Error()}}
	}
	defer os.RemoveAll(dir)
	next := make(chan int)
	var probes sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		probes.Go(func() {
			for i := range next {
				rows[i] = probeRow(ctx, attempts[i], i, dir)
			}
		})
	}
	for i := range attempts {
		next <- i
	}
	close(next)
	probes.Wait()
	return rows
}

// probeFolder makes a cache folder, and beside it one that a worker must not reach.
func probeFolder() (string, error) {
	dir, err := os.MkdirTemp("", "air-check-")
	if err == nil {
		dir, err = filepath.Abs(dir) // a probe works in another folder
	}
	if err != nil {
		return "", err
	}
	for _, sub := range []string{"cache", "outside"} {
		if err = os.Mkdir(filepath.Join(dir, sub), 0o700); err == nil {
			err = os.WriteFile(filepath.Join(dir, sub, "file"), []byte("text"), 0o600)
		}
		if err != nil {
			os.RemoveAll(dir)
			return "", err
		}
	}
	return dir, nil
}

// probeRow starts a probe that makes the attempt of this number, and says what came of it.
func probeRow(ctx context.Context, a attempt, number int, dir string) Row {
	r := Row{Profile: "worker", Attempt: a.stage + ": " + a.name}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	state, said, err := runWorkerProbe(ctx, number, dir)
	if err != nil {
		r.How = err.Error()
		return r
	}
	status, _ := state.Sys().(syscall.WaitStatus)
	outcome, tried := strings.CutPrefix(said, attemptBegins)
	reason, refused := strings.CutPrefix(outcome, attemptRefused)
	switch {
	case tried && outcome == "" && status.Signaled() && status.Signal() == unix.SIGSYS:
		r.Refused, r.How = true, "killed by seccomp"
	case tried && status.Exited() && status.ExitStatus() == 0:
		r.Refused, r.How = refused, reason
	case tried && strings.Contains(outcome, "SIGSEGV"): // the entry of 32-bit programs, in a kernel without it
		r.Refused, r.How = true, "the processor knows no such call"
	default:
		r.How = fmt.Sprintf("%v: %.200s", state, said)
	}
	return r
}

// runWorkerProbe runs one probe to its end; said is what it wrote to stderr.
func runWorkerProbe(ctx context.Context, number int, dir string) (state *os.ProcessState, said string, err error) {
	end, other, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	defer end.Close()
	defer other.Close()
	var stderr strings.Builder
	cmd := WorkerCommand(ctx, []string{workerProbe, strconv.Itoa(number), dir}, other, &stderr)
	ended, err := Start(cmd)
	if err != nil {
		return nil, "", err
	}
	err = <-ended
	if status := (*exec.ExitError)(nil); errors.As(err, &status) {
		err = nil
	}
	return cmd.ProcessState, stderr.String(), err
}

// serveIfWorkerProbe turns the process into a probe, and does not return, when it was
// started as one.
func serveIfWorkerProbe() {
	if len(os.Args) != 3 || os.Args[0] != workerProbe {
		return
	}
	if err := probe(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprint(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func probe(number, dir string) error {
	i, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	a := workerAttempts()[i]
	p, err := newProbed(dir)
	if err != nil {
		return err
	}
	w := Worker{MemoryBytes: 1 << 20, CacheDir: p.cache, Compile: a.stage == stageCompile}
	if err := w.Load(); err != nil {
		return err
	}
	if a.stage == stageServe {
		if err := w.Serve(); err != nil {
			return err
		}
	}
	fmt.Fprint(os.Stderr, attemptBegins)
	refused, how := verdict(a.try(p))
	if refused {
		how = attemptRefused + how
	}
	fmt.Fprint(os.Stderr, how)
	return nil
}
