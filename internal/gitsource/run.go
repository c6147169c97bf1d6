package gitsource

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

const (
	maxList   = 1 << 20 // what git may print of names, in bytes
	maxStderr = 16 << 10

	maxPack = 512 << 20 // one file of what is fetched, and that is one pack

	// limits bounds files, in the shell's blocks of 512 bytes, and the memory of one program,
	// in its KiB.
	limits = `ulimit -f "$1" && ulimit -v 4194304 && shift && exec "$@"`
)

// settings are names of git's configuration that would have it execute or fetch something
// else. No file of configuration is read but that of the empty repository that we make.
// https://git-scm.com/docs/git-config
var settings = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.attributesFile=/dev/null",
	"core.askPass=",
	"core.bigFileThreshold=16m", // larger ones are not held in memory
	"credential.helper=",
	"protocol.allow=never", // GIT_ALLOW_PROTOCOL says which one is
	"fetch.unpackLimit=1",  // one file, see limits
	"fetch.recurseSubmodules=false",
	"submodule.recurse=false",
	"transfer.bundleURI=false",
	"pack.threads=1",
	"gc.auto=0",
	"maintenance.auto=false",
	"http.lowSpeedLimit=1000",
	"http.lowSpeedTime=60",
}

// kept are variables of the person's environment that git and ssh may know: who the person
// is, and how the network is reached.
var kept = []string{
	"HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
	"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
}

// ssh asks nobody, and lends the other side nothing.
const ssh = "ssh -oBatchMode=yes -oRequestTTY=no -oPermitLocalCommand=no -oForwardAgent=no -oForwardX11=no -oClearAllForwardings=yes -oConnectTimeout=30 -oServerAliveInterval=15"

// helper hands a URL's credentials to git for the URL's host: in a command line everybody
// on the machine could read them.
const helper = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$AIR_GIT_USER" "$AIR_GIT_PASSWORD"; }; f`

func (r *Repository) environment() []string {
	env := []string{
		"PATH=" + r.program.Path, "LC_ALL=C", "TMPDIR=" + r.dir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=" + r.source.protocol, "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_SSH_COMMAND=" + ssh, "GIT_SSH_VARIANT=ssh", "GIT_CEILING_DIRECTORIES=" + r.dir,
		"AIR_GIT_USER=" + r.source.user, "AIR_GIT_PASSWORD=" + r.source.password,
	}
	for _, name := range kept {
		if value := r.program.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func (r *Repository) argv(args []string) []string {
	argv := []string{"/bin/sh", "-c", limits, "sh", strconv.FormatInt(r.maxPack/512, 10), r.program.File, "--git-dir=" + r.dir}
	all := settings
	if r.source.user != "" || r.source.password != "" {
		u, _ := url.Parse(r.source.remote) // it was parsed before
		all = append(all[:len(all):len(all)], "credential.https://"+u.Host+".helper="+helper)
	}
	for _, s := range all {
		argv = append(argv, "-c", s)
	}
	return append(argv, args...)
}

// git runs git away from any terminal, and ends it with all that it started.
func (r *Repository) git(ctx context.Context, out io.Writer, args ...string) error {
	argv := r.argv(args)
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	said := &head{}
	c.Dir, c.Env, c.Stdout, c.Stderr = r.dir, r.environment(), out, said
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit):
		return fault.New(fault.Unavailable, "git_failed", "git %s: %s", args[0], r.shown(said.String()))
	}
	return err
}

// list is git for what prints names.
func (r *Repository) list(ctx context.Context, args ...string) (string, error) {
	// A few small trees that hold each other stand for more folders than can be walked.
	ctx, cancel := context.WithTimeoutCause(ctx, r.maxListTime,
		fault.New(fault.ResourceExhausted, "repository_size", "listing %s took more than %s", r.source.URL, r.maxListTime))
	defer cancel()
	out := &full{limit: maxList}
	err := r.git(ctx, out, args...)
	if err != nil && ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if out.over {
		return "", fault.New(fault.ResourceExhausted, "repository_size", "the repository has too many files in the folder")
	}
	return out.String(), err
}

// shown is what git said, without what nobody should see.
func (r *Repository) shown(said string) string {
	for _, secret := range []string{r.source.password, r.source.user} {
		if len(secret) > 3 {
			said = strings.ReplaceAll(said, secret, "***")
		}
	}
	if said = strings.TrimSpace(said); said == "" {
		return "it failed and said nothing"
	}
	return text.Line(said, 500)
}

// head keeps the beginning of what is written, and takes all of it.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:max(0, min(len(p), maxStderr-h.Len()))])
	return len(p), nil
}

// full refuses what is beyond its limit.
type full struct {
	bytes.Buffer
	limit int
	over  bool
}

func (f *full) Write(p []byte) (int, error) {
	if f.over = f.over || f.Len()+len(p) > f.limit; f.over {
		return 0, errors.New("more than its limit")
	}
	return f.Buffer.Write(p)
}
