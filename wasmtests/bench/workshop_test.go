package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/engine"
	"github.com/aircoding/air/runtime/session"
)

// workshop is a project with capabilities, in which programs are run.
type workshop struct {
	*rig.Rig
	programs
	store       *capabilities.Store
	bundles     string
	environment []string
}

// newWorkshop returns a project in which the given capability is the only one enabled.
func newWorkshop(b *testing.B, id, manifest, module string) *workshop {
	b.Helper()
	dir := b.TempDir()
	top, err := filepath.EvalSymlinks(dir)
	fatal(b, err)
	h := home.Home{Dir: filepath.Join(top, "person", ".air")}
	fatal(b, os.MkdirAll(filepath.Join(top, "project"), 0o755))
	project, _, err := h.Init(b.Context(), filepath.Join(top, "project"))
	fatal(b, err)
	w := &workshop{
		programs:    built(b),
		store:       capabilities.OpenStore(h.Path("capabilities")),
		bundles:     filepath.Join(top, "bundles"),
		environment: append(os.Environ(), "AIR_HOME="+h.Dir),
	}
	w.install(b, id, manifest, module)
	w.Rig = rig.New(b, rig.Options{Dir: dir, Provider: w.enable(b, project, h, id)})
	return w
}

// newInsightWorkshop has the example enabled, and files for it.
func newInsightWorkshop(b *testing.B) *workshop {
	b.Helper()
	manifest, err := os.ReadFile("../../examples/csv-insight/capability.json")
	fatal(b, err)
	w := newWorkshop(b, "csv-insight", string(manifest), built(b).insightModule)
	w.Put("small.csv", "zone,change\na,3600\nb,-3600\na,7200\n")
	shipped, err := os.ReadFile("../../examples/csv-insight/data/timezone-transitions.csv")
	fatal(b, err)
	w.Put("shipped.csv", string(shipped))
	return w
}

// newTextWorkshop has a module of the text task enabled as "text".
func newTextWorkshop(b *testing.B, module string) *workshop {
	b.Helper()
	return newWorkshop(b, "text", textManifest("text"), module)
}

// textManifest is that of a capability with the tool "<id>.run", which asks for nothing.
func textManifest(id string) string {
	return fmt.Sprintf(`{
		"schema_version": 1, "capability_id": %[1]q, "display_name": "Text", "version": "1.0.0",
		"description": "Puts a text in upper case.", "source": {"kind": "local_path", "path": "."}, "trust_level": "untrusted",
		"entrypoint": {"kind": "wasm", "module": "module.wasm", "abi": "air.v1"}, "permissions": {},
		"tools": [{
			"name": "%[1]s.run", "version": 1, "category": "project", "description": "Put a text in upper case.",
			"permissions": {}, "input_schema": {"type": "object"}, "output_schema": {"type": "object"}
		}]
	}`, id)
}

// install places a capability in the store and enables nothing.
func (w *workshop) install(b *testing.B, id, manifest, module string) {
	b.Helper()
	bundle := filepath.Join(w.bundles, id)
	fatal(b, os.MkdirAll(bundle, 0o755))
	fatal(b, os.WriteFile(filepath.Join(bundle, "capability.json"), []byte(manifest), 0o600))
	code, err := os.ReadFile(module)
	fatal(b, err)
	fatal(b, os.WriteFile(filepath.Join(bundle, "module.wasm"), code, 0o600))
	opened, err := capabilities.OpenDir(bundle)
	fatal(b, err)
	_, err = w.store.Place(b.Context(), opened, capabilities.Source{Kind: "local_path", Path: bundle})
	fatal(b, err)
}

func (w *workshop) enable(b *testing.B, project home.Project, h home.Home, id string) *capabilities.Lifecycle {
	b.Helper()
	events, err := session.ProjectEvents(project, h, session.Options{})
	fatal(b, err)
	pool := engine.NewPool(engine.PoolOptions{CacheDir: h.Path("cache", "wasm")})
	b.Cleanup(func() {
		pool.Close()
		fatal(b, events.Close())
	})
	l, err := capabilities.New(capabilities.LifecycleConfig{
		Store: w.store, Project: project, Events: events,
		NewImplementation: func(m capabilities.Module) runtime.Implementation {
			return engine.NewGuest(pool, engine.Module{
				Capability: m.Capability, Tool: m.Tool, Path: m.Path, SHA256: m.ModuleSHA256,
				ABI: m.ABI, Limits: m.Limits, Config: m.Config,
			})
		},
	})
	fatal(b, err)
	_, err = l.Enable(context.Background(), id, "", func(capabilities.Disclosure) (bool, error) { return true, nil })
	fatal(b, err)
	return l
}

// run starts a program in the project and waits for it.
func (w *workshop) run(program string, args ...string) {
	w.Helper()
	out := execute(w, w.Root, w.environment, "", program, args...)
	if len(out) > 0 && out[0] == '{' && !json.Valid([]byte(out)) {
		w.Fatalf("%s wrote no JSON: %s", filepath.Base(program), out)
	}
}
