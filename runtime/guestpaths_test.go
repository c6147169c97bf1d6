package runtime_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// bounded is a provider of a capability with other permissions than those of the rig.
type bounded struct {
	rig.Guests
	has    permission.Permissions
	scopes permission.Scopes
}

func (b bounded) Tool(ctx context.Context, name string) (*runtime.Tool, error) {
	t, err := b.Guests.Tool(ctx, name)
	if err == nil {
		t.Owner.Permissions, t.Owner.Scopes = b.has, b.scopes
	}
	return t, err
}

// passing is a guest that makes the calls of its input and returns the envelopes.
func passing(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error) {
	var in struct {
		Tool   string
		Inputs []json.RawMessage
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	var all []runtime.Envelope
	for _, one := range in.Inputs {
		all = append(all, access.Call(ctx, in.Tool, one))
	}
	return object{"envelopes": all}, nil
}

var (
	noRights  = bounded{Guests: rig.Guests{"a": passing}}
	dataOnly  = bounded{Guests: noRights.Guests, has: permission.Permissions{Read: true, Write: true, Artifacts: []string{"report"}}, scopes: permission.Scopes{Read: []string{"data/**"}, Write: []string{"data/**"}}}
	writeOnly = bounded{Guests: noRights.Guests, has: permission.Permissions{Write: true}}
)

// inputs name a path for each tool that takes one.
var inputs = map[string]func(path string) object{
	"fs.read":         func(path string) object { return object{"path": path} },
	"fs.stat":         func(path string) object { return object{"path": path} },
	"fs.list":         func(path string) object { return object{"path": path, "recursive": true} },
	"fs.write":        func(path string) object { return object{"path": path, "content": "x"} },
	"fs.edit":         func(path string) object { return object{"path": path, "old_string": "x", "new_string": "y"} },
	"artifact.create": func(path string) object { return object{"type": "report", "source_path": path} },
}

// answers are the errors that the capability gets for the paths, each with its path
// replaced.
func answers(t *testing.T, r *rig.Rig, tool string, paths []string) []string {
	t.Helper()
	var out struct{ Envelopes []runtime.Envelope }
	var calls []object
	for _, path := range paths {
		calls = append(calls, inputs[tool](path))
	}
	r.Must("a.run", object{"tool": tool, "inputs": calls}, &out)
	var all []string
	for i, e := range out.Envelopes {
		if e.OK {
			t.Errorf("%s %s succeeded: %s", tool, paths[i], e.Output)
			continue
		}
		text, err := json.Marshal(e.Error)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.ReplaceAll(string(text), paths[i]+`"`, `PATH"`))
		all[i] = strings.ReplaceAll(all[i], "("+paths[i]+")", "(PATH)")
	}
	return all
}

// alike checks that the capability cannot tell the paths from one another.
func alike(t *testing.T, r *rig.Rig, tool string, paths ...string) {
	t.Helper()
	all := answers(t, r, tool, paths)
	for i, text := range all {
		if text != all[0] {
			t.Errorf("%s: %s and %s are told apart:\n%s\n%s", tool, paths[0], paths[i], all[0], text)
		}
		if strings.Contains(text, r.Outside) || strings.Contains(text, r.Home.Dir) {
			t.Errorf("%s %s: the answer names other paths: %s", tool, paths[i], text)
		}
	}
}

// furnish puts something of every kind beside the project, and links to it into data.
func furnish(t *testing.T, r *rig.Rig) (outside []string) {
	t.Helper()
	r.Put("data/inside.csv", "")
	r.Put(filepath.Join(r.Outside, "file"), "")
	r.Put(filepath.Join(r.Outside, "folder", "x"), "")
	r.Put(filepath.Join(r.Outside, "closed", "x"), "")
	for _, err := range []error{
		os.Chmod(filepath.Join(r.Outside, "closed"), 0o700),
		unix.Mkfifo(filepath.Join(r.Outside, "pipe"), 0o600),
		os.Symlink("loop", filepath.Join(r.Outside, "loop")),
		os.Symlink("nowhere", filepath.Join(r.Outside, "dangling")),
		os.Symlink(r.Outside, filepath.Join(r.Root, "data", "out")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return []string{"file", "missing", "folder", "folder/x", "folder/missing", "file/x", "closed/x", "pipe", "loop", "dangling", "file/..", "missing/..", "folder/..", "file/../file", "missing/../file"}
}

// What a capability asks about beyond its ceiling is refused in the same words, whatever
// is there.
func TestGuestLearnsNothingOfOtherPaths(t *testing.T) {
	for name, guest := range map[string]bounded{"no rights": noRights, "data/**": dataOnly} {
		t.Run(name, func(t *testing.T) {
			r := rig.New(t, rig.Options{Provider: guest})
			var absolute, relative []string
			for _, path := range furnish(t, r) {
				absolute, relative = append(absolute, r.Outside+"/"+path), append(relative, "../outside/"+path)
			}
			for tool := range inputs {
				alike(t, r, tool, absolute...)
				alike(t, r, tool, relative...)
				alike(t, r, tool, "/etc/passwd", "/etc/missing", "/etc/passwd/..", "/root/missing/..", "/dev/null", "/dev/missing", "/proc/self/environ", r.Home.Path("keys"), r.Home.Path("missing"))
				alike(t, r, tool, ".git/config", "src/missing", "src/missing/..", ".env", "..")
			}
		})
	}
}

// Through a link in its scope a capability learns no more.
func TestGuestLearnsNothingThroughLinks(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: dataOnly})
	var through, links []string
	for i, path := range furnish(t, r) {
		if !strings.Contains(path, "..") { // which go up by name, and stay in data
			through = append(through, "data/out/"+path)
		}
		link := "data/" + string(rune('a'+i))
		if err := os.Symlink(r.Outside+"/"+path, filepath.Join(r.Root, link)); err != nil {
			t.Fatal(err)
		}
		links = append(links, link)
	}
	for tool := range inputs {
		alike(t, r, tool, through...)
		alike(t, r, tool, links...)
	}
	// ".." behind a link would lead through a folder outside, if there is one, back into data.
	back := "data/out/folder/../../project/data/inside.csv"
	missing := "data/out/missing/../../project/data/inside.csv"
	var out struct{ Envelopes []runtime.Envelope }
	r.Must("a.run", object{"tool": "fs.stat", "inputs": []object{{"path": back}, {"path": missing}, {"path": "data/out/../inside.csv"}}}, &out)
	for i, e := range out.Envelopes {
		if !e.OK || strings.Contains(string(e.Output), `"exists":true`) != (i == 2) {
			t.Errorf("%d: %+v %s", i, e.Error, e.Output)
		}
	}
}

// What lies in its scope a capability may know about.
func TestGuestIsToldWhatIsWrongInItsScope(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: dataOnly})
	furnish(t, r)
	odd(t, r)
	all := answers(t, r, "fs.read", []string{"data/missing.csv", "data/odd", "data/inside.csv/x"})
	for i, want := range []string{"no_such_file", "bad_path", "not_a_directory"} {
		if !strings.Contains(all[i], want) {
			t.Errorf("got %s, want %s", all[i], want)
		}
	}
}

// Inside its scope, too, a capability is told nothing of protected files, and no path
// but its own.
func TestGuestLearnsNothingThroughLinksToProtectedFiles(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: bounded{Guests: noRights.Guests, has: permission.Permissions{Read: true, Write: true}}})
	r.Put(".env", "secret")
	r.Put("data/x", "")
	for link, target := range map[string]string{"there": "../.env", "absent": "../.env.absent", "loop": "loop", "odd": "nowhere/../x"} {
		if err := os.Symlink(target, filepath.Join(r.Root, "data", link)); err != nil {
			t.Fatal(err)
		}
	}
	alike(t, r, "fs.write", "data/there", "data/absent")
	alike(t, r, "fs.edit", "data/there", "data/absent")
	for _, text := range answers(t, r, "fs.read", []string{"data/loop", "data/odd", "data/" + strings.Repeat("x", 300)}) {
		if strings.Contains(text, r.Root) {
			t.Errorf("the answer names the project's folder: %s", text)
		}
	}
}

// odd makes data/odd a path that cannot be resolved.
func odd(t *testing.T, r *rig.Rig) {
	t.Helper()
	r.Put("data/file", "")
	if err := os.Symlink("nowhere/..", filepath.Join(r.Root, "data", "odd")); err != nil {
		t.Fatal(err)
	}
}

// A capability that may write and not read does not learn from a denial what exists.
func TestDeniedWriteTellsNothing(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: writeOnly})
	r.Put(".env", "")
	r.Put("sub/.env", "")
	r.Put(".vscode/here.json", "")
	for _, pair := range [][]string{{"sub/.env", "other/.env"}, {"/etc/passwd", "/etc/missing"}, {".vscode/here.json", ".vscode/gone.json"}, {".air/shared/project.json", ".air/shared/missing.json"}} {
		alike(t, r, "fs.write", pair...)
	}
	if text := answers(t, r, "fs.write", []string{".env"})[0]; !strings.Contains(text, "write(PATH) is denied") || strings.Contains(text, "permissions.yaml") {
		t.Error(text)
	}
}

// The same of one that nobody enabled, which is asked about everything.
func TestUnaskedWriteTellsNothing(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: unconsented{writeOnly}})
	r.Put("here", "")
	alike(t, r, "fs.write", "here", "gone")
}

type unconsented struct{ bounded }

func (u unconsented) Tool(ctx context.Context, name string) (*runtime.Tool, error) {
	t, err := u.bounded.Tool(ctx, name)
	if err == nil {
		t.Owner.Consented = false
	}
	return t, err
}

// The tool is decided before the path that it would be called with is looked at.
func TestToolIsDecidedFirst(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: dataOnly, Rules: "schema_version: 1\nrules:\n  - deny: tool(fs.read)\n    for: a\n"})
	odd(t, r)
	if text := answers(t, r, "fs.read", []string{"data/odd"})[0]; !strings.Contains(text, "denied_by_rule") || strings.Contains(text, r.Home.Dir) {
		t.Error(text)
	}
}

// What a capability is not told is kept for people.
func TestDenialIsRecordedInFull(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: dataOnly})
	furnish(t, r)
	answers(t, r, "fs.write", []string{"data/out/file"})
	var recorded string
	for _, e := range r.Events("") {
		if e.Type == "permission.decided" {
			recorded = string(e.Payload)
		}
	}
	if !strings.Contains(recorded, `"overwrite"`) || !strings.Contains(recorded, filepath.Join(r.Outside, "file")) {
		t.Error(recorded)
	}
}

// The session's artifacts are one capability's or another's: none reads them by path.
func TestGuestReadsNoArtifactByPath(t *testing.T) {
	guest := dataOnly
	guest.scopes.Read = []string{"/**"}
	r := rig.New(t, rig.Options{Provider: guest})
	record, err := r.Session.Artifacts.Get(r.Context(), personal(t, r))
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"fs.read", "fs.stat", "artifact.create"} {
		if text := answers(t, r, tool, []string{record.Path})[0]; !strings.Contains(text, "floor_air_home") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	r.Must("fs.read", object{"path": record.Path}, nil) // a person may
	failed(t, r.Call("fs.write", object{"path": record.Path, "content": "x"}), fault.PermissionDenied, "floor_air_home")
}
