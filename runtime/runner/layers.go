package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/runtime/sandbox"
)

// maxSlots bounds how many commands of a project have layers at once.
const maxSlots = 64

// layers are the person's caches as commands see them: what they write goes to a layer of
// the project's. One run at a time may use a layer, so there are several, and the first that
// is free is taken: it is the one that is warm.
func (r *Runner) layers(ctx context.Context, caches []place) (mounts []sandbox.Mount, done func(), err error) {
	if len(caches) == 0 {
		return nil, func() {}, nil
	}
	state, err := r.state()
	if err != nil {
		return nil, nil, err
	}
	slot, done, err := takeSlot(ctx, filepath.Join(state, "layers"))
	if err != nil {
		return nil, nil, err
	}
	for _, c := range caches {
		upper := filepath.Join(slot, layerName(c.source))
		if err := os.MkdirAll(upper, 0o700); err != nil {
			done()
			return nil, nil, err
		}
		mounts = append(mounts, sandbox.Mount{Source: c.source, Target: c.target, Mode: sandbox.Layered, Upper: upper, Optional: true})
	}
	return mounts, done, nil
}

// layerName names the layer over a folder: one belongs to that folder for good.
func layerName(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:16])
}

func takeSlot(ctx context.Context, dir string) (slot string, done func(), err error) {
	for n := range maxSlots {
		slot := filepath.Join(dir, strconv.Itoa(n))
		unlock, free, err := home.TryLock(slot + ".lock")
		if err != nil {
			return "", nil, err
		}
		if free {
			return slot, unlock, nil
		}
		if ctx.Err() != nil {
			return "", nil, context.Cause(ctx)
		}
	}
	return "", nil, fault.New(fault.ResourceExhausted, "too_many_commands", "%d commands of this project run already", maxSlots)
}
