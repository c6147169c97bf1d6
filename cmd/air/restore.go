package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
)

// restore brings all that the project's lock pins, each by its digest. What is installed
// already needs no registry.
func (a *app) restore(ctx context.Context, transport *transportFlags) error {
	at, l, err := a.projectLifecycle()
	if err != nil {
		return err
	}
	lock, err := sharedLock(l)
	if err != nil {
		return err
	}
	restored := []capabilities.Installed{}
	err = a.eachOf(ctx, slices.Sorted(maps.Keys(lock.Capabilities)), func(id string) error {
		i, err := a.restoreOne(ctx, at, l, id, lock.Capabilities[id], transport)
		if err == nil {
			restored = append(restored, i)
		}
		return err
	})
	if err != nil && len(restored) == 0 {
		return err
	}
	if proposed, err := l.Proposed(ctx); err == nil && len(proposed) > 0 {
		a.note("air enable asks about each that is not enabled here")
	}
	return errors.Join(err, a.print(restored, func(w io.Writer) {
		for _, i := range restored {
			fmt.Fprintf(w, "%s %s\n%s\n", i.CapabilityID, oneLine(i.Version), i.Digest)
		}
	}))
}

// eachOf does something for each, also where it fails for some: of several failures each is
// said, and the error is of the first one's kind.
func (a *app) eachOf(ctx context.Context, all []string, do func(string) error) error {
	var failed []error
	for _, one := range all {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := do(one); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) < 2 {
		return errors.Join(failed...)
	}
	for _, err := range failed {
		printError(a.stderr, explain(err), "")
	}
	first := explain(failed[0])
	return fault.New(first.Kind, first.Code, "%d of %d failed", len(failed), len(all))
}

func (a *app) restoreOne(ctx context.Context, at place, l *capabilities.Lifecycle, id string, pinned capabilities.Locked, transport *transportFlags) (capabilities.Installed, error) {
	if pinned.Source.Kind == "local_path" && pinned.Reference == "" {
		return restoreLocal(l, id, pinned)
	}
	if _, err := store(at).Verify(id, pinned.Digest); err == nil {
		return store(at).Get(id, pinned.Digest)
	}
	if pinned.Source.Kind == "git" && pinned.Reference == "" {
		return a.restoreGit(ctx, at, id, pinned)
	}
	repository := repositoryOf(pinned.Reference)
	if repository == "" {
		return capabilities.Installed{}, fault.New(fault.NotFound, "no_reference", "the lock has no registry for %s, which came from %s", id, pinned.Source).
			WithHint("air load or air install it here; the lock says whether it is the same")
	}
	i, err := a.install(ctx, at, a.ociClient(at, pinned.Reference, transport), repository+"@"+pinned.Digest, pinned.Reference)
	return i, sameID(id, i.CapabilityID, err)
}

// restoreLocal looks for what was part of the project, or of a machine's folder.
func restoreLocal(l *capabilities.Lifecycle, id string, pinned capabilities.Locked) (capabilities.Installed, error) {
	c, err := l.Find(id, pinned.Digest)
	if err != nil {
		return capabilities.Installed{}, fault.New(fault.NotFound, "not_restorable", "%s is pinned from %s, and is not here: %w", id, pinned.Source, err).
			WithHint("it comes with the project's files, or from a folder of another machine: push it to a registry, and pin that")
	}
	return capabilities.Installed{CapabilityID: id, Version: c.Manifest.Version, Digest: c.Digest, ManifestHash: c.ManifestHash, ModuleSHA256: c.ModuleSHA256, Source: c.Source}, nil
}
