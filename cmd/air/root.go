package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
)

// main runs one command line and returns the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	err = errors.Join(err, a.close())
	if err == nil {
		return 0
	}
	if !a.ran { // cobra refused the command line
		err = fault.New(fault.InvalidInput, "usage", "%w", err).WithHint("air --help, or air COMMAND --help")
	}
	return a.fail(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "air",
		Short:         "Run third-party tools for coding agents, safely",
		Long:          "air runs tools that nobody has vetted: WebAssembly modules that reach the outside only\nthrough one registry and one permission engine, distributed as OCI artifacts.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			a.ran = true
			return a.checkFlags()
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	f := root.PersistentFlags()
	f.StringVarP(&a.flags.output, "output", "o", "text", "output format: text or json")
	f.StringVar(&a.flags.project, "project", "", "project folder (default: the nearest one upwards)")
	f.StringVar(&a.flags.session, "session", "", "session id or unique prefix (default: $AIR_SESSION, else the current one)")
	f.StringVar(&a.flags.task, "task", "", "task id or unique prefix (default: the current one)")
	f.BoolVar(&a.flags.noPrompt, "no-prompt", false, "ask nobody: what would be asked is denied")
	f.BoolVarP(&a.flags.quiet, "quiet", "q", false, "no progress and no log lines of guests")
	f.BoolVarP(&a.flags.verbose, "verbose", "v", false, "more on stderr")
	root.AddCommand(
		a.initCommand(), a.acceptCommand(),
		a.newCommand(), a.buildCommand(), a.validateCommand(), a.inspectCommand(),
		a.runCommand(), a.callCommand(), a.toolCommand(),
		a.pushCommand(), a.pullCommand(), a.installCommand(),
		a.lsCommand(), a.enableCommand(), a.disableCommand(), a.rmCommand(),
		a.eventCommand(), a.artifactCommand(), a.sessionCommand(), a.taskCommand(),
		a.permissionCommand(), a.registryCommand(), a.versionCommand(),
	)
	root.InitDefaultCompletionCmd()
	return root
}

func (a *app) checkFlags() error {
	if o := a.flags.output; o != "text" && o != "json" {
		return fault.New(fault.InvalidInput, "usage", "--output %q: text or json is wanted", o)
	}
	return nil
}

// group is a command that only holds others.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, args []string) error {
		return fault.New(fault.InvalidInput, "usage", "air %s: a subcommand is missing", use).WithHint("air %s --help lists them", use)
	}}
	c.AddCommand(children...)
	return c
}
