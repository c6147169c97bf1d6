package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/gitsource"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/oci"
)

// installGit installs from what the command line says.
func (a *app) installGit(ctx context.Context, at place, arg string) (capabilities.Installed, error) {
	source, err := gitsource.Parse(arg)
	if err != nil {
		return capabilities.Installed{}, err
	}
	return a.placeGit(ctx, at, source, nil)
}

// updateGit fetches the branch or tag again that a capability was installed from.
func (a *app) updateGit(ctx context.Context, at place, now capabilities.Current) (capabilities.Installed, error) {
	source, err := gitsource.Recorded(now.Source.URL, now.Asked)
	if err == nil && (now.Asked == "" || source.Pinned()) {
		err = fault.New(fault.InvalidInput, "pinned", "%s was installed by its commit, so there is nothing newer under that name", now.ID).
			WithHint("air install %s%s@BRANCH, then air update %s@sha256:…", gitsource.Prefix, now.Source.URL, now.ID)
	}
	if err != nil {
		return capabilities.Installed{}, err
	}
	return a.placeGit(ctx, at, source, nil)
}

// restoreGit brings the commit of a lock, if it still holds the bundle of the lock's digest.
func (a *app) restoreGit(ctx context.Context, at place, id string, pinned capabilities.Locked) (capabilities.Installed, error) {
	if !gitsource.Travels(pinned.Source.URL) {
		return capabilities.Installed{}, fault.New(fault.NotFound, "not_restorable", "%s is pinned from a git repository of another machine, %s", id, pinned.Source).
			WithHint("air install the same from where it is here; or push it to a registry, and pin that")
	}
	source, err := gitsource.Recorded(pinned.Source.URL, pinned.Source.Ref)
	if err == nil && !source.Pinned() {
		err = fault.New(fault.InvalidInput, "bad_lock", "the lock names no commit of %s for %s", pinned.Source.URL, id).WithHint("air lock writes it anew")
	}
	if err != nil {
		return capabilities.Installed{}, err
	}
	return a.placeGit(ctx, at, source, func(b *capabilities.Bundle) error {
		if b.Digest != pinned.Digest {
			return fault.New(fault.Integrity, "other_digest", "%s has %s, and the lock pins %s for %s", pinned.Source, b.Digest, pinned.Digest, id).
				WithHint("somebody changed the lock by hand: air lock writes it anew")
		}
		return sameID(id, b.Manifest.CapabilityID, nil)
	})
}

// placeGit fetches one commit to a folder that is removed again, and installs from it what
// check, where there is one, has nothing against.
func (a *app) placeGit(ctx context.Context, at place, source gitsource.Source, check func(*capabilities.Bundle) error) (i capabilities.Installed, err error) {
	program := gitsource.Program{Getenv: a.getenv}
	if program.File, program.Path = a.doctor(at).Program("git"); program.File == "" {
		return i, fault.New(fault.DependencyMissing, "git", "installing from a repository needs git").WithHint("install it (Debian: git)")
	}
	dir, remove, err := fetchFolder(ctx, at.home)
	if err != nil {
		return i, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	a.working("fetching %s", source.URL)
	bundle, commit, err := checkOut(ctx, program, dir, source)
	if err != nil {
		return i, err
	}
	if check != nil {
		if err := check(bundle); err != nil {
			return i, err
		}
	}
	i, err = store(at).PlaceAsked(ctx, bundle, capabilities.Source{Kind: "git", URL: source.Record(), Ref: commit}, source.Asked())
	if err == nil {
		a.compileAhead(ctx, at, i)
	}
	return i, err
}

// checkOut fetches a commit to dir, and reads the bundle in it. Nothing else is written.
func checkOut(ctx context.Context, program gitsource.Program, dir string, source gitsource.Source) (*capabilities.Bundle, string, error) {
	objects, files := filepath.Join(dir, "git"), filepath.Join(dir, "files")
	if err := errors.Join(os.Mkdir(objects, 0o700), os.Mkdir(files, 0o700)); err != nil {
		return nil, "", err
	}
	r, err := gitsource.Fetch(ctx, program, objects, source)
	if err != nil {
		return nil, "", err
	}
	target, err := os.OpenRoot(files)
	if err != nil {
		return nil, "", err
	}
	defer target.Close()
	bounds := gitsource.Bounds{Files: oci.MaxLayers + 2, Bytes: oci.MaxLayer, Total: oci.MaxLayerBytes}
	if err := r.Extract(ctx, target, bounds, capabilities.BundleNames()...); err != nil {
		return nil, "", err
	}
	bundle, err := readFetched(ctx, r, target, bounds, files)
	return bundle, r.Commit, inRepository(err, r, files)
}

// readFetched adds the module, whose name the manifest says, to the files.
func readFetched(ctx context.Context, r *gitsource.Repository, target *os.Root, bounds gitsource.Bounds, files string) (*capabilities.Bundle, error) {
	manifest, err := capabilities.ReadManifest(files)
	if err != nil {
		return nil, err
	}
	module := manifest.Entrypoint.Module
	if _, err := target.Lstat(module); errors.Is(err, fs.ErrNotExist) {
		if err := r.Extract(ctx, target, bounds, module); err != nil {
			return nil, err
		}
	}
	return capabilities.OpenDir(files)
}

// inRepository says of an error in what was fetched where that is: the folder is gone when
// somebody reads it.
func inRepository(err error, r *gitsource.Repository, files string) error {
	if err == nil {
		return nil
	}
	e := *fault.From(err)
	e.Message = strings.ReplaceAll(e.Message, files, r.String())
	if e.Code == "no_module" {
		e.Message += " in " + r.String()
		e.Hint = "nothing is built from a repository: its owner commits the module, or you clone it, air build it and air install the folder"
	}
	return &e
}

// fetchFolder makes a folder below ~/.air that is removed after use. What a killed process
// left of one is removed first: nobody holds its lock any more.
func fetchFolder(ctx context.Context, h home.Home) (dir string, remove func() error, err error) {
	all, err := h.MkdirAll("cache", "git")
	if err != nil {
		return "", nil, err
	}
	done, err := home.Lock(ctx, filepath.Join(all, ".lock"))
	if err != nil {
		return "", nil, err
	}
	defer done()
	left, _ := filepath.Glob(filepath.Join(all, "run-*.lock")) // the pattern is well formed
	for _, lock := range left {
		if unlock, free, err := home.TryLock(lock); err == nil && free {
			_ = removeFetched(lock) // the next one tries again
			unlock()
		}
	}
	f, err := os.CreateTemp(all, "run-*.lock")
	if err != nil {
		return "", nil, err
	}
	unlock, _, err := home.TryLock(f.Name())
	if err := errors.Join(err, f.Close()); err != nil {
		return "", nil, err
	}
	remove = func() error {
		defer unlock()
		return removeFetched(f.Name())
	}
	dir = strings.TrimSuffix(f.Name(), ".lock")
	return dir, remove, os.Mkdir(dir, 0o700)
}

func removeFetched(lock string) error {
	return errors.Join(os.RemoveAll(strings.TrimSuffix(lock, ".lock")), os.Remove(lock))
}
