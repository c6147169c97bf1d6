package doctor

import (
	"regexp"
	"testing"

	"github.com/aircoding/air/capabilities"
)

// Whatever a manifest declares, what is planned is one of three commands with a name that
// no manager and no shell reads as anything else.
func FuzzInstalls(f *testing.F) {
	f.Add("binary:x", "npm:@a/b@1.0.0", "apt-get install -y jq")
	f.Add("go:modules.example/x", "go:modules.example/x@latest", "go install modules.example/x@v1.0.0")
	f.Add("apt:a.", "-o x", "npm install --global x.tgz")
	form := regexp.MustCompile(`^(apt-get install -y --no-install-recommends -o APT::Cmd::Pattern-Only=true [a-z0-9][a-z0-9.+-]*[a-z0-9+]|` +
		`npm install --global --ignore-scripts (@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(@[0-9A-Za-z][0-9A-Za-z.+-]*)?|` +
		`go install [a-z0-9][a-z0-9.-]*(/[A-Za-z0-9_~][A-Za-z0-9._~-]*)*@(latest|v[0-9][0-9A-Za-z.+-]*))$`)
	f.Fuzz(func(t *testing.T, detector, name, command string) {
		for _, i := range []capabilities.Installer{
			{PackageNames: []string{name}}, {Commands: []string{command}}, {PackageNames: []string{name}, Commands: []string{command}}, {},
		} {
			i.Strategy = "doctor_allowlisted"
			packages, why := installs(capabilities.Dependency{Kind: "binary", Detector: detector, Installer: &i})
			if why != "" && len(packages) > 0 {
				t.Errorf("refused by %q, and planned", why)
			}
			for _, p := range packages {
				if !form.MatchString(p.String()) {
					t.Errorf("%q is planned", p.String())
				}
			}
		}
	})
}
