package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/sandbox"
)

// home is where the home of commands lies inside: where that of the person does, so that
// what the command line means by ~ is the same path, and empty but for what is mounted
// there.
func (r *Runner) home() string {
	if home := filepath.Clean(r.config.Home); filepath.IsAbs(home) && home != "/" {
		return home
	}
	return sandbox.CommandHome
}

// realHome is home without the symbolic links that lead there on the host: where the
// project's path, which is canonical, says that it lies.
func (r *Runner) realHome() string {
	if real, err := filepath.EvalSymlinks(r.home()); err == nil {
		return real
	}
	return r.home()
}

// Private lists the folders of which a command has one of its own, whatever lies on the host
// under their names. Where the project, or a home, lies in one, it is as any other folder: what
// is beside the project there is named as what it is on the host.
func (r *Runner) Private() []string {
	const temporary = "/tmp"
	if !r.Confined() {
		return nil
	}
	for _, place := range []string{r.config.Root, r.config.Home, r.config.State} {
		real, err := filepath.EvalSymlinks(place)
		if place != "" && (isBelow(place, temporary) || err == nil && isBelow(real, temporary)) {
			return nil
		}
	}
	return []string{temporary}
}

// privateHome is the host's folder that is the home inside, canonical. Commands own what is
// in it, so nothing there is followed or believed.
func (r *Runner) privateHome() (string, error) {
	state, err := r.state()
	if err != nil {
		return "", err
	}
	home := filepath.Join(state, "home")
	if err := os.Mkdir(home, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(home)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("the home of commands, %s, is no folder", home)
	}
	if info.Mode().Perm() != 0o700 {
		return home, os.Chmod(home, 0o700) // a command may change the mode of its home
	}
	return home, nil
}

// state is the folder of what the runner keeps for the project, canonical.
func (r *Runner) state() (string, error) {
	dir := filepath.Join(r.config.State, "state")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// homeMounts are the home of commands and what is seen of the person's beside: toolchains,
// and caches under a layer of the project's own. done gives the layers back.
func (r *Runner) homeMounts(ctx context.Context, _ runtime.Launch) (mounts []sandbox.Mount, done func(), err error) {
	private, err := r.privateHome()
	if err != nil {
		return nil, nil, err
	}
	identity, err := r.gitIdentity()
	if err != nil {
		return nil, nil, err
	}
	at := r.realHome()
	mounts = append(mounts, sandbox.Mount{Source: private, Target: at, Mode: sandbox.ReadWrite})
	if r.home() != at {
		mounts = append(mounts, sandbox.Mount{Source: at, Target: r.home(), Mode: sandbox.Link})
	}
	mounts = append(mounts, sandbox.Mount{Source: identity, Target: filepath.Join(at, gitConfigName)})
	found := r.look()
	for _, dir := range found.toolchains {
		mounts = append(mounts, sandbox.Mount{Source: dir.source, Target: dir.target, Optional: true})
	}
	layers, done, err := r.layers(ctx, found.caches)
	if err != nil {
		return nil, nil, err
	}
	mounts = append(mounts, layers...)
	if err := r.makePlaces(private, at, mounts); err != nil {
		done()
		return nil, nil, err
	}
	return mounts, done, nil
}

// makePlaces makes what a mount, or the project, needs to lie on in the home: the sandbox
// creates nothing in a folder of the host.
func (r *Runner) makePlaces(private, at string, mounts []sandbox.Mount) error {
	root, err := os.OpenRoot(private)
	if err != nil {
		return err
	}
	defer root.Close()
	// The project comes last: where it holds a toolchain, that is seen there as it is.
	for _, m := range append(slices.Clone(mounts), sandbox.Mount{Target: r.config.Root}) {
		rel, below := strings.CutPrefix(m.Target, at+"/")
		if !below || m.Mode == sandbox.Link || within(m.Target, mounts, at) {
			continue
		}
		if err := makePlace(root, rel, filepath.Base(rel) != gitConfigName); err != nil {
			return fmt.Errorf("making a place for %s in the home of commands: %w", m.Target, err)
		}
	}
	return nil
}

// within reports whether a target lies in a mount of the host's below the home, where it
// exists or the mount is left out.
func within(target string, mounts []sandbox.Mount, home string) bool {
	return slices.ContainsFunc(mounts, func(m sandbox.Mount) bool {
		return m.Target != home && strings.HasPrefix(target, m.Target+"/")
	})
}

// makePlace makes a folder or an empty file in the home of commands, with the folders above.
// A link or a file where a folder belongs is the work of a command, and goes.
func makePlace(root *os.Root, rel string, folder bool) error {
	parts := strings.Split(rel, "/")
	for i := range parts {
		name := filepath.Join(parts[:i+1]...)
		info, err := root.Lstat(name)
		isFolder := folder || i < len(parts)-1
		if err == nil && right(info, isFolder) {
			continue
		}
		if err == nil && info.IsDir() && isFolder {
			err = root.Chmod(name, 0o700)
		} else {
			err = replace(root, name, isFolder, err == nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// right reports whether a mount can lie there.
func right(info fs.FileInfo, folder bool) bool {
	if folder {
		return info.IsDir() && info.Mode().Perm()&0o700 == 0o700
	}
	return info.Mode().IsRegular()
}

func replace(root *os.Root, name string, folder, exists bool) error {
	if exists {
		if err := root.RemoveAll(name); err != nil {
			return err
		}
	}
	if folder {
		err := root.Mkdir(name, 0o700)
		if errors.Is(err, fs.ErrExist) {
			return nil // another run made it meanwhile; the sandbox refuses what does not fit
		}
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
