package doctor

import (
	"context"
	"debug/buildinfo"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxGoPrograms bounds the programs of one folder that are looked into.
const maxGoPrograms = 256

// goProgram looks for a program that was built from a module, or from a package of one, in
// the folders that go install writes to and on PATH. The programs are read and not run. A
// module that is only a library belongs to each project's go.mod and is never found.
func (l *look) goProgram(ctx context.Context, module string) finding {
	name := programName(module)
	for _, dir := range append(slices.Clone(l.goBins()), l.path...) {
		if f, ok := builtFrom(filepath.Join(dir, name), module); ok {
			return f
		}
	}
	for _, dir := range l.goBins() { // under another name
		entries, _ := os.ReadDir(dir) // what cannot be read has nothing to show
		for _, e := range entries[:min(len(entries), maxGoPrograms)] {
			if ctx.Err() != nil {
				return unknown("there was no time to look")
			}
			if f, ok := builtFrom(filepath.Join(dir, e.Name()), module); ok {
				return f
			}
		}
	}
	return missing("no program built from " + module + " is installed")
}

// programName is what go install calls a package's program: the last part of its path that
// is no version.
func programName(module string) string {
	name := path.Base(module)
	if major := strings.TrimPrefix(name, "v"); major != name && strings.Trim(major, "0123456789") == "" {
		return path.Base(path.Dir(module))
	}
	return name
}

func builtFrom(file, module string) (finding, bool) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return finding{}, false
	}
	built, err := buildinfo.ReadFile(file)
	if err != nil || built.Path != module && built.Main.Path != module {
		return finding{}, false
	}
	return present(file + " " + built.Main.Version), true
}

// findGoBins are the folders that go install writes to, as go itself says, and last the
// default of a machine without go.
func (l *look) findGoBins(ctx context.Context) (bins []string) {
	add := func(dir string) {
		if filepath.IsAbs(dir) && !slices.Contains(bins, dir) {
			bins = append(bins, dir)
		}
	}
	if tool := l.manager("go"); tool != "" {
		if said, err := ask(ctx, append(l.environment(), "GOTOOLCHAIN=local"), tool, "env", "GOBIN", "GOPATH"); err == nil {
			bin, paths, _ := strings.Cut(said, "\n")
			add(strings.TrimSpace(bin))
			for _, dir := range filepath.SplitList(strings.TrimSpace(paths)) {
				add(filepath.Join(dir, "bin"))
			}
		}
	}
	add(filepath.Join(l.getenv("HOME"), "go", "bin"))
	return bins
}
