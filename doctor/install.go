package doctor

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

const (
	maxInstall = 30 * time.Minute // for one command
	toEnd      = 10 * time.Second // for a manager to end what it began, after it was told to
)

// Outcome is what became of one step.
type Outcome struct {
	Step
	Error string `json:"error,omitempty"` // why it did not work, empty where it did
}

// Install runs the steps of a plan that a person agreed to, in their order, and goes on
// after one that fails. What the managers say goes to out, made safe to show. An error
// is that the context ended.
func (d *Doctor) Install(ctx context.Context, p Plan, out io.Writer) ([]Outcome, error) {
	done := []Outcome{}
	for _, s := range p.Steps {
		if ctx.Err() != nil {
			break
		}
		o := Outcome{Step: s}
		if err := d.step(ctx, s, out); err != nil {
			o.Error = err.Error()
		}
		done = append(done, o)
	}
	return done, context.Cause(ctx)
}

func (d *Doctor) step(ctx context.Context, s Step, out io.Writer) error {
	command := s.pkg.command()
	if command == nil {
		return fault.New(fault.PermissionDenied, "disallowed_install", "air does not run %q", text.Line(s.String(), 200))
	}
	l := d.look(ctx)
	program := l.manager(command[0])
	if program == "" {
		return fault.New(fault.DependencyMissing, "no_manager", "there is no %s on this machine", command[0])
	}
	if s.needsRoot() && os.Geteuid() != 0 {
		return fault.New(fault.PermissionDenied, "not_root", "it takes root: sudo %s", s)
	}
	dir, err := os.MkdirTemp("", "air-doctor-")
	if err != nil {
		return fault.IO("making an empty folder", err)
	}
	ctx, cancel := context.WithTimeout(ctx, maxInstall)
	defer cancel()
	return errors.Join(l.run(ctx, dir, program, command[1:], out), os.RemoveAll(dir))
}

// needsRoot reports whether the step works for root only.
func (s Step) needsRoot() bool { return s.pkg.manager == managerApt }

// run has a manager work in an empty folder, where no file of a project steers it.
func (l *look) run(ctx context.Context, dir, program string, arguments []string, out io.Writer) error {
	shown := &plainLines{to: out}
	c := exec.CommandContext(ctx, program, arguments...)
	c.Dir, c.Stdout, c.Stderr = dir, shown, shown
	c.Env = append(l.environment(), "PWD="+dir)
	ownGroup(c, syscall.SIGTERM, toEnd)
	err := c.Run()
	return errors.Join(err, shown.flush())
}

// passed are the variables of the person that managers see: where things lie, which
// proxies and registries they use. What would have a manager run something is not here.
var passed = strings.Fields(`
	HOME USER LOGNAME LANG LC_ALL TMPDIR XDG_CONFIG_HOME XDG_CACHE_HOME
	http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS
	GOPATH GOBIN GOROOT GOENV GOCACHE GOMODCACHE GOPROXY GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOINSECURE GOTOOLCHAIN CGO_ENABLED
	npm_config_registry NPM_CONFIG_REGISTRY npm_config_prefix NPM_CONFIG_PREFIX npm_config_cache NPM_CONFIG_CACHE
	npm_config_userconfig NPM_CONFIG_USERCONFIG`)

// environment is that of package managers.
func (l *look) environment() []string {
	env := []string{
		"PATH=" + strings.Join(l.managerPath(), string(filepath.ListSeparator)),
		"DEBIAN_FRONTEND=noninteractive", "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1", "TERM=dumb",
		"NPM_CONFIG_AUDIT=false", "NPM_CONFIG_FUND=false", "NPM_CONFIG_UPDATE_NOTIFIER=false",
	}
	for _, name := range passed {
		if value := l.getenv(name); value != "" && !strings.ContainsRune(value, 0) {
			env = append(env, name+"="+value)
		}
	}
	return env
}
