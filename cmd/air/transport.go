package main

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/progress"
	"github.com/aircoding/air/oci"
)

// transportFlags say how a registry is reached.
type transportFlags struct {
	plainHTTP, insecure bool
	caFile              string
}

func (f *transportFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.plainHTTP, "plain-http", false, "speak HTTP without TLS to the registry")
	c.Flags().BoolVar(&f.insecure, "insecure", false, "accept any TLS certificate")
	c.Flags().StringVar(&f.caFile, "ca-file", "", "PEM file of certificate authorities to trust besides the system's")
}

// ociClient speaks to the registry of a reference.
func (a *app) ociClient(at place, ref string, flags *transportFlags) *oci.Client {
	parsed, _ := oci.ParseReference(ref) // a bad one is refused when it is used
	return oci.NewClient(a.ociOptions(at, parsed.Registry, flags))
}

// ociOptions say how the registry at a host is spoken to.
func (a *app) ociOptions(at place, host string, flags *transportFlags) oci.Options {
	return oci.Options{
		PlainHTTP: flags.plainHTTP || slices.Contains(at.config.PlainHTTP, host),
		Insecure:  flags.insecure,
		CAFile:    flags.caFile,
		CacheDir:  downloads(at),
		Progress:  a.bars(),
		Log:       a.stderr,
	}
}

// downloads is where what was pulled lies, for the next time.
func downloads(at place) string { return at.home.Path("cache", "plugins") }

// bars draws transfers on a terminal.
func (a *app) bars() func(total int64, title string) oci.Bar {
	f, ok := a.stderr.(*os.File)
	if !ok || a.flags.quiet || !isTerminal(f) {
		return nil
	}
	display := progress.New(f)
	a.later(func() error { display.Close(); return nil })
	return func(total int64, title string) oci.Bar { return display.Bar(total, title) }
}
