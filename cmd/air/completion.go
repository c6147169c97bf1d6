package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
)

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script for bash, zsh, fish or powershell",
		Long: "Print a script that completes commands, flags, tools and capabilities. For the running shell:\n\n" +
			"    source <(air completion bash)",
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return fault.New(fault.InvalidInput, "usage", "no completion for %.40q: bash, zsh, fish or powershell is wanted", args[0])
		},
	}
}

// complete offers the values of a flag.
func complete(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // fails for a flag that is not there
}

func (a *app) completeTools(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := a.toolNames(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) toolNames(ctx context.Context) ([]string, error) {
	r, err := a.enabled(ctx)
	if err != nil {
		return nil, err
	}
	tools, err := r.Tools(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names, nil
}

// completeInstalled offers the ids of installed capabilities, and behind an @ their digests.
func (a *app) completeInstalled(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	at, err := a.place()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	installed, err := store(at).List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, i := range installed {
		if strings.Contains(prefix, "@") {
			ids = append(ids, i.CapabilityID+"@"+i.Digest)
		} else {
			ids = append(ids, i.CapabilityID)
		}
	}
	return slices.Compact(ids), cobra.ShellCompDirectiveNoFileComp // listed by id
}
