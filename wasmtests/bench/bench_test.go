// Package bench measures air against a native process, an empty program and itself.
// Each pair is measured turn by turn in one run, so that a busy machine slows both;
// what is compared are medians. Lines "ratio NAME VALUE" are for machines to read.
package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/internal/schema"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/engine"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/session"
)

func TestMain(m *testing.M) {
	engine.ServeIfWorker()
	os.Exit(m.Run())
}

const rounds = 25

// median runs every part in turn, rounds times, and returns the median of each.
func medians(b *testing.B, parts ...func()) []time.Duration {
	b.Helper()
	times := make([][]time.Duration, len(parts))
	for _, part := range parts {
		part() // once to warm caches
	}
	for range rounds {
		for i, part := range parts {
			start := time.Now()
			part()
			times[i] = append(times[i], time.Since(start))
		}
	}
	result := make([]time.Duration, len(parts))
	for i := range times {
		slices.Sort(times[i])
		result[i] = times[i][rounds/2]
	}
	return result
}

func report(name string, value, of time.Duration) {
	fmt.Printf("%-44s %10v of %10v\n", name, value.Round(time.Microsecond), of.Round(time.Microsecond))
	fmt.Printf("ratio %s %.3f\n", name, float64(value)/float64(of))
}

// once keeps the testing package from calling a benchmark again with a larger N: the
// rounds are its own.
func once(b *testing.B) bool {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	return b.N > 1
}

const small = "zone,change\na,3600\nb,-3600\na,7200\n"

func BenchmarkIsolatedCall(b *testing.B) {
	if once(b) {
		return
	}
	w := newWorkshop(b)
	for name, input := range map[string]string{
		"small":   `{"path":"small.csv","by":"zone","value":"change"}`,
		"shipped": `{"path":"shipped.csv","by":"zone","value":"change"}`,
	} {
		got := medians(b,
			func() { w.Must("csv-insight.group", input, nil) },
			func() { w.run(w.native, "group", input) },
		)
		report("isolated_call_"+name+"/native_process", got[0], got[1])
	}
}

func BenchmarkWholeProcess(b *testing.B) {
	if once(b) {
		return
	}
	w := newWorkshop(b)
	got := medians(b,
		func() { w.run(w.air, "call", "csv-insight.group", `{"path":"small.csv","by":"zone"}`) },
		func() { w.run(w.air, "call", "fs.stat", `{"path":"small.csv"}`) },
		func() { w.run(w.air, "version") },
		func() { w.run(w.empty) },
	)
	report("air_call_guest/empty_process", got[0], got[3])
	report("air_call_fs_stat/empty_process", got[1], got[3])
	report("air_version/empty_process", got[2], got[3])
}

// BenchmarkSteps splits the cost of a durable call in one process by what it is made of.
func BenchmarkSteps(b *testing.B) {
	if once(b) {
		return
	}
	w := newWorkshop(b)
	tool, err := w.Registry.Lookup(b.Context(), "fs.stat")
	fatal(b, err)
	input, err := schema.Compile(tool.InputSchema)
	fatal(b, err)
	paths := permission.NewPaths(permission.PathsConfig{ProjectRoot: w.Root, AirHome: w.Home.Dir})
	rules, err := permission.Load(permission.Options{Paths: paths})
	fatal(b, err)
	text := []byte(`{"path":"small.csv"}`)
	request := permission.Request{Subject: permission.Subject{Tool: tool.Name, BuiltIn: true, Permissions: tool.Permissions}}
	many := func(work func()) func() {
		return func() {
			for range 100 {
				work()
			}
		}
	}
	got := medians(b,
		many(func() { w.Must("fs.stat", string(text), nil) }),
		many(func() { fatal(b, input.Validate(text)) }),
		many(func() {
			e, err := paths.Resolve(permission.Effect{Kind: permission.Read, Target: "small.csv"})
			fatal(b, err)
			request.Effects = []permission.Effect{{Kind: permission.ToolCall, Target: tool.Name}, e}
		}),
		many(func() { rules.Decide(request) }),
		many(func() {
			_, err := os.Lstat(filepath.Join(w.Root, "small.csv"))
			fatal(b, err)
		}),
		many(func() {
			for _, eventType := range []string{event.ToolStarted, event.PermissionDecided, event.ToolCompleted} {
				_, err := w.Session.Events.Append(b.Context(), event.Event{Type: eventType, Payload: text})
				fatal(b, err)
			}
		}),
	)
	for i, step := range []string{"validate", "plan", "decide", "lstat_alone", "record_three_events"} {
		report("step_"+step+"/durable_call_fs_stat", got[i+1]/100, got[0]/100)
	}
}

// workshop is a project with the example enabled, and the programs to compare.
type workshop struct {
	*rig.Rig
	air, native, empty string
	environment        []string
}

func newWorkshop(b *testing.B) *workshop {
	b.Helper()
	dir := b.TempDir()
	top, err := filepath.EvalSymlinks(dir)
	fatal(b, err)
	h := home.Home{Dir: filepath.Join(top, "person", ".air")}
	fatal(b, os.MkdirAll(filepath.Join(top, "project"), 0o755))
	project, _, err := h.Init(b.Context(), filepath.Join(top, "project"))
	fatal(b, err)
	w := &workshop{environment: append(os.Environ(), "AIR_HOME="+h.Dir)}
	w.Rig = rig.New(b, rig.Options{Dir: dir, Provider: w.enable(b, project, h, filepath.Join(top, "bundle"))})
	w.build(b, filepath.Join(top, "bin"))
	w.Put("small.csv", small)
	shipped, err := os.ReadFile("../../examples/csv-insight/data/timezone-transitions.csv")
	fatal(b, err)
	w.Put("shipped.csv", string(shipped))
	return w
}

// enable builds the example, installs it and enables it.
func (w *workshop) enable(b *testing.B, project home.Project, h home.Home, bundle string) *capabilities.Lifecycle {
	b.Helper()
	example, err := filepath.Abs("../../examples/csv-insight")
	fatal(b, err)
	goBuild(b, example, []string{"GOOS=wasip1", "GOARCH=wasm"}, "-buildmode=c-shared", "-o", filepath.Join(bundle, "module.wasm"), ".")
	manifest, err := os.ReadFile(filepath.Join(example, "capability.json"))
	fatal(b, err)
	fatal(b, os.WriteFile(filepath.Join(bundle, "capability.json"), manifest, 0o600))
	opened, err := capabilities.OpenDir(bundle)
	fatal(b, err)
	store := capabilities.OpenStore(h.Path("capabilities"))
	_, err = store.Place(b.Context(), opened, capabilities.Source{Kind: "local_path", Path: bundle})
	fatal(b, err)
	events, err := session.ProjectEvents(project, h)
	fatal(b, err)
	pool := engine.NewPool(engine.PoolOptions{CacheDir: h.Path("cache", "wasm")})
	b.Cleanup(func() {
		pool.Close()
		fatal(b, events.Close())
	})
	l, err := capabilities.New(capabilities.LifecycleConfig{
		Store: store, Project: project, Events: events,
		NewImplementation: func(m capabilities.Module) runtime.Implementation {
			return engine.NewGuest(pool, engine.Module{
				Capability: m.Capability, Tool: m.Tool, Path: m.Path, SHA256: m.ModuleSHA256, Limits: m.Limits, Config: m.Config,
			})
		},
	})
	fatal(b, err)
	_, err = l.Enable(context.Background(), "csv-insight", "", func(capabilities.Disclosure) (bool, error) { return true, nil })
	fatal(b, err)
	return l
}

func (w *workshop) build(b *testing.B, bin string) {
	b.Helper()
	w.air, w.native, w.empty = filepath.Join(bin, "air"), filepath.Join(bin, "native"), filepath.Join(bin, "empty")
	goBuild(b, "../../cmd/air", nil, "-o", w.air, ".")
	goBuild(b, "../../examples/csv-insight", nil, "-o", w.native, ".")
	source := filepath.Join(bin, "empty.go")
	fatal(b, os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600))
	goBuild(b, bin, nil, "-o", w.empty, source)
}

func goBuild(b *testing.B, dir string, environment []string, args ...string) {
	b.Helper()
	c := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false"}, args...)...)
	c.Dir = dir
	c.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off"), environment...)
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
}

// run starts a program in the project and waits for it.
func (w *workshop) run(program string, args ...string) {
	var errors bytes.Buffer
	c := exec.Command(program, args...)
	c.Dir, c.Env, c.Stderr = w.Root, w.environment, &errors
	out, err := c.Output()
	if err != nil {
		w.Fatalf("%s %s: %v: %s", filepath.Base(program), strings.Join(args, " "), err, errors.String())
	}
	if len(out) > 0 && out[0] == '{' && !json.Valid(out) {
		w.Fatalf("%s wrote no JSON: %s", filepath.Base(program), out)
	}
}

func fatal(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
