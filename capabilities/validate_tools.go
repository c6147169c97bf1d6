package capabilities

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/aircoding/air/internal/yamldoc"
	"github.com/aircoding/air/runtime"
)

func checkTools(m *Manifest, p *problems) {
	if len(m.Tools) == 0 {
		p.add("/tools", "is empty: a capability brings at least one tool")
	}
	checkLength(len(m.Tools), "/tools", p)
	for i, t := range m.Tools {
		here := at("/tools", i)
		if t.Version < 1 {
			p.add(here+"/version", "is %d, versions count from 1", t.Version)
		}
		if !slices.Contains(categories, t.Category) {
			p.add(here+"/category", "%.60q is no category%s", t.Category, nearCategory(t.Category))
		}
		checkDescription(t.Description, here+"/description", p)
		if len(t.Annotations.Title) > maxTitle {
			p.add(here+"/annotations/title", "has %d bytes, the limit is %d", len(t.Annotations.Title), maxTitle)
		}
		checkFlags(t.Permissions, m.Permissions, here+"/permissions", p)
		checkObjectSchema(t.InputSchema, here+"/input_schema", p)
		checkObjectSchema(t.OutputSchema, here+"/output_schema", p)
	}
}

func nearCategory(wrong string) string {
	if near := yamldoc.Nearest(wrong, categories); near != "" {
		return ", did you mean " + near + "?"
	}
	return ": one of " + strings.Join(categories, ", ")
}

// checkFlags refuses a tool that asks for more than its capability does.
func checkFlags(tool ToolPermissions, all PermissionDeclaration, at string, p *problems) {
	for _, flag := range []struct {
		name, needs string
		asked, has  bool
	}{
		{"read_paths", "read_project", tool.ReadPaths, all.ReadProject},
		{"write_paths", "write_project", tool.WritePaths, all.WriteProject},
		{"execute", "execute_commands", tool.Execute, all.ExecuteCommands},
		{"network", "network", tool.Network, all.Network},
		{"system_sensitive", "system_sensitive", tool.SystemSensitive, all.SystemSensitive},
		{"credentials", "credentials", tool.Credentials, all.Credentials},
	} {
		if flag.asked && !flag.has {
			p.add(at+"/"+flag.name, "the tool asks for more than its capability: /permissions lacks %s", flag.needs)
		}
	}
}

// checkObjectSchema wants the schema of an object: inputs are objects, and MCP clients
// take no other.
func checkObjectSchema(text json.RawMessage, at string, p *problems) {
	if text == nil {
		return // reported as missing
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		p.add(at, "want a JSON Schema as an object")
		return
	}
	checkSchema(text, at, p)
}

func checkEntrypoint(m *Manifest, tree any, from origin, p *problems) {
	e := m.Entrypoint
	if e == nil {
		p.add("/entrypoint", `is missing: want {"kind":"wasm","module":"module.wasm","abi":"air.v1"}`)
		return
	}
	switch {
	case from == ours && e.Kind != "native":
		p.add("/entrypoint/kind", "is %q, a capability of air's own is native", e.Kind)
	case from == ours:
	case e.Kind == "native":
		p.add("/entrypoint/kind", "only air's own capabilities are native: want wasm")
	case e.Kind != "wasm":
		p.add("/entrypoint/kind", "%.60q is no kind of entrypoint: want wasm", e.Kind)
	default:
		checkABI(e.ABI, p)
		checkModule(e.Module, p)
	}
	checkLimits(tree, "/entrypoint/limits", p)
}

func checkABI(abi string, p *problems) {
	switch abi {
	case "air.v1":
	case "":
		p.add("/entrypoint/abi", "is missing: want air.v1")
	case "wasi.command":
		p.add("/entrypoint/abi", "wasi.command modules are not supported yet by this version of air: want air.v1")
	default:
		p.add("/entrypoint/abi", "%.60q is no ABI that this air knows: want air.v1", abi)
	}
}

func checkModule(module string, p *problems) {
	switch {
	case module == "":
		p.add("/entrypoint/module", "is missing: want the module's path, such as module.wasm")
	case unsafePath(module) != "":
		p.add("/entrypoint/module", "%.100q %s", module, unsafePath(module))
	case path.Ext(module) != ".wasm":
		p.add("/entrypoint/module", "%.100q does not end in .wasm", module)
	case inBundleFolder(module):
		p.add("/entrypoint/module", "%.100q lies in a folder for other files: want it beside the manifest", module)
	}
}

// unsafePath says why a path cannot name a file of a bundle, "" when it can.
func unsafePath(name string) string {
	switch {
	case len(name) > 512:
		return "is longer than 512 bytes"
	case strings.HasPrefix(name, "/"):
		return "is absolute"
	case strings.ContainsAny(name, `\:`):
		return "contains a backslash or a colon"
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "leads out with .."
	case name != path.Clean(name) || name == ".":
		return "is no clean relative path"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		return "contains characters that cannot be seen"
	}
	return ""
}

// checkLimits looks at the document itself: a limit of 0 that was written down is a
// mistake, one that was left out is the default.
func checkLimits(tree any, at string, p *problems) {
	limits, ok := lookup(tree, strings.Split(at, "/")[1:]...).(map[string]any)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		one, err := json.Marshal(map[string]any{name: limits[name]})
		if err != nil {
			continue
		}
		var l runtime.Limits
		if json.Unmarshal(one, &l) != nil {
			continue // reported as of the wrong type
		}
		if err := l.Validate(); err != nil {
			p.add(child(at, name), "%s", strings.TrimPrefix(err.Error(), name+": "))
		} else if limits[name] == json.Number("0") {
			p.add(child(at, name), "0 is no limit: leave it out to have the default")
		}
	}
}

func lookup(tree any, keys ...string) any {
	for _, key := range keys {
		object, _ := tree.(map[string]any)
		tree = object[key]
	}
	return tree
}
