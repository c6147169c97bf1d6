package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
	"github.com/aircoding/air/runtime/engine"
)

func (a *app) cacheCommand() *cobra.Command {
	return group("cache", "Show and prune the compiled modules", a.cacheLsCommand(), a.cachePruneCommand())
}

// cachedModule is an entry of the compile cache as people and scripts see it.
type cachedModule struct {
	Module  string    `json:"module_sha256"`
	Bytes   int64     `json:"bytes"`
	Used    time.Time `json:"used_at"`
	Frozen  bool      `json:"pre_initialised"`
	Current bool      `json:"current"`
}

func cachedModules(entries []engine.CacheEntry) []cachedModule {
	list := []cachedModule{}
	for _, e := range entries {
		list = append(list, cachedModule{e.Module, e.Bytes, e.Used.UTC(), e.Frozen, e.Current})
	}
	return list
}

func (a *app) compileCache() (*engine.Cache, error) {
	at, err := a.place()
	if err != nil {
		return nil, err
	}
	return engine.OpenCache(at.home.Path("cache", "wasm")), nil
}

func (a *app) cacheLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the compiled modules, the longest unused first",
		Long: "List the compiled modules, the longest unused first. A module that is pre-initialised starts its calls where\n" +
			"_initialize ended. One that is not current was compiled by another version of air or for another processor.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cache, err := a.compileCache()
			if err != nil {
				return err
			}
			entries, err := cache.Entries()
			if err != nil {
				return fault.IO("reading the compile cache", err)
			}
			list := cachedModules(entries)
			return a.print(list, func(w io.Writer) { tableOfModules(w, list) })
		},
	}
}

func tableOfModules(w io.Writer, list []cachedModule) {
	var rows [][]string
	for _, m := range list {
		rows = append(rows, []string{
			m.Module[:12], sizeWord(m.Bytes), m.Used.Format(time.DateTime), yesNo(m.Frozen), yesNo(m.Current),
		})
	}
	table(w, []string{"MODULE", "SIZE", "USED", "PRE-INITIALISED", "CURRENT"}, rows)
	fmt.Fprintf(w, "%s\n", totalOf(list))
}

// totalOf is how many modules there are, and what they take together.
func totalOf(list []cachedModule) string {
	var bytes int64
	for _, m := range list {
		bytes += m.Bytes
	}
	return counted(len(list), "module") + ", " + sizeWord(bytes)
}

func sizeWord(bytes int64) string {
	if bytes < 1e6 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// pruneDownloads removes what was pulled so long ago, or all of it.
func (a *app) pruneDownloads(ctx context.Context, unused time.Duration, all bool) (freed int64, err error) {
	at, err := a.place()
	if err != nil {
		return 0, err
	}
	if all {
		unused = 0
	}
	return oci.PruneDownloads(ctx, downloads(at), unused)
}

func (a *app) cachePruneCommand() *cobra.Command {
	var (
		unused  time.Duration
		maxSize int64
		all     bool
	)
	c := &cobra.Command{
		Use:   "prune",
		Short: "Remove compiled modules and downloads that were not used for long",
		Long: "Remove compiled modules that were not used for --unused-for, then the longest unused until the rest is no larger\n" +
			"than --max-mb. A module that is needed again is compiled again. Downloads as old go as well: what is installed has\n" +
			"bytes of its own.",
		Example: "  air cache prune --unused-for 168h --max-mb 500",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if unused <= 0 || maxSize < 0 {
				return fault.New(fault.InvalidInput, "usage", "--unused-for must be more than 0, and --max-mb at least 0").WithHint("--all removes everything")
			}
			if all && (cmd.Flags().Changed("max-mb") || cmd.Flags().Changed("unused-for")) {
				return fault.New(fault.InvalidInput, "usage", "--all removes everything: it goes with neither --unused-for nor --max-mb")
			}
			cache, err := a.compileCache()
			if err != nil {
				return err
			}
			if all {
				maxSize = 0
			}
			entries, err := cache.Prune(maxSize*1e6, unused, time.Now())
			if err != nil {
				return fault.IO("pruning the compile cache", err)
			}
			freed, err := a.pruneDownloads(cmd.Context(), unused, all)
			if err != nil {
				return err
			}
			if freed > 0 {
				a.note("removed %s of downloads", sizeWord(freed))
			}
			removed := cachedModules(entries)
			if len(removed) == 0 {
				a.note("nothing to remove")
			} else {
				a.note("removed %s", totalOf(removed))
			}
			return a.print(removed, func(w io.Writer) {
				for _, m := range removed {
					fmt.Fprintf(w, "removed %s (%s)\n", m.Module, sizeWord(m.Bytes))
				}
			})
		},
	}
	c.Flags().DurationVar(&unused, "unused-for", 30*24*time.Hour, "remove what was not used for this time, such as 168h")
	c.Flags().Int64Var(&maxSize, "max-mb", 2000, "keep at most this many megabytes")
	c.Flags().BoolVar(&all, "all", false, "remove everything, whatever its age; not with the other two")
	return c
}
