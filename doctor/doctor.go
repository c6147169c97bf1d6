// Package doctor finds what capabilities want of a machine, and installs what is missing
// after a person saw the commands. What a manifest says chooses what to look for, never
// what to run.
package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/text"
)

const (
	together   = 8                // dependencies looked at at once
	maxLook    = 30 * time.Second // for all dependencies of one check
	maxProgram = 10 * time.Second // for one program that is asked something
	maxConnect = time.Second      // for one service or display
)

// Config is what a Doctor knows of where it is.
type Config struct {
	// Getenv reads the person's environment. nil is os.Getenv.
	Getenv func(string) string
	// Root is the project's folder, "" for none: no program in it is taken for one of the
	// machine's.
	Root string
}

// Doctor looks at this machine.
type Doctor struct {
	getenv func(string) string
	root   string
}

// New returns a Doctor.
func New(c Config) *Doctor {
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if real, err := filepath.EvalSymlinks(c.Root); err == nil && c.Root != "" {
		c.Root = real
	}
	return &Doctor{c.Getenv, c.Root}
}

// Check says of each dependency what this machine has, in the same order. It takes at most
// half a minute and changes nothing; what it could not look at in that time is Unknown.
func (d *Doctor) Check(ctx context.Context, dependencies []capabilities.Dependency) []capabilities.Verdict {
	ctx, cancel := context.WithTimeout(ctx, maxLook)
	defer cancel()
	l := d.look(ctx)
	verdicts := make([]capabilities.Verdict, len(dependencies))
	turn := make(chan struct{}, together)
	var all sync.WaitGroup
	for i, wanted := range dependencies {
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			verdicts[i] = l.verdict(ctx, wanted)
		})
	}
	all.Wait()
	return verdicts
}

// look is one round of looking, in which what several dependencies ask is found once.
type look struct {
	*Doctor
	path    []string // sound folders of PATH
	npmRoot func() (string, error)
	goBins  func() []string
}

func (d *Doctor) look(ctx context.Context) *look {
	l := &look{Doctor: d, path: d.soundPath()}
	l.npmRoot = sync.OnceValues(func() (string, error) { return l.findNPMRoot(ctx) })
	l.goBins = sync.OnceValue(func() []string { return l.findGoBins(ctx) })
	return l
}

// finding is what a detector found.
type finding struct {
	state  capabilities.DependencyState
	detail string
}

func (l *look) verdict(ctx context.Context, d capabilities.Dependency) capabilities.Verdict {
	f := l.find(ctx, d.Detector)
	v := capabilities.Verdict{
		DependencyID: text.Line(d.DependencyID, 128), Detector: text.Line(d.Detector, 512), Required: d.Required,
		State: f.state, Detail: text.Line(f.detail, 300),
	}
	if f.state == capabilities.Present {
		return v
	}
	packages, why := installs(d)
	v.Disallowed = why
	for _, p := range packages {
		v.Install = append(v.Install, p.String())
	}
	return v
}

// find looks for what a detector of the closed grammar names.
func (l *look) find(ctx context.Context, detector string) finding {
	if ctx.Err() != nil {
		return unknown("there was no time to look")
	}
	if mistake := capabilities.DetectorMistake(detector); mistake != "" {
		return unknown("it " + mistake)
	}
	kind, what, _ := strings.Cut(detector, ":")
	switch kind {
	case "binary":
		return l.binary(ctx, what)
	case managerApt:
		return l.debianPackage(ctx, what)
	case managerNPM:
		return l.npmPackage(what)
	case managerGo:
		return l.goProgram(ctx, what)
	case "service":
		return service(ctx, what)
	case "env":
		return l.variable(what)
	}
	return l.display(ctx, what)
}

func present(detail string) finding { return finding{capabilities.Present, detail} }
func missing(detail string) finding { return finding{capabilities.Missing, detail} }
func unknown(detail string) finding { return finding{capabilities.Unknown, detail} }
