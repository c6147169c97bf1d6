package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
)

// resolve finds the bundle that an argument means: a folder or module on disk, an
// installed capability by ID[@digest], or an OCI reference.
func (a *app) resolve(ctx context.Context, at place, arg string, transport *transportFlags) (capabilities.Found, error) {
	info, err := os.Stat(arg)
	onDisk := capabilities.Found{Source: capabilities.Source{Kind: "local_path", Path: arg}, TrustLevel: capabilities.Untrusted}
	id, digest, isID := capabilities.SplitID(arg)
	switch {
	case err == nil && info.IsDir():
		onDisk.Bundle, err = capabilities.OpenDir(arg)
		return onDisk, err
	case err == nil:
		onDisk.Bundle, err = capabilities.BareModule(arg)
		return onDisk, err
	case isID:
		return a.find(ctx, at, id, digest)
	case strings.HasSuffix(arg, ".wasm") || strings.HasPrefix(arg, ".") || strings.HasPrefix(arg, "/"):
		return onDisk, fault.New(fault.NotFound, "no_file", "%s: %w", arg, err)
	}
	return a.pullAside(ctx, at, arg, transport)
}

// find returns an installed capability: without a digest the one that is enabled here, else
// the one that air enable would take.
func (a *app) find(ctx context.Context, at place, id, digest string) (capabilities.Found, error) {
	l, err := a.lifecycle(at)
	if err != nil {
		return capabilities.Found{}, err
	}
	if digest == "" {
		now, err := current(ctx, l, id)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return capabilities.Found{}, err
		}
		digest = now.Digest
	}
	return l.Find(id, digest)
}

// pullAside pulls a bundle to look at or run once: what is installed stays as it is.
func (a *app) pullAside(ctx context.Context, at place, ref string, transport *transportFlags) (capabilities.Found, error) {
	pulled, signatures, err := a.pull(ctx, at, a.ociClient(at, ref, transport), ref)
	if err != nil {
		return capabilities.Found{}, err
	}
	dir, err := at.home.MkdirAll("cache")
	if err != nil {
		return capabilities.Found{}, err
	}
	removeOld(dir)
	aside, err := os.MkdirTemp(dir, asidePrefix)
	if err != nil {
		return capabilities.Found{}, err
	}
	a.later(func() error { return os.RemoveAll(aside) })
	store := capabilities.OpenStore(aside)
	placed, err := store.PlacePulled(ctx, pulled, signatures)
	if err != nil {
		return capabilities.Found{}, err
	}
	bundle, err := store.Verify(placed.CapabilityID, placed.Digest)
	if err != nil {
		return capabilities.Found{}, err
	}
	found := capabilities.Found{Bundle: bundle, Source: placed.Source, TrustLevel: capabilities.Untrusted, Reference: placed.Reference}
	if found.Signer, found.Unsigned, err = judgeSignatures(at).signer(placed, ""); found.Signer != nil {
		found.TrustLevel = capabilities.VerifiedPublisher
	}
	return found, err
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
