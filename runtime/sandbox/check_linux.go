package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// checkPatience bounds what one probe of a command may take.
const checkPatience = 30 * time.Second

// CommandTier says whether this machine can hold a command, by holding one that does
// nothing. It takes some milliseconds; the answer changes only with the machine.
func CommandTier(ctx context.Context) Tier {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	p, err := Command{self: []string{commandProbe}, Mounts: System()}.Start(ctx)
	if err != nil {
		return Tier{Reason: err.Error()}
	}
	exit, err := p.Wait()
	if err != nil || exit.Code != 0 {
		return Tier{Reason: fmt.Sprintf("a program that does nothing ended with code %d in the sandbox (%v)", exit.Code, err)}
	}
	return Tier{Held: true, Reason: "namespaces, " + landlockWords(p.confinement.Landlock), Confinement: p.confinement}
}

func landlockWords(version int) string {
	if version == 0 {
		return "no Landlock"
	}
	return fmt.Sprintf("Landlock version %d", version)
}

// Check tries each escape in a child of each profile, for real, and reports what became of
// it. An attempt that works changes nothing that lasts.
func Check(ctx context.Context) Report {
	r := Report{Kernel: kernelRelease(), Landlock: landlockVersion(), Command: CommandTier(ctx)}
	r.Rows = checkWorker(ctx)
	r.Worker = workerTier(r.Rows)
	if r.Command.Held {
		r.Rows = append(r.Rows, checkCommand(ctx)...)
	}
	return r
}

// workerTier sums up the rows of workers.
func workerTier(rows []Row) Tier {
	for _, row := range rows {
		if !row.Refused {
			return Tier{Reason: row.Attempt + ": " + row.How}
		}
	}
	return Tier{Held: true, Reason: "seccomp, " + landlockWords(landlockVersion())}
}

// bait is what a probe is told of the host: things that it must not reach.
type bait struct {
	Secret   string // a file beside the project
	Socket   string // a UNIX socket in the project, which is mounted
	Project  string
	TCP      string // a listener on the host's loopback
	HostPID  int
	HostHome string
}

// checkCommand lays out a project with bait and runs the probe in it.
func checkCommand(ctx context.Context) []Row {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	rows, err := probeCommand(ctx)
	if err != nil {
		return []Row{{Profile: "command", Attempt: "all", How: err.Error()}}
	}
	return rows
}

func probeCommand(ctx context.Context) ([]Row, error) {
	dir, err := os.MkdirTemp("", "air-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	b := bait{Secret: filepath.Join(dir, "secret"), Project: filepath.Join(dir, "project"), HostPID: os.Getpid()}
	b.Socket = filepath.Join(b.Project, "socket")
	b.HostHome, _ = os.UserHomeDir() // "" where there is none
	for _, d := range []string{b.Project, filepath.Join(b.Project, ".git")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	for _, f := range []string{b.Secret, filepath.Join(b.Project, ".env")} {
		if err := os.WriteFile(f, []byte("secret"), 0o600); err != nil {
			return nil, err
		}
	}
	var lc net.ListenConfig
	unixListener, err := lc.Listen(ctx, "unix", b.Socket)
	if err != nil {
		return nil, err
	}
	defer unixListener.Close()
	tcp, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer tcp.Close()
	b.TCP = strconv.Itoa(tcp.Addr().(*net.TCPAddr).Port)
	return runProbeWith(ctx, b)
}

func runProbeWith(ctx context.Context, b bait) ([]Row, error) {
	told, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	c := Command{
		self: []string{commandProbe, string(told)},
		Mounts: append(System(),
			Mount{Target: b.Project, Mode: ReadWrite},
			Mount{Target: filepath.Join(b.Project, ".git")},
			Mount{Target: filepath.Join(b.Project, ".env"), Mode: Covered}),
		Dir: b.Project, Stdout: &out, Stderr: &out,
	}
	p, err := c.Start(ctx)
	if err != nil {
		return nil, err
	}
	exit, err := p.Wait()
	if err != nil {
		return nil, err
	}
	var rows []Row
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil || exit.Code != 0 {
		return nil, fmt.Errorf("the probe ended with code %d: %.500s", exit.Code, out.String())
	}
	return rows, nil
}
