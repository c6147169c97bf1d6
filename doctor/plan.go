package doctor

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/text"
)

// Need is a dependency of a capability, and what was found of it.
type Need struct {
	CapabilityID string
	Dependency   capabilities.Dependency
	Verdict      capabilities.Verdict
}

// met reports whether nothing has to be done, as far as air can tell.
func (n Need) met() bool {
	return n.Verdict.State == capabilities.Present || n.Verdict.State == capabilities.Unknown
}

// Plan is what would be run to install what is missing, and what is left to the person.
type Plan struct {
	Steps  []Step   `json:"steps"`
	Manual []Manual `json:"manual"`
}

// Step is one command of a package manager.
type Step struct {
	pkg      pkg      // what is run is made of it; a step that is of no plan runs nothing
	Command  []string `json:"command"`
	For      []string `json:"for"`      // the dependencies, as CAPABILITY/DEPENDENCY
	Required bool     `json:"required"` // one of them is
}

// String is the command as a person would type it: no part of one needs quotes.
func (s Step) String() string { return strings.Join(s.Command, " ") }

// Manual is what air does not do.
type Manual struct {
	For  string `json:"for"`
	What string `json:"what"`
}

// NewPlan plans the installation of what is missing or too old. Every command is shown once,
// Debian packages first, since they may bring npm or go.
func NewPlan(needs []Need) Plan {
	p := Plan{Steps: []Step{}, Manual: []Manual{}}
	for _, n := range needs {
		if n.met() {
			continue
		}
		packages, _ := installs(n.Dependency)
		for _, one := range packages {
			p.add(one, n)
		}
		if len(packages) == 0 {
			p.Manual = append(p.Manual, Manual{n.name(), text.Line(n.byHand(), 600)})
		}
	}
	order := []string{managerApt, managerNPM, managerGo}
	slices.SortStableFunc(p.Steps, func(a, b Step) int {
		return cmp.Compare(slices.Index(order, a.pkg.manager), slices.Index(order, b.pkg.manager))
	})
	return p
}

// ForPerson is the plan without what takes root, which is left to whoever is not.
func (p Plan) ForPerson(root bool) Plan {
	left := Plan{Steps: []Step{}, Manual: slices.Clone(p.Manual)}
	for _, s := range p.Steps {
		if root || !s.needsRoot() {
			left.Steps = append(left.Steps, s)
			continue
		}
		left.Manual = append(left.Manual, Manual{strings.Join(s.For, ", "), "sudo " + s.String()})
	}
	return left
}

func (p *Plan) add(one pkg, n Need) {
	at := slices.IndexFunc(p.Steps, func(s Step) bool { return s.pkg == one })
	if at < 0 {
		at = len(p.Steps)
		p.Steps = append(p.Steps, Step{pkg: one, Command: one.command()})
	}
	s := &p.Steps[at]
	s.For = append(s.For, n.name())
	s.Required = s.Required || n.Dependency.Required
}

func (n Need) name() string {
	return text.Line(n.CapabilityID+"/"+n.Dependency.DependencyID, 200)
}

// byHand says what a person can do about a dependency.
func (n Need) byHand() string {
	kind, what, _ := strings.Cut(n.Dependency.Detector, ":")
	do := "install what " + n.Dependency.Detector + " looks for"
	switch kind {
	case "env":
		do = "set the variable " + what + " where air is started"
	case "service":
		do = "start the service that is to answer at " + what
	case "display":
		do = "start air where there is a display (" + what + ")"
	}
	if why := n.Verdict.Disallowed; why != "" {
		do += "; its installer is never run: " + why
	}
	return do + n.suggested()
}

// suggested is what the publisher declares and air does not run, as a quotation.
func (n Need) suggested() string {
	i := n.Dependency.Installer
	if i == nil {
		return ""
	}
	said := ""
	if len(i.Commands) > 0 {
		said += fmt.Sprintf("; its publisher would run %q", shown(i.Commands))
	}
	if len(i.PackageNames) > 0 {
		said += fmt.Sprintf("; its publisher names %q", shown(i.PackageNames))
	}
	return said
}

func shown(lines []string) (safe []string) {
	for _, line := range lines[:min(len(lines), maxPackages)] {
		safe = append(safe, text.Line(line, 200))
	}
	return safe
}

// Write shows the plan to a person.
func (p Plan) Write(w io.Writer) error {
	var b strings.Builder
	if len(p.Steps) > 0 {
		b.WriteString("These commands install what is missing, as you, with your network:\n")
	}
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "  %s\n      for %s%s\n", s, strings.Join(s.For, ", "), s.note())
	}
	if len(p.Manual) > 0 {
		b.WriteString("Left to you:\n")
	}
	for _, m := range p.Manual {
		fmt.Fprintf(&b, "  %s: %s\n", m.For, m.What)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Step) note() string {
	if !s.Required {
		return " (optional)"
	}
	return ""
}
