package capabilities

import (
	"encoding/json"
	"path"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/oci"
)

func checkTools(m *Manifest, p *problems) {
	if len(m.Tools) == 0 {
		p.add("/tools", "is empty: a capability brings at least one tool")
	}
	checkLength(len(m.Tools), "/tools", p)
	for i, t := range m.Tools {
		here := item("/tools", i)
		if t.Version < 1 {
			p.add(here+"/version", "is %d, versions count from 1", t.Version)
		}
		checkChoice(t.Category, categories, here+"/category", p)
		checkShown(t.Description, maxText, here+"/description", p)
		checkCharacters(t.Annotations.Title, maxTitle, here+"/annotations/title", p)
		checkFlags(t.Permissions, m.Permissions, here+"/permissions", p)
		checkObjectSchema(t.InputSchema, here+"/input_schema", p)
		checkObjectSchema(t.OutputSchema, here+"/output_schema", p)
	}
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

func checkEntrypoint(e *Entrypoint, p *problems) {
	if e == nil {
		p.add("/entrypoint", `is missing: want {"kind":"wasm","module":"module.wasm","abi":"air.v1"}`)
		return
	}
	switch e.Kind {
	case "wasm":
		checkABI(e.ABI, p)
		checkModule(e.Module, p)
	case "native":
		p.add("/entrypoint/kind", "only air's own capabilities are native: want wasm")
	default:
		p.add("/entrypoint/kind", "%.60q is no kind of entrypoint: want wasm", e.Kind)
	}
	if err := e.Limits.Validate(); err != nil {
		p.addLocated("/entrypoint/limits/" + err.Error())
	}
}

func checkABI(abi hostabi.ABI, p *problems) {
	switch abi {
	case hostabi.AirV1, hostabi.WASICommand:
	case "":
		p.add("/entrypoint/abi", "is missing: want %s or %s", hostabi.AirV1, hostabi.WASICommand)
	default:
		p.add("/entrypoint/abi", "%.60q is no ABI that this air knows: want %s or %s", abi, hostabi.AirV1, hostabi.WASICommand)
	}
}

func checkModule(module string, p *problems) {
	switch {
	case module == "":
		p.add("/entrypoint/module", "is missing: want the module's path, such as module.wasm")
	case oci.UnsafeTitle(module) != "":
		p.add("/entrypoint/module", "%.100q %s", module, oci.UnsafeTitle(module))
	case path.Ext(module) != ".wasm":
		p.add("/entrypoint/module", "%.100q does not end in .wasm", module)
	case inBundleFolder(module):
		p.add("/entrypoint/module", "%.100q lies in a folder for other files: want it beside the manifest", module)
	}
}
