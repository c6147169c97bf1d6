package runner

import (
	"context"
	"os"
	"path/filepath"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/sandbox"
)

// home is where the home of commands lies inside: where that of the person does, so that
// what the command line means by ~ is the same path, and empty but for what is mounted
// there.
func (r *Runner) home() string {
	if r.config.Home == "" {
		return sandbox.CommandHome
	}
	return r.config.Home
}

func (r *Runner) mounts(_ context.Context, l runtime.Launch) (mounts []sandbox.Mount, done func(), err error) {
	home := filepath.Join(r.config.State, "state", "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, nil, err
	}
	mounts = append(sandbox.System(), sandbox.Mount{Source: home, Target: r.home(), Mode: sandbox.ReadWrite})
	if r.config.Root != "" {
		mode := sandbox.ReadOnly
		if l.Text != "" {
			mode = sandbox.ReadWrite
		}
		mounts = append(mounts, sandbox.Mount{Target: r.config.Root, Mode: mode})
	}
	return mounts, func() {}, nil
}

func (r *Runner) environment(l runtime.Launch) []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin",
		"HOME=" + r.home(), "USER=" + sandbox.CommandUser, "LOGNAME=" + sandbox.CommandUser, "LANG=C.UTF-8", "TMPDIR=/tmp",
	}
	for name, value := range l.Env {
		env = append(env, name+"="+value)
	}
	return env
}
