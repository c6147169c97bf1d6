package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/doctor"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/sandbox"
)

// ownWants is what air itself wants to be installed. Without git only the tools of git are
// missing; merging in a worktree takes this version.
var ownWants = []capabilities.Dependency{{
	DependencyID: "git", Kind: "binary", Detector: "binary:git>=2.38",
	Installer: &capabilities.Installer{Strategy: "doctor_allowlisted", PackageNames: []string{"git"}},
}}

// lookAround finds what air, and what the capabilities that are meant, have and lack here.
func (a *app) lookAround(ctx context.Context, at place, args []string) (checkup, error) {
	found := checkup{Air: []capabilities.Verdict{a.ownSandbox(ctx), ownFolder(at), a.ownName()}, Capabilities: []wants{}}
	d := a.doctor(at)
	own := d.Check(ctx, ownWants)
	found.Air = append(found.Air, own...)
	found.need("air", ownWants, own)
	meant, err := a.meant(ctx, at, args)
	if err != nil {
		return found, err
	}
	for _, c := range meant {
		w := wants{ID: c.id, Digest: c.digest, Dependencies: []capabilities.Verdict{}}
		if c.err != nil {
			w.Error = c.err.Error()
		} else {
			w.Version, w.Digest = c.found.Manifest.Version, c.found.Digest
			w.Dependencies = d.Check(ctx, c.found.Manifest.Dependencies)
			found.need(w.ID, c.found.Manifest.Dependencies, w.Dependencies)
		}
		found.Capabilities = append(found.Capabilities, w)
	}
	return found, context.Cause(ctx)
}

func (c *checkup) need(id string, dependencies []capabilities.Dependency, verdicts []capabilities.Verdict) {
	for i, d := range dependencies {
		c.needs = append(c.needs, doctor.Need{CapabilityID: id, Dependency: d, Verdict: verdicts[i]})
	}
}

// meant is a capability that doctor was asked about, or why it cannot be read.
type meant struct {
	id, digest string
	found      capabilities.Found
	err        error
}

// meant are the capabilities that were named, as they are enabled where they are, or else
// all that are enabled. What was named and is not there is an error.
func (a *app) meant(ctx context.Context, at place, args []string) ([]meant, error) {
	l, err := a.lifecycle(at)
	if err != nil {
		return nil, err
	}
	enabled, err := l.Current(ctx)
	if err != nil {
		return nil, err
	}
	var all []meant
	for _, arg := range args {
		id, digest, err := idArgument(arg)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(enabled, func(c capabilities.Current) bool { return c.ID == id }); i >= 0 {
			digest = cmp.Or(digest, enabled[i].Digest)
		}
		c, err := l.Find(id, digest)
		if err != nil {
			return nil, err
		}
		all = append(all, meant{id: id, found: c})
	}
	if len(args) > 0 {
		return all, nil
	}
	for _, e := range enabled {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, err := l.Find(e.ID, e.Digest)
		all = append(all, meant{e.ID, e.Digest, c, err})
	}
	return all, nil
}

// ownSandbox tells whether commands can be held here. Without that shell.run asks about each.
func (a *app) ownSandbox(ctx context.Context) capabilities.Verdict {
	v := capabilities.Verdict{DependencyID: "sandbox", State: capabilities.Present}
	tier := sandbox.CommandTier(ctx)
	if v.Detail = oneLine(tier.Reason); !tier.Held {
		v.State = capabilities.Missing
	}
	return v
}

// ownFolder tells whether air's folder is the person's alone.
func ownFolder(at place) capabilities.Verdict {
	v := capabilities.Verdict{DependencyID: "folder", Required: true, State: capabilities.Present, Detail: at.home.Dir}
	info, err := os.Stat(at.home.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.Detail += " is made when something is kept"
	case err != nil:
		v.State, v.Detail = capabilities.Missing, fault.IO("looking at air's folder", err).Error()
	case info.Mode().Perm()&0o077 != 0:
		v.State = capabilities.Incompatible
		v.Detail += " is open to others: chmod 700 closes it"
	}
	return v
}

// ownName tells whether the name air means this program to a shell: a live-reload tool has
// the same name.
func (a *app) ownName() capabilities.Verdict {
	v := capabilities.Verdict{DependencyID: "name", State: capabilities.Present}
	self, err := os.Executable()
	first := firstOnPath(a.getenv("PATH"), "air")
	switch {
	case err != nil:
		v.State, v.Detail = capabilities.Unknown, err.Error()
	case first == "":
		v.State, v.Detail = capabilities.Missing, "air is not on PATH: it is "+self
	case sameFile(first, self):
		v.Detail = first
	default:
		v.State = capabilities.Incompatible
		v.Detail = "air means " + first + madeOf(first) + ", which is first on PATH; this is " + self
	}
	return v
}

// firstOnPath is what a shell would start, sound or not.
func firstOnPath(path, name string) string {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(cmp.Or(dir, "."), name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// madeOf names the module that a Go program was built from, without running it.
func madeOf(file string) string {
	built, err := buildinfo.ReadFile(file)
	if err != nil || built.Main.Path == "" {
		return ""
	}
	return " (" + oneLine(built.Main.Path) + ")"
}
