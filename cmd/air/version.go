package main

import (
	"fmt"
	"io"
	goruntime "runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is air's own; builds of a tag set it with -ldflags "-X main.version=…".
var version = "0.1.0-dev"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			info := map[string]string{"version": version, "go": goruntime.Version(), "platform": goruntime.GOOS + "/" + goruntime.GOARCH, "abi": "air.v1"}
			if b, ok := debug.ReadBuildInfo(); ok {
				for _, d := range b.Deps {
					if d.Path == "github.com/tetratelabs/wazero" {
						info["wazero"] = d.Version
					}
				}
			}
			return a.print(info, func(w io.Writer) {
				fmt.Fprintf(w, "air %s (%s, %s, wazero %s)\n", info["version"], info["go"], info["platform"], info["wazero"])
			})
		},
	}
}
