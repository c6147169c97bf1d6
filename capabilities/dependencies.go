package capabilities

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/yamldoc"
)

var (
	dependencyKinds = []string{"system_package", "binary", "language_package", "service", "model", "provider", "display_backend"}
	strategies      = []string{"doctor_allowlisted", "manual", "unsupported"}

	dependencyID = lazyregexp.New(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$`)
	binaryName   = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}(>=[0-9]+(\.[0-9]+){0,3})?$`)
	variable     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

	// Packages are narrower than what the managers take: no option, no path, no address, no
	// removal (apt-get's trailing minus), no file (npm takes x.tgz for one) and nothing that
	// a shell or a manager expands.
	debianPackage = lazyregexp.New(`^[a-z0-9]([a-z0-9.+-]{0,126}[a-z0-9+])$`)
	npmPackage    = lazyregexp.New(`^(@[a-z0-9][a-z0-9._-]{0,127}/)?[a-z0-9][a-z0-9._-]{0,127}$`)
	npmFile       = lazyregexp.New(`\.(tgz|tar|tar\.gz)$`)
	goModule      = lazyregexp.New(`^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)+(/[A-Za-z0-9_~][A-Za-z0-9._~-]*)*$`)
)

func checkDependencies(list []Dependency, p *problems) {
	checkLength(len(list), "/dependencies", p)
	seen := map[string]bool{}
	for i, d := range list {
		here := item("/dependencies", i)
		if !dependencyID.MatchString(d.DependencyID) {
			p.add(here+"/dependency_id", "%.80q is no dependency's name", d.DependencyID)
		}
		if seen[d.DependencyID] {
			p.add(here+"/dependency_id", "%.80q is declared twice", d.DependencyID)
		}
		seen[d.DependencyID] = true
		checkChoice(d.Kind, dependencyKinds, here+"/kind", p)
		if why := DetectorMistake(d.Detector); why != "" {
			p.add(here+"/detector", "%.100q %s", d.Detector, why)
		}
		checkCharacters(d.PermissionNotes, maxText, here+"/permission_notes", p)
		if d.Installer != nil {
			checkInstaller(*d.Installer, here+"/installer", p)
		}
	}
}

func checkInstaller(i Installer, at string, p *problems) {
	checkChoice(i.Strategy, strategies, at+"/strategy", p)
	checkLines(i.Commands, at+"/commands", p)
	checkLines(i.PackageNames, at+"/package_names", p)
}

func checkChoice(got string, known []string, at string, p *problems) {
	if slices.Contains(known, got) {
		return
	}
	if near := yamldoc.Nearest(got, known); near != "" {
		p.add(at, "%.60q is unknown, did you mean %s?", got, near)
		return
	}
	p.add(at, "%.60q is none of %s", got, strings.Join(known, ", "))
}

// DetectorMistake says what is wrong with a detector, as the rest of a sentence, "" for
// nothing. Its grammar is closed: a manifest names what to look for and never how.
func DetectorMistake(detector string) string {
	const grammar = "is no detector: binary:NAME[>=VERSION], apt:PKG, npm:PKG, go:MODULE, service:HOST:PORT, env:NAME or display:x11|wayland"
	kind, what, _ := strings.Cut(detector, ":")
	ok := false
	switch kind {
	case "binary":
		ok = binaryName.MatchString(what)
	case "apt":
		ok = debianPackage.MatchString(what)
	case "npm":
		ok = npmPackage.MatchString(what) && !npmFile.MatchString(what)
	case "go":
		ok = goModule.MatchString(what) && len(what) <= 256
	case "env":
		ok = variable.MatchString(what)
	case "display":
		ok = what == "x11" || what == "wayland"
	case "service":
		return badService(what)
	}
	if !ok {
		return grammar
	}
	return ""
}

func badService(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "is no service:HOST:PORT"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "has no port between 1 and 65535"
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "is not on this machine: only localhost and loopback addresses are looked at"
	}
	return ""
}
