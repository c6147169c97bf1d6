package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
)

func (a *app) buildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build [DIR]",
		Short: "Compile a capability's source to its module",
		Long:  "Compile the Go module in the folder to the WebAssembly module that its manifest names, and check the result.\nThe same source gives the same bytes in any folder.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bundle, err := a.build(cmd.Context(), argOr(args, "."))
			if err != nil {
				return err
			}
			size, err := os.Stat(bundle.ModulePath())
			if err != nil {
				return err
			}
			out := map[string]any{"capability_id": bundle.Manifest.CapabilityID, "module": bundle.ModulePath(), "bytes": size.Size(), "digest": bundle.Digest}
			return a.print(out, func(w io.Writer) {
				fmt.Fprintf(w, "built %s (%.1f MB)\n%s\n", bundle.ModulePath(), float64(size.Size())/1e6, bundle.Digest)
			})
		},
	}
}

func (a *app) build(ctx context.Context, dir string) (*capabilities.Bundle, error) {
	manifest, err := capabilities.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return nil, fault.New(fault.InvalidInput, "no_source", "%s holds no go.mod: air build compiles Go modules", dir).
			WithHint("compile other languages with their own tools to %s", manifest.Entrypoint.Module)
	}
	if err := a.compileGo(ctx, dir, manifest.Entrypoint); err != nil {
		return nil, err
	}
	return capabilities.OpenDir(dir)
}

// compileGo builds beside the module and renames, so that a failed or interrupted
// build leaves the module as it was.
func (a *app) compileGo(ctx context.Context, dir string, entrypoint *capabilities.Entrypoint) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fault.New(fault.DependencyMissing, "go", "air build needs the Go toolchain: %w", err).WithHint("install Go 1.26 or newer (Debian: golang-go)")
	}
	temp, err := os.MkdirTemp(dir, ".air-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	absolute, err := filepath.Abs(filepath.Join(temp, "module.wasm"))
	if err != nil {
		return err
	}
	mode := "c-shared"
	if entrypoint.ABI == hostabi.WASICommand {
		mode = "default"
	}
	c := exec.CommandContext(ctx, "go", "build", "-buildmode="+mode, "-trimpath", "-buildvcs=false", "-o", absolute, ".")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=") // nothing of the environment in the module
	c.Stdout, c.Stderr = a.stderr, a.stderr
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fault.New(fault.InvalidInput, "compile", "go build in %s: %w", dir, err).WithHint("the compiler's messages are above")
		}
		return err
	}
	target := filepath.Join(dir, filepath.FromSlash(entrypoint.Module))
	if err := os.Chmod(absolute, 0o644); err != nil {
		return err
	}
	return os.Rename(absolute, target)
}
