package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/lazyregexp"
)

var (
	dotted = lazyregexp.New(`[0-9]+(\.[0-9]+){1,3}`)
	digits = lazyregexp.New(`[0-9]+`)
)

// binary looks for a program on PATH. It is run only where a version is wanted and air
// knows how that program is asked for it.
func (l *look) binary(ctx context.Context, what string) finding {
	name, wanted, _ := strings.Cut(what, ">=")
	path := l.program(name, l.path)
	if path == "" {
		return missing(name + " is not on PATH" + l.passedOver(name))
	}
	if wanted == "" {
		return present(path)
	}
	arguments, known := versionArguments(name)
	if !known {
		return unknown(fmt.Sprintf("%s is there; air does not know how to ask it for its version, wanted is %s", path, wanted))
	}
	said, err := ask(ctx, l.bare(path), append([]string{path}, arguments...)...)
	got := versionIn(said)
	switch {
	case err != nil || got == "":
		return unknown(fmt.Sprintf("%s did not say its version, wanted is %s", path, wanted))
	case compare(got, wanted) < 0:
		return finding{capabilities.Incompatible, fmt.Sprintf("%s is version %s, wanted is %s", path, got, wanted)}
	}
	return present(path + " " + got)
}

// passedOver says where a program lies that was not taken for one of the machine's.
func (l *look) passedOver(name string) string {
	for _, dir := range filepath.SplitList(l.getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return "; not counted is " + path + ": a project, or everybody, can write it"
		}
	}
	return ""
}

// bare is the environment of a program that is asked for its version. Without a home it
// reads nobody's settings and leaves nothing; what only forwards to a toolchain is told
// where the person's are.
func (l *look) bare(path string) []string {
	env := []string{
		"PATH=" + strings.Join(append([]string{filepath.Dir(path)}, systemPath...), ":"),
		"HOME=/dev/null", "LC_ALL=C", "TERM=dumb", "NO_COLOR=1",
		"GOTOOLCHAIN=local", "RUSTUP_AUTO_INSTALL=0", "COREPACK_ENABLE_NETWORK=0", // none fetches one
	}
	for variable, below := range map[string]string{"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv"} {
		if dir := cmp.Or(l.getenv(variable), filepath.Join(l.getenv("HOME"), below)); l.soundFolder(dir) {
			env = append(env, variable+"="+dir)
		}
	}
	return env
}

// versionIn is the first version that a program says: numbers joined by dots, or else one
// number.
func versionIn(said string) string {
	for _, form := range []*lazyregexp.Regexp{dotted, digits} {
		if at := form.FindStringIndex(said); at != nil {
			return said[at[0]:at[1]]
		}
	}
	return ""
}

// compare orders versions of numbers joined by dots, of any length. What is left out is 0.
func compare(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if order := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); order != 0 {
			return order
		}
	}
	return 0
}
