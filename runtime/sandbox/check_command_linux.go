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
)

// bait is what a probe is told of the host: things that it must not reach.
type bait struct {
	Secret   string // a file beside the project
	Project  string // with a UNIX socket in it, socketName
	TCP      string // a listener on the host's loopback
	HostPID  int
	HostHome string
}

// socketName is reached from the project as working directory: the path of a socket must be
// short, and that of a temporary folder need not be.
const socketName = "socket"

// checkCommand lays out a project with bait and runs the probe in it.
func checkCommand(ctx context.Context) []Row {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	notTried := func(err error) []Row {
		return []Row{{Profile: "command", Attempt: "all", How: "not tried: " + err.Error()}}
	}
	dir, err := os.MkdirTemp("", "air-check-")
	if err != nil {
		return notTried(err)
	}
	defer os.RemoveAll(dir)
	b, err := layBait(dir)
	if err != nil {
		return notTried(err)
	}
	closeAll, err := b.listen(ctx)
	if err != nil {
		return notTried(err)
	}
	defer closeAll()
	rows, err := b.probe(ctx, false)
	if err == nil && os.Getuid() == 0 {
		var kept []Row
		kept, err = b.probe(ctx, true)
		rows = append(rows, kept...)
	}
	if err != nil {
		return notTried(err)
	}
	return append(rows, b.replaceCovered(ctx))
}

func layBait(dir string) (b bait, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return b, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return b, err
	}
	b = bait{Secret: filepath.Join(dir, "secret"), Project: filepath.Join(dir, "project"), HostPID: os.Getpid()}
	b.HostHome, _ = os.UserHomeDir() // "" where there is none
	for _, d := range []string{b.git(), filepath.Dir(b.nested())} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return b, err
		}
	}
	for _, f := range []string{b.Secret, b.covered(), b.nested()} {
		if err := os.WriteFile(f, []byte("secret"), 0o600); err != nil {
			return b, err
		}
	}
	return b, os.WriteFile(b.closed(), []byte("secret"), 0)
}

func (b bait) git() string     { return filepath.Join(b.Project, ".git") }
func (b bait) covered() string { return filepath.Join(b.Project, ".env") }
func (b bait) nested() string  { return filepath.Join(b.Project, "sub", ".env") } // covered too

func (b bait) closed() string { return filepath.Join(b.Project, "closed") } // to its owner

// listen opens what the probe tries to connect to.
func (b *bait) listen(ctx context.Context) (closeAll func(), err error) {
	project, err := os.Open(b.Project)
	if err != nil {
		return nil, err
	}
	defer project.Close()
	var lc net.ListenConfig
	socket, err := lc.Listen(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", project.Fd(), socketName))
	if err != nil {
		return nil, err
	}
	tcp, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	b.TCP = strconv.Itoa(tcp.Addr().(*net.TCPAddr).Port)
	return func() { _, _ = socket.Close(), tcp.Close() }, nil
}

func (b bait) command(arguments ...string) Command {
	return Command{
		Self: append([]string{commandProbe}, arguments...),
		Mounts: append(System(),
			Mount{Target: b.Project, Mode: ReadWrite},
			Mount{Target: b.git()},
			Mount{Target: b.covered(), Mode: Covered},
			Mount{Target: b.nested(), Mode: Covered}),
		Dir: b.Project,
	}
}

// probe makes all attempts, with keepRoot under the number of root.
func (b bait) probe(ctx context.Context, keepRoot bool) ([]Row, error) {
	told, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	c := b.command(string(told))
	c.KeepRoot = keepRoot
	c.Stdout, c.Stderr = &out, &out
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
	for i := range rows {
		if keepRoot {
			rows[i].Attempt += ", as root by number"
		}
	}
	return rows, nil
}

// replaceCovered renames another file over a covered one while a command runs.
func (b bait) replaceCovered(ctx context.Context) Row {
	row := Row{Profile: "command", Attempt: "outlive a cover that comes off from outside"}
	p, err := b.command(probeWaits).Start(ctx)
	if err != nil {
		row.How = "not tried: " + err.Error()
		return row
	}
	err = os.Rename(b.Secret, b.covered())
	if err != nil {
		p.Kill()
	}
	exit, waitErr := p.Wait()
	switch {
	case err != nil:
		row.How = "not tried: " + err.Error()
	case exit.Uncovered == "":
		row.How = fmt.Sprintf("it ended with code %d (%v)", exit.Code, waitErr)
	default:
		row.Refused, row.How = true, "killed, for "+filepath.Base(exit.Uncovered)+" was uncovered"
	}
	return row
}
