package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
)

// main runs one command line and returns the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, a.close())
	if err == nil {
		return 0
	}
	if !a.ran { // cobra refused the command line
		err = fault.New(fault.InvalidInput, "usage", "%w", err).WithHint("usage: %s", cmd.UseLine())
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
		Version:       version,
		Args:          cobra.NoArgs,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := cmd.ValidateRequiredFlags(); err != nil {
				return err // still one of usage
			}
			a.ran = true
			a.limitTime(cmd)
			return a.checkFlags()
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	f := root.PersistentFlags()
	f.StringVarP(&a.flags.output, "output", "o", "text", "output format: text or json")
	f.StringVar(&a.flags.project, "project", "", "project folder (default: the nearest one upwards)")
	f.StringVar(&a.flags.session, "session", "", "session id or unique prefix (default: $AIR_SESSION, else the current one)")
	f.StringVar(&a.flags.task, "task", "", "task id or unique prefix (default: the current one)")
	f.DurationVar(&a.flags.timeout, "timeout", 0, "give up after this time, such as 1s (of a call: shortens the tool's own limit)")
	f.BoolVar(&a.flags.noPrompt, "no-prompt", false, "ask nobody: what would be asked is denied")
	f.BoolVarP(&a.flags.quiet, "quiet", "q", false, "no progress and no log lines of guests")
	f.BoolVarP(&a.flags.verbose, "verbose", "v", false, "more on stderr")
	root.AddCommand(
		a.initCommand(), a.acceptCommand(),
		a.newCommand(), a.buildCommand(), a.validateCommand(), a.inspectCommand(),
		a.runCommand(), a.callCommand(), a.toolCommand(),
		a.pushCommand(), a.pullCommand(), a.installCommand(), a.saveCommand(), a.loadCommand(),
		a.lsCommand(), a.enableCommand(), a.disableCommand(), a.updateCommand(), a.rollbackCommand(), a.lockCommand(), a.rmCommand(),
		a.signCommand(), a.verifyCommand(), a.trustCommand(), a.loginCommand(), a.logoutCommand(),
		a.eventCommand(), a.artifactCommand(), a.sessionCommand(), a.taskCommand(), a.workspaceCommand(), a.undoCommand(),
		a.permissionCommand(), a.secretCommand(), a.registryCommand(), a.cacheCommand(), a.doctorCommand(), a.versionCommand(), completionCommand(),
	)
	complete(root, "output", "text", "json")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	return root
}

func (a *app) checkFlags() error {
	if o := a.flags.output; o != "text" && o != "json" {
		return fault.New(fault.InvalidInput, "usage", "--output %q: text or json is wanted", o)
	}
	return nil
}

// limitTime ends a command at --timeout. A call has a clock of its own, which stops
// while a person is asked.
func (a *app) limitTime(cmd *cobra.Command) {
	if a.flags.timeout <= 0 || slices.Contains([]string{"call", "run", "learn", "undo"}, cmd.Name()) {
		return
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), a.flags.timeout)
	a.later(func() error { cancel(); return nil })
	cmd.SetContext(ctx)
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show help about a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return fault.New(fault.InvalidInput, "usage", "air has no command %.80q", strings.Join(args, " ")).WithHint("air --help lists the commands")
			}
			return found.Help()
		},
	}
}

// group is a command that only holds others.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, args []string) error {
		return fault.New(fault.InvalidInput, "usage", "air %s: a subcommand is missing", use).WithHint("air %s --help lists them", use)
	}}
	c.AddCommand(children...)
	return c
}
