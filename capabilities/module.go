package capabilities

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/wasmbin"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// Module is what an engine needs to run one tool of a bundle.
type Module struct {
	Capability   string
	Tool         string
	Path         string // the module file
	ModuleSHA256 string // hex: what is run is what was verified
	ABI          hostabi.ABI
	Limits       runtime.Limits
	Config       json.RawMessage
}

// BareModule makes a bundle of a module without a manifest. Its id is local; it has a
// tool local.NAME of any name that takes and returns any object, and no permissions. Its
// exports say for which ABI it is.
func BareModule(path string) (*Bundle, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	module, err := readModule(path)
	if err != nil {
		return nil, fault.IO("reading the module "+path, err)
	}
	abi := wasmbin.ABIOf(module)
	if err := prove(path, module, abi); err != nil {
		return nil, err
	}
	m := &Manifest{
		SchemaVersion: 1, CapabilityID: localID, DisplayName: filepath.Base(path), Version: "0",
		Description: "A module without a manifest.", Source: Source{Kind: "local_path", Path: path}, TrustLevel: Untrusted,
		Entrypoint: &Entrypoint{Kind: "wasm", Module: filepath.Base(path), ABI: abi},
	}
	return &Bundle{
		Manifest: m, ModuleSHA256: strings.TrimPrefix(canon.Digest(module), "sha256:"), Dir: filepath.Dir(path), module: path, bare: true,
	}, nil
}

// readModule reads a file that the person named, who may use links.
func readModule(path string) ([]byte, error) {
	module, err := regular.Read(path, maxModule, true)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "no_module", "%w", err)
	case errors.Is(err, regular.ErrNot), errors.Is(err, regular.ErrTooLarge):
		return nil, badBundle("%w", err)
	}
	return module, err
}

// declaration returns what a bundle declares of a tool. A bare module declares nothing
// and has every tool of its name.
func (b *Bundle) declaration(name string) (ToolDeclaration, bool) {
	if !b.bare {
		return b.Manifest.Tool(name)
	}
	anyObject := json.RawMessage(`{"type":"object"}`)
	return ToolDeclaration{
		Name: name, Version: 1, Category: "internal", Description: "A tool of a module without a manifest.",
		InputSchema: anyObject, OutputSchema: anyObject,
	}, ownerOf(name) == localID
}

// loaded is a bundle that was verified, ready to make tools of.
type loaded struct {
	bundle    *Bundle
	limits    runtime.Limits
	config    json.RawMessage
	durable   map[string]json.RawMessage // events that are stored: type → schema
	trust     TrustLevel
	signer    *Signer
	consented bool
	make      func(Module) runtime.Implementation
}

func (l loaded) tool(name string) (*runtime.Tool, error) {
	t, ok := l.bundle.declaration(name)
	if !ok {
		return nil, runtime.UnknownTool(name).WithHint("the tools of %s are: %s", l.bundle.Manifest.CapabilityID, strings.Join(l.bundle.Manifest.ToolNames(), ", "))
	}
	return l.assemble(t), nil
}

func (l loaded) tools() []*runtime.Tool {
	var all []*runtime.Tool
	for _, t := range l.bundle.Manifest.Tools {
		all = append(all, l.assemble(t))
	}
	return all
}

func (l loaded) assemble(t ToolDeclaration) *runtime.Tool {
	b := l.bundle
	allowed := toolPermissions(t.Permissions, b.Manifest)
	return &runtime.Tool{
		Name: t.Name, Version: t.Version, Category: t.Category, Description: t.Description,
		InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
		Permissions: allowed, Limits: l.limits, DurableEvents: l.durable,
		Owner: permission.Caller{
			Capability: b.Manifest.CapabilityID, Digest: b.Digest,
			Permissions: allowed, Scopes: b.Manifest.Permissions.Scopes, Consented: l.consented,
		},
		Capability: b.Manifest.CapabilityID,
		Implementation: l.make(Module{
			Capability: b.Manifest.CapabilityID, Tool: t.Name,
			Path: b.module, ModuleSHA256: b.ModuleSHA256, ABI: b.Manifest.Entrypoint.ABI, Limits: l.limits, Config: l.config,
		}),
	}
}

// toolPermissions is what a tool's flags and its capability's have in common: a tool
// that declares less than its capability gets less.
func toolPermissions(t ToolPermissions, m *Manifest) permission.Permissions {
	all := m.Permissions
	return permission.Permissions{
		Read:            t.ReadPaths && all.ReadProject,
		Write:           t.WritePaths && all.WriteProject,
		OutsideWrite:    t.WritePaths && all.ProjectOutsideWrite,
		Execute:         t.Execute && all.ExecuteCommands,
		Network:         t.Network && all.Network,
		SystemSensitive: t.SystemSensitive && all.SystemSensitive,
		Credentials:     t.Credentials && all.Credentials,
		Artifacts:       m.ArtifactTypes,
	}
}
