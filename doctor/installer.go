package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/text"
)

// The package managers that are ever run, by their prefix in package_names.
const (
	managerApt = "apt"
	managerNPM = "npm"
	managerGo  = "go"
)

// maxPackages bounds what is installed for one dependency.
const maxPackages = 16

// The versions that managers are given behind a name that a detector may have: no file (npm
// takes x.tgz for one) and nothing that a shell or a manager expands.
var (
	npmVersion = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$`)
	npmFile    = lazyregexp.New(`\.(tgz|tar|tar\.gz)$`)
	goVersion  = lazyregexp.New(`^(latest|v[0-9]+\.[0-9]+\.[0-9]+([.+-][0-9A-Za-z.+-]{0,64})?)$`)
)

// pkg is something that a manager can install.
type pkg struct{ manager, name, version string }

// command is how it is installed: the only three forms there are. apt-get takes a name that
// it does not know for a regular expression unless it is told not to.
func (p pkg) command() []string {
	switch p.manager {
	case managerApt:
		return []string{"apt-get", "install", "-y", "--no-install-recommends", "-o", "APT::Cmd::Pattern-Only=true", p.name}
	case managerNPM:
		name := p.name
		if p.version != "" {
			name += "@" + p.version
		}
		return []string{"npm", "install", "--global", "--ignore-scripts", name}
	case managerGo:
		return []string{"go", "install", p.name + "@" + p.version}
	}
	return nil
}

// String is the command as a person would type it.
func (p pkg) String() string { return strings.Join(p.command(), " ") }

// installs are the packages that would be installed for a dependency. why says what of its
// declared installer is never run, and then there are none. Both are empty where it
// declares none, or leaves it to the person.
func installs(d capabilities.Dependency) (packages []pkg, why string) {
	if d.Installer == nil || d.Installer.Strategy != "doctor_allowlisted" {
		return nil, ""
	}
	if why := neverInstalled(d); why != "" {
		return nil, why
	}
	for _, command := range d.Installer.Commands {
		some, ok := commandPackages(command)
		if !ok {
			return nil, fmt.Sprintf("air runs no command of a manifest, and %q is none of the forms that it would run itself", text.Line(command, 200))
		}
		packages = append(packages, some...)
	}
	usual := usualManager(d.Detector)
	for _, name := range d.Installer.PackageNames {
		p, ok := namedPackage(name, usual)
		if !ok {
			return nil, fmt.Sprintf("%q is no package that air would install", text.Line(name, 200))
		}
		packages = append(packages, p)
	}
	if p, ok := namedPackage(d.Detector, ""); ok && len(packages) == 0 {
		packages = []pkg{p}
	}
	return allowed(packages)
}

func allowed(packages []pkg) ([]pkg, string) {
	slices.SortFunc(packages, func(a, b pkg) int { return strings.Compare(a.String(), b.String()) })
	packages = slices.Compact(packages)
	if len(packages) > maxPackages {
		return nil, fmt.Sprintf("it names %d packages, the limit is %d", len(packages), maxPackages)
	}
	return packages, ""
}

// neverInstalled says why nothing is installed for a dependency, whatever it declares: what
// takes a credential, or is started or set rather than installed.
func neverInstalled(d capabilities.Dependency) string {
	kind, _, _ := strings.Cut(d.Detector, ":")
	switch {
	case d.Kind == "provider" || kind == "env":
		return "credentials and settings are a person's to give"
	case d.Kind == "model":
		return "models are a person's to choose"
	case d.Kind == "service" || kind == "service":
		return "services are a person's to start"
	}
	return ""
}

// usualManager is that of a package name without a prefix.
func usualManager(detector string) string {
	if kind, _, _ := strings.Cut(detector, ":"); kind == managerNPM || kind == managerGo {
		return kind
	}
	return managerApt
}

// namedPackage reads [apt:|npm:|go:]NAME[@VERSION]. usual is the manager where the name has
// none, "" to take no such name.
func namedPackage(text, usual string) (pkg, bool) {
	manager, name, found := strings.Cut(text, ":")
	if !found {
		manager, name = usual, text
	}
	name, version, versioned := cutVersion(name)
	p := pkg{manager, name, version}
	named := capabilities.DetectorMistake(manager+":"+name) == ""
	switch manager {
	case managerApt:
		return p, named && !versioned
	case managerNPM:
		return p, named && (!versioned || npmVersion.MatchString(version) && !npmFile.MatchString(version))
	case managerGo:
		if !versioned {
			p.version = "latest"
		}
		return p, named && goVersion.MatchString(p.version)
	}
	return pkg{}, false
}

// cutVersion splits NAME@VERSION, where NAME may begin with the @ of an npm scope.
func cutVersion(text string) (name, version string, found bool) {
	if at := strings.LastIndex(text, "@"); at > 0 {
		return text[:at], text[at+1:], true
	}
	return text, "", false
}

// commandPackages reads a command of a manifest. It has to be one that air would run: only
// its packages are taken from it.
func commandPackages(command string) (packages []pkg, ok bool) {
	words := strings.Split(command, " ")
	for _, form := range []struct {
		manager string
		must    []string
		may     []string
	}{
		{managerApt, []string{"apt-get", "install"}, []string{"-y", "--yes", "--no-install-recommends", "-o", "APT::Cmd::Pattern-Only=true"}},
		{managerNPM, []string{"npm", "install", "--global"}, []string{"--ignore-scripts"}},
		{managerNPM, []string{"npm", "install", "-g"}, []string{"--ignore-scripts"}},
		{managerGo, []string{"go", "install"}, nil},
	} {
		if len(words) < len(form.must) || !slices.Equal(words[:len(form.must)], form.must) {
			continue
		}
		for _, word := range words[len(form.must):] {
			if slices.Contains(form.may, word) {
				continue
			}
			p, ok := namedPackage(form.manager+":"+word, "")
			if !ok {
				return nil, false
			}
			packages = append(packages, p)
		}
		return packages, len(packages) > 0
	}
	return nil, false
}
