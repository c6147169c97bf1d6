package shell_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// TestCeilingInside: what a program that a capability starts sees is what the capability
// declared.
func TestCeilingInside(t *testing.T) {
	const makefile = "all:\n\tcat ../in.csv; cat ../../secret.txt; echo own > ../../src.txt; echo new > ../../new.txt; echo made > made.txt\n"
	flags := permission.Permissions{Read: true, Write: true, Execute: true}
	tool := &runtime.Tool{
		Name: "acme.run", Version: 1, Capability: "acme", Permissions: flags,
		InputSchema: json.RawMessage(`{"type": "object"}`), OutputSchema: json.RawMessage(`{"type": "object"}`),
		Owner: permission.Caller{Capability: "acme", Digest: "sha256:acme", Permissions: flags, Consented: true, Scopes: permission.Scopes{
			Tools: []string{"shell.run", "fs.write"}, Commands: []string{"make **"}, Read: []string{"data", "data/**"}, Write: []string{"data/out/**"},
		}},
		Implementation: rig.Guest(func(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error) {
			written, err := json.Marshal(object{"path": "data/out/Makefile", "content": makefile})
			if err != nil {
				return nil, err
			}
			return object{"write": access.Call(ctx, "fs.write", written), "run": access.Call(ctx, "shell.run", input)}, nil
		}),
	}
	r := rigWith(t, rig.Options{Provider: onlyTool{tool}})
	for name, content := range map[string]string{"secret.txt": "TOPSECRET\n", "src.txt": "orig\n", "data/in.csv": "a,b\n", "data/out/old": ""} {
		r.Put(name, content)
	}
	var result struct{ Write, Run runtime.Envelope }
	r.Must("acme.run", object{"command": "make -i", "cwd": "data/out"}, &result)
	shown := string(result.Run.Output)
	if result.Write.Error != nil || result.Run.Error != nil || !strings.Contains(shown, "a,b") || strings.Contains(shown, "TOPSECRET") {
		t.Errorf("%v, %v: it shows %s", result.Write.Error, result.Run.Error, shown)
	}
	for name, want := range map[string]string{"src.txt": "orig\n", "new.txt": "", "data/out/made.txt": "made\n"} {
		if got, _ := os.ReadFile(filepath.Join(r.Root, name)); string(got) != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
}

// TestDenyRulesInside: what a person's rule denies, no program finds open.
func TestDenyRulesInside(t *testing.T) {
	r := rigWith(t, rig.Options{Rules: "schema_version: 1\nrules:\n  - deny: read(private/**)\n  - deny: write(docs/**)\n"})
	for name, content := range map[string]string{
		"private/x": "PRIVATE\n", "docs/a.md": "DOCS\n", "Makefile": "all:\n\tcat private/x docs/a.md; echo w > private/y; echo w > docs/a.md; echo w > docs/b.md; echo w > c.md\n",
	} {
		r.Put(name, content)
	}
	for _, command := range []string{"grep -rs -e PRIVATE -e DOCS .", "make -i"} {
		out, e := run(r, command, nil)
		if shown := text(out.StdoutPreview); e.Error != nil || !strings.Contains(shown, "DOCS") || strings.Contains(shown, "PRIVATE\n") {
			t.Errorf("%s: %v, it shows %q", command, e.Error, shown)
		}
	}
	for name, want := range map[string]string{"private/y": "", "docs/a.md": "DOCS\n", "docs/b.md": "", "c.md": "w\n"} {
		if got, _ := os.ReadFile(filepath.Join(r.Root, name)); string(got) != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
}
