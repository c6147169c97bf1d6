package capabilities

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/wasmbin"
	"github.com/aircoding/air/oci"
)

const (
	manifestJSON = "capability.json"
	manifestMD   = "CAPABILITY.md"
	helpFile     = "HELP.md"

	maxModule = oci.MaxModule
	maxMD     = 1 << 20 // of CAPABILITY.md with the help text that it carries
)

// bundleFolders are the folders of which every file belongs to a bundle.
var bundleFolders = []string{"schemas", "docs", "prompts", "assets"}

// Bundle is a capability as files. Its digest covers all of them.
type Bundle struct {
	Manifest     *Manifest
	Digest       string // of the OCI manifest; "" for a bare module
	ManifestHash string // of the capability manifest's canonical form; "" for a bare module
	ModuleSHA256 string // hex
	Dir          string

	module string // its path
	raw    []byte // the OCI manifest
	layers []oci.Layer
	bare   bool // no manifest: any tool name, any object
}

// OpenDir reads the bundle in a folder, whoever wrote that folder, and refuses it
// unless it is valid as a whole: manifest, file names, sizes, and a module that
// imports nothing but AIR's interface.
func OpenDir(dir string) (*Bundle, error) {
	b, module, err := loadDir(dir)
	if err != nil {
		return nil, fault.IO("reading "+dir, err)
	}
	if err := prove(b.module, module, b.Manifest.Entrypoint.ABI); err != nil {
		return nil, err
	}
	return b, nil
}

// ReadManifest reads and validates only the manifest in a folder, such as before its
// module was built.
func ReadManifest(dir string) (*Manifest, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.close()
	m, _, err := f.manifest()
	return m, fault.IO("reading "+dir, err)
}

// prove checks what a module imports and exports, without compiling it.
func prove(path string, module []byte, abi hostabi.ABI) error {
	_, err := wasmbin.Prove(module, abi)
	if err == nil {
		return nil
	}
	e := fault.New(fault.InvalidInput, "bad_module", "module %s: %w", path, err)
	var reason *fault.Error
	if errors.As(err, &reason) && reason.Hint != "" {
		return e.WithHint("%s", reason.Hint)
	}
	return e.WithHint("docs/abi.md says what a module imports and exports")
}

// Artifact is the bundle in the form in which registries take it.
func (b *Bundle) Artifact() oci.Artifact {
	return oci.Artifact{
		Config:      b.Manifest.Canonical(),
		Title:       b.Manifest.DisplayName,
		Version:     b.Manifest.Version,
		Description: b.Manifest.Description,
		Layers:      b.layers,
	}
}

// ModulePath is where the module lies.
func (b *Bundle) ModulePath() string { return b.module }

// Help returns the capability's help text, empty when it has none.
func (b *Bundle) Help() ([]byte, error) {
	for _, l := range b.layers {
		if l.Title == helpFile {
			return readLayer(l)
		}
	}
	return nil, nil
}

// Files lists the names of what the bundle holds besides its manifest.
func (b *Bundle) Files() []string {
	names := make([]string, len(b.layers))
	for i, l := range b.layers {
		names[i] = l.Title
	}
	return names
}

func readLayer(l oci.Layer) (content []byte, err error) {
	r, err := l.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(io.LimitReader(r, l.Size+1))
}

// loadDir reads a folder and names it by its digest.
func loadDir(dir string) (b *Bundle, module []byte, err error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	defer f.close()
	m, help, err := f.manifest()
	if err != nil {
		return nil, nil, err
	}
	if module, err = f.read(m.Entrypoint.Module, maxModule); err != nil {
		return nil, nil, missingModule(m.Entrypoint.Module, err)
	}
	b = &Bundle{Manifest: m, ManifestHash: m.Hash(), Dir: f.dir, module: filepath.Join(f.dir, filepath.FromSlash(m.Entrypoint.Module))}
	b.layers = append(b.layers, f.layer(m.Entrypoint.Module, module))
	b.ModuleSHA256 = strings.TrimPrefix(b.layers[0].Digest, "sha256:")
	if len(help) > 0 {
		b.layers = append(b.layers, memoryLayer(helpFile, help))
	}
	if b.layers, err = f.addFolders(b.layers); err != nil {
		return nil, nil, err
	}
	if b.raw, b.Digest, err = b.Artifact().Manifest(); err != nil {
		return nil, nil, badBundle("bundle %s: %w", dir, err)
	}
	return b, module, nil
}

func missingModule(module string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fault.New(fault.InvalidInput, "no_module", "the module %s is missing", module).
			WithHint("air build makes it, or the manifest's /entrypoint/module names another file")
	}
	return err
}

// memoryLayer is a file of a bundle that lies in memory.
func memoryLayer(title string, content []byte) oci.Layer {
	return oci.Layer{
		Title: title, Digest: canon.Digest(content), Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
}

func badBundle(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, "bad_bundle", format, args...)
}
