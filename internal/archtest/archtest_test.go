// Package archtest states who may import whom, and fails when somebody else does.
// docs/ARCHITECTURE.md explains the folders; this is the table that counts.
package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/aircoding/air/"

// layers says which of our packages each package may import. A package goes by its
// longest entry; "x/…" covers x and all below. Tests may import everything but main.
var layers = map[string][]string{
	"hostabi":                   {},
	"resources":                 {},
	"internal/…":                {"internal/…", "hostabi"},
	"internal/rig":              {"…"}, // a whole air for tests, see testOnly
	"oci":                       {"internal/…"},
	"runtime/permission":        {"internal/…"},
	"runtime/command":           {"internal/…", "runtime/permission"},
	"runtime/command/interpret": {"internal/…", "runtime/permission", "runtime/command"},
	"runtime/network":           {"internal/…", "runtime", "runtime/permission"},
	"runtime/runner":            {"internal/…", "runtime", "runtime/network", "runtime/permission", "runtime/command", "runtime/command/interpret", "runtime/sandbox"},
	"runtime/event":             {"internal/…"},
	"runtime/artifact":          {"internal/…", "runtime/event"},
	"runtime/session":           {"internal/…", "runtime/event", "runtime/artifact"},
	"runtime":                   {"internal/…", "runtime/event", "runtime/artifact", "runtime/session", "runtime/permission", "runtime/backup"},
	"runtime/backup":            {"internal/…"},
	"runtime/secret":            {"internal/…"},
	"runtime/sandbox":           {},
	"runtime/engine/…":          {"internal/…", "hostabi", "runtime", "runtime/permission", "runtime/sandbox", "runtime/engine/…"},
	"capabilities":              {"internal/…", "hostabi", "oci", "resources", "runtime", "runtime/event", "runtime/permission"},
	"builtin/…":                 {"internal/…", "runtime", "runtime/artifact", "runtime/backup", "runtime/permission", "runtime/command"},
	"trust":                     {"internal/…"},
	"doctor":                    {"internal/…", "capabilities"},
	"cmd/air":                   {"…"},
	"wasmtests/…":               {"internal/…", "hostabi", "wasmtests/…"},
}

// testOnly are packages that only tests import.
var testOnly = []string{"internal/rig"}

// A built-in tool reaches the world through runtime.Access: it is handed files and
// connections, and opens none. What a guest calls in hostabi reaches its call, the clock
// and random numbers.
var outOfReach = map[string][]string{
	"hostabi":   {"os", "os/…", "net", "net/…", "syscall", "path/filepath", "plugin", "unsafe", "golang.org/x/sys/…"},
	"builtin/…": {"os", "os/…", "net", "net/…", "syscall", "path/filepath", "plugin", "unsafe", "golang.org/x/sys/…"},
}

// doors says which package opens each dependency. More than one needs its reason here.
var doors = map[string][]string{
	"cuelabs.dev/go/oci/ociregistry":                    {"oci"},
	"github.com/bmatcuk/doublestar/v4":                  {"internal/glob"},
	"github.com/elastic/go-seccomp-bpf":                 {"runtime/sandbox"},
	"github.com/gabriel-vasile/mimetype":                {"internal/mediatype"},
	"github.com/google/go-containerregistry":            {"oci"},
	"github.com/google/uuid":                            {"internal/ids"},
	"github.com/gowebpki/jcs":                           {"internal/canon"},
	"github.com/landlock-lsm/go-landlock":               {"runtime/sandbox"},
	"github.com/opencontainers/image-spec":              {"oci"},
	"github.com/rogpeppe/go-internal":                   {"cmd/air"},
	"github.com/santhosh-tekuri/jsonschema/v6":          {"internal/schema"},
	"github.com/spf13/cobra":                            {"cmd/air"},
	"github.com/spf13/pflag":                            {"cmd/air"}, // cobra's own flags, for the reference of commands
	"github.com/spf13/viper":                            {"internal/config"},
	"github.com/tetratelabs/wazero":                     {"runtime/engine/wazero"},
	"github.com/vbauerster/mpb/v8":                      {"internal/progress"},
	"github.com/klauspost/compress":                     {"oci"},
	"github.com/secure-systems-lab/go-securesystemslib": {"trust"},
	"go.yaml.in/yaml/v3":                                {"internal/yamldoc"},
	"kernel.org/pub/linux/libs/security/libcap/psx":     {"runtime/sandbox"},
	"modernc.org/sqlite":                                {"internal/sqlite"},
	"mvdan.cc/sh/v3":                                    {"runtime/command", "runtime/command/interpret"}, // the analysis, and the interpreter
	// What the Go project itself maintains beside the standard library, where needed.
	"golang.org/x/mod":  {"capabilities"},    // the order of versions
	"golang.org/x/net":  {"runtime/sandbox"}, // the assembler of packet filters
	"golang.org/x/sync": {"…"},
	"golang.org/x/sys":  {"…"},
	"golang.org/x/term": {"…"},
	"golang.org/x/text": {"…"},
}

func TestImportRules(t *testing.T) {
	files, err := sources("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d files found: the walk is broken", len(files))
	}
	for _, b := range breaches(files) {
		t.Error(b)
	}
}

// TestEveryEntryIsUsed keeps the tables true, and as tight as the code, when packages,
// imports and dependencies go.
func TestEveryEntryIsUsed(t *testing.T) {
	files, err := sources("../..")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, f := range files {
		for _, what := range f.uses() {
			used[what] = true
		}
	}
	for _, want := range slices.Sorted(maps.Keys(entries())) {
		if !used[want] {
			t.Errorf("the tables say that %s, and the code does not", want)
		}
	}
}

// entries says what the tables hold.
func entries() map[string]bool {
	all := map[string]bool{}
	for entry, allowed := range layers {
		all["there is a package "+entry] = true
		for _, a := range allowed {
			all[entry+" imports "+a] = true
		}
	}
	for entry := range outOfReach {
		all["there is a package "+entry] = true
	}
	for _, p := range testOnly {
		all["a test imports "+p] = true
	}
	for dependency, packages := range doors {
		for _, p := range packages {
			all[p+" imports "+dependency] = true
		}
	}
	return all
}

// uses says what of the tables a file makes true.
func (f source) uses() (what []string) {
	layer, _ := longest(layers, f.dir)
	far, _ := longest(outOfReach, f.dir)
	what = append(what, "there is a package "+layer, "there is a package "+far)
	for _, path := range f.imports {
		own, isOwn := strings.CutPrefix(path, module)
		switch {
		case isOwn && f.test():
			what = append(what, "a test imports "+own)
		case isOwn && own != f.dir:
			for _, a := range layers[layer] {
				if covers(a, own) {
					what = append(what, layer+" imports "+a)
				}
			}
		case !isOwn:
			door, _ := longest(doors, path)
			what = append(what, f.dir+" imports "+door, "… imports "+door)
		}
	}
	return what
}

// TestBreachesAreFound proves that the rules can fail.
func TestBreachesAreFound(t *testing.T) {
	for _, c := range []struct {
		file source
		want string // "" for no breach
	}{
		{source{"hostabi", "a.go", []string{"fmt", "io"}}, ""},
		{source{"hostabi", "a.go", []string{module + "internal/fault"}}, "hostabi may not import internal/fault"},
		{source{"hostabi", "a_test.go", []string{module + "internal/fault"}}, ""},
		{source{"oci", "a_test.go", []string{module + "cmd/air"}}, "nobody imports cmd/air"},
		{source{"oci", "a.go", []string{module + "runtime"}}, "oci may not import runtime"},
		{source{"runtime", "a.go", []string{module + "runtime/engine"}}, "runtime may not import runtime/engine"},
		{source{"runtime", "a.go", []string{module + "builtin/fs"}}, "runtime may not import builtin/fs"},
		{source{"capabilities", "a.go", []string{module + "builtin/fs"}}, "capabilities may not import builtin/fs"},
		{source{"runtime/engine/wazero", "a.go", []string{module + "runtime/engine", "github.com/tetratelabs/wazero/api"}}, ""},
		{source{"builtin/fs", "a.go", []string{"os"}}, "builtin/fs may not import os"},
		{source{"builtin/fs", "a.go", []string{"os/exec"}}, "builtin/fs may not import os/exec"},
		{source{"builtin/fs", "a.go", []string{"net/http"}}, "builtin/fs may not import net/http"},
		{source{"builtin/fs", "a.go", []string{"golang.org/x/sys/unix"}}, "builtin/fs may not import golang.org/x/sys/unix"},
		{source{"builtin/fs", "a_test.go", []string{"os", "net/http"}}, ""},
		{source{"builtin/fs", "a.go", []string{module + "builtin/event"}}, "builtin/fs may not import builtin/event"},
		{source{"builtin/fs", "a.go", []string{module + "internal/rig"}}, "internal/rig is for tests"},
		{source{"builtin/fs", "a_test.go", []string{module + "internal/rig"}}, ""},
		{source{"internal/x", "a.go", []string{module + "runtime"}}, "internal/x may not import runtime"},
		{source{"cmd/air", "a.go", []string{module + "builtin/fs", "github.com/spf13/cobra", "os"}}, ""},
		{source{"internal/x", "a.go", []string{"github.com/spf13/viper"}}, "internal/x: github.com/spf13/viper has its door in internal/config"},
		{source{"internal/x", "a_test.go", []string{"modernc.org/sqlite/lib"}}, "internal/x: modernc.org/sqlite/lib has its door in internal/sqlite"},
		{source{"internal/x", "a.go", []string{"github.com/spf13/viper2"}}, "github.com/spf13/viper2 is not in the table of dependencies"},
		{source{"newfolder", "a.go", []string{"fmt"}}, "newfolder is not in the table of layers"},
	} {
		got := breaches([]source{c.file})
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%v: got %q, want %q", c.file, got, c.want)
		}
	}
}

// breaches checks every file against all tables.
func breaches(files []source) []string {
	var found []string
	for _, f := range files {
		entry, known := longest(layers, f.dir)
		if !known {
			found = append(found, fmt.Sprintf("%s is not in the table of layers", f.dir))
		}
		for _, path := range f.imports {
			if why := f.breach(path, layers[entry]); why != "" {
				found = append(found, f.dir+"/"+f.name+": "+why)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (f source) breach(path string, allowed []string) string {
	if own, ok := strings.CutPrefix(path, module); ok {
		return f.ownBreach(own, allowed)
	}
	if entry, ok := longest(outOfReach, f.dir); ok && !f.test() && coveredBy(path, outOfReach[entry]) {
		return fmt.Sprintf("%s may not import %s", f.dir, path)
	}
	if host, _, _ := strings.Cut(path, "/"); !strings.Contains(host, ".") {
		return "" // the standard library
	}
	door, known := longest(doors, path)
	switch {
	case !known:
		return fmt.Sprintf("%s is not in the table of dependencies", path)
	case !coveredBy(f.dir, doors[door]):
		return fmt.Sprintf("%s: %s has its door in %s", f.dir, path, strings.Join(doors[door], ", "))
	}
	return ""
}

func (f source) ownBreach(path string, allowed []string) string {
	switch {
	case coveredBy(path, []string{"cmd/…"}):
		return fmt.Sprintf("nobody imports %s", path)
	case f.test() || path == f.dir:
		return ""
	case slices.Contains(testOnly, path):
		return fmt.Sprintf("%s is for tests", path)
	case !coveredBy(path, allowed):
		return fmt.Sprintf("%s may not import %s", f.dir, path)
	}
	return ""
}

// longest returns the entry of a table that covers a path most closely. A dependency's
// entry covers its packages too.
func longest[V any](table map[string]V, path string) (string, bool) {
	best, found := "", false
	for entry := range table {
		covers := covers(entry, path) || strings.Contains(entry, ".") && strings.HasPrefix(path, entry+"/")
		if covers && (!found || len(strings.TrimSuffix(entry, "…")) > len(strings.TrimSuffix(best, "…"))) {
			best, found = entry, true
		}
	}
	return best, found
}

func coveredBy(path string, entries []string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool { return covers(entry, path) })
}

func covers(entry, path string) bool {
	below, all := strings.CutSuffix(entry, "…")
	return path == entry || all && (below == "" || path+"/" == below || strings.HasPrefix(path, below))
}
