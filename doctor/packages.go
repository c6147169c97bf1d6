package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/regular"
)

// debianPackage asks dpkg, which knows what is installed and not what could be.
func (l *look) debianPackage(ctx context.Context, name string) finding {
	dpkg := l.manager("dpkg-query")
	if dpkg == "" {
		return unknown("this machine has no dpkg-query, which knows Debian packages")
	}
	said, err := ask(ctx, l.bare(dpkg), dpkg, "-W", "-f", `${db:Status-Status} ${Version}\n`, name)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return missing("the Debian package " + name + " is not installed")
	}
	if err != nil {
		return unknown("dpkg-query: " + firstLine(said))
	}
	for line := range strings.Lines(said) { // one for each architecture
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "installed "); ok {
			return present("Debian package " + name + " " + version)
		}
	}
	return missing("the Debian package " + name + " is not installed, though some of it may be left")
}

// maxPackageJSON bounds what is read of a package, in bytes.
const maxPackageJSON = 1 << 20

// npmPackage looks into the folder of npm's global packages.
func (l *look) npmPackage(name string) finding {
	root, err := l.npmRoot()
	if err != nil {
		return missing(fmt.Sprintf("the npm package %s is not installed: %v", name, err))
	}
	text, err := regular.Read(filepath.Join(root, name, "package.json"), maxPackageJSON, true)
	if errors.Is(err, fs.ErrNotExist) {
		return missing("the npm package " + name + " is not installed globally")
	}
	var about struct{ Version string }
	if err != nil || json.Unmarshal(text, &about) != nil {
		return unknown("the npm package " + name + " cannot be read in " + root)
	}
	return present("npm package " + name + " " + about.Version)
}

// findNPMRoot asks npm, whose settings of the person say where it installs.
func (l *look) findNPMRoot(ctx context.Context) (string, error) {
	npm := l.manager("npm")
	if npm == "" {
		return "", errors.New("there is no npm on this machine")
	}
	said, err := ask(ctx, l.environment(), npm, "root", "--global")
	root := firstLine(said)
	if err != nil || !filepath.IsAbs(root) {
		return "", errors.New("npm does not say where its global packages lie")
	}
	return root, nil
}
