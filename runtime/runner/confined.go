package runner

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime/sandbox"
)

// Confined reports whether commands run behind a sandbox here, by running one that does
// nothing. Once yes is found, that is remembered until the machine boots: should it not be
// true any more, a command fails, and the next is asked about.
func (r *Runner) Confined() bool {
	r.probing.Lock()
	defer r.probing.Unlock()
	if r.confined == nil {
		yes := r.remembered() || r.probe()
		r.confined = &yes
	}
	return *r.confined
}

func (r *Runner) probe() bool {
	held := sandbox.CommandTier(context.Background()).Held
	if held {
		if file, err := r.memory(); err == nil {
			_ = os.WriteFile(file, []byte(machine()), 0o600) // what is not remembered is probed again
		}
	}
	return held
}

// memory is the file that holds what was found for this user.
func (r *Runner) memory() (string, error) {
	state, err := r.state()
	return filepath.Join(state, "confined-"+strconv.Itoa(os.Getuid())), err
}

func (r *Runner) remembered() bool {
	file, err := r.memory()
	if err != nil {
		return false
	}
	text, err := regular.Read(file, maxEntry, false)
	return err == nil && machine() != "" && string(text) == machine()
}

// unconfined notes that there was no sandbox for a command after all. What was decided until
// then was decided about commands that have one, so this runner runs nothing any more.
func (r *Runner) unconfined() {
	if file, err := r.memory(); err == nil {
		_ = os.Remove(file)
	}
	r.probing.Lock()
	defer r.probing.Unlock()
	r.confined, r.lost = new(bool), true
}

// mayBare reports whether commands may run without a sandbox.
func (r *Runner) mayBare() bool {
	r.probing.Lock()
	defer r.probing.Unlock()
	return r.config.Bare && !r.lost
}
