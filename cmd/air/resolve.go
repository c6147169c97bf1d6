package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
)

var bareID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}(@sha256:[0-9a-f]{8,64})?$`)

// found is a bundle, and what air knows of its origin.
type found struct {
	*capabilities.Bundle
	source capabilities.Source
	trust  capabilities.TrustLevel
}

// resolve finds the bundle that an argument means: a folder or module on disk, an
// installed capability by ID[@digest], or an OCI reference.
func (a *app) resolve(ctx context.Context, at place, arg string, transport *transportFlags) (found, error) {
	info, err := os.Stat(arg)
	onDisk := found{source: capabilities.Source{Kind: "local_path", Path: arg}, trust: capabilities.Untrusted}
	switch {
	case err == nil && info.IsDir():
		onDisk.Bundle, err = capabilities.OpenDir(arg)
		return onDisk, err
	case err == nil:
		onDisk.Bundle, err = capabilities.BareModule(arg)
		return onDisk, err
	case bareID.MatchString(arg):
		id, digest := splitID(arg)
		return verified(capabilities.OpenStore(at.home.Path("capabilities")), id, digest, capabilities.UserInstalled)
	case strings.HasSuffix(arg, ".wasm") || strings.HasPrefix(arg, ".") || strings.HasPrefix(arg, "/"):
		return found{}, fault.New(fault.NotFound, "no_file", "%s: %w", arg, err)
	}
	return a.pullAside(ctx, at, arg, transport)
}

// pullAside pulls a bundle to look at or run once: what is installed stays as it is.
func (a *app) pullAside(ctx context.Context, at place, ref string, transport *transportFlags) (found, error) {
	pulled, err := a.ociClient(at, ref, transport).Pull(ctx, ref)
	if err != nil {
		return found{}, err
	}
	dir, err := at.home.MkdirAll("cache")
	if err != nil {
		return found{}, err
	}
	removeOld(dir)
	aside, err := os.MkdirTemp(dir, asidePrefix)
	if err != nil {
		return found{}, err
	}
	a.later(func() error { return os.RemoveAll(aside) })
	store := capabilities.OpenStore(aside)
	placed, err := store.PlacePulled(ctx, pulled)
	if err != nil {
		return found{}, err
	}
	return verified(store, placed.CapabilityID, placed.Digest, capabilities.Untrusted)
}

func verified(store *capabilities.Store, id, digest string, trust capabilities.TrustLevel) (found, error) {
	installed, err := store.Get(id, digest)
	if err != nil {
		return found{}, err
	}
	bundle, err := store.Verify(id, installed.Digest)
	return found{bundle, installed.Source, trust}, err
}

func splitID(arg string) (id, digest string) {
	id, digest, _ = strings.Cut(arg, "@")
	return id, digest
}

const asidePrefix = "aside-"

// removeOld removes what a killed process left of pulling aside.
func removeOld(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, asidePrefix+"*")) // the pattern is well formed
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(path) // the next one tries again
		}
	}
}
