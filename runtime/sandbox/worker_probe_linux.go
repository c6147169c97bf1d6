package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// workerProbe is the argv[0] that makes this program a probe: a worker that has been
// subverted and makes one attempt to escape.
const workerProbe = "air-worker-probe"

// What a probe writes to stderr: that it is confined and about to try, for one that was
// killed earlier proves nothing; and if it lives on, what came of it.
const (
	attemptBegins  = "trying: "
	attemptWorked  = attemptBegins + "worked"
	attemptRefused = attemptBegins + "refused, "
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
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			runtime.LockOSThread() // a probe ends with the thread that started it
			for i := range next {
				rows[i] = attempts[i].row(ctx, dir)
			}
		})
	}
	for i := range attempts {
		next <- i
	}
	close(next)
	workers.Wait()
	return rows
}

// probeFolder makes a cache folder, and beside it one that a worker must not reach.
func probeFolder() (string, error) {
	dir, err := os.MkdirTemp("", "air-check-")
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

// row starts a probe that makes the attempt, and says what came of it.
func (a attempt) row(ctx context.Context, dir string) Row {
	r := Row{Profile: "worker", Attempt: a.stage + ": " + a.name}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	state, said, err := startProbe(ctx, a.stage, a.name, dir)
	if err != nil {
		r.How = err.Error()
		return r
	}
	status, _ := state.Sys().(syscall.WaitStatus)
	reason, refused := bytes.CutPrefix(said, []byte(attemptRefused))
	switch {
	case status.Signaled() && status.Signal() == unix.SIGSYS && string(said) == attemptBegins:
		r.Refused, r.How = true, "killed by seccomp"
	case status.Exited() && status.ExitStatus() == 0 && refused:
		r.Refused, r.How = true, string(reason)
	case string(said) == attemptWorked:
		r.How = "it worked"
	default:
		r.How = fmt.Sprintf("%v: %.200s", state, said)
	}
	return r
}

// startProbe runs one probe to its end; said is what it wrote to stderr.
func startProbe(ctx context.Context, stage, name, dir string) (state *os.ProcessState, said []byte, err error) {
	path, err := Executable()
	if err != nil {
		return nil, nil, err
	}
	end, other, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer end.Close()
	defer other.Close()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = []string{workerProbe, stage, name, dir}
	(&Worker{}).Prepare(cmd)
	cmd.ExtraFiles, cmd.Stderr = []*os.File{other}, &stderr
	err = cmd.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		err = nil
	}
	return cmd.ProcessState, stderr.Bytes(), err
}

// serveIfWorkerProbe turns the process into a probe, and does not return, when it was
// started as one.
func serveIfWorkerProbe() {
	if len(os.Args) != 4 || os.Args[0] != workerProbe {
		return
	}
	if err := probe(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprint(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func probe(stage, name, dir string) error {
	p, err := newProbed(dir)
	if err != nil {
		return err
	}
	w := Worker{MemoryBytes: 1 << 20, CacheDir: p.cache, Compile: stage == stageCompile}
	if err := w.Load(); err != nil {
		return err
	}
	if stage == stageServe {
		if err := w.Serve(); err != nil {
			return err
		}
	}
	for _, a := range workerAttempts() {
		if a.stage != stage || a.name != name {
			continue
		}
		fmt.Fprint(os.Stderr, attemptBegins)
		outcome := attemptWorked
		if err := a.try(p); err != nil {
			outcome = attemptRefused + err.Error()
		}
		fmt.Fprint(os.Stderr, outcome[len(attemptBegins):])
		return nil
	}
	return fmt.Errorf("there is no attempt %q in stage %s", name, stage)
}
