package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/secret"
)

func (a *app) secretCommand() *cobra.Command {
	return group("secret", "Keep secrets that tools use and never see", a.secretSetCommand(), a.secretLsCommand(), a.secretRmCommand())
}

// secrets are the person's, for all their projects.
func (a *app) secrets() (*secret.Store, error) {
	at, err := a.place()
	if err != nil {
		return nil, err
	}
	return secret.Open(at.home.Path("secrets")), nil
}

func (a *app) secretSetCommand() *cobra.Command {
	var stdin bool
	c := &cobra.Command{
		Use:   "set NAME [-]",
		Short: "Store a secret, or replace it",
		Long: "Store a secret under a name. The value is typed on the terminal, where it is not shown, or read from standard\n" +
			"input with - or --stdin, less one line ending at its end. It is never an argument: arguments are seen by others.",
		Example: `  air secret set github-token
  pass show github | air secret set github-token -`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeSecrets,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && args[1] != "-" {
				return fault.New(fault.InvalidInput, "usage", "a secret is no argument: others see it, and shells keep it").
					WithHint("air secret set %.64s asks for it; with - it is read from standard input", args[0])
			}
			if err := secret.CheckName(args[0]); err != nil {
				return err
			}
			store, err := a.secrets()
			if err != nil {
				return err
			}
			value, err := a.secretValue(cmd.Context(), args[0], stdin || len(args) == 2)
			if err != nil {
				return err
			}
			if err := store.Set(cmd.Context(), args[0], value); err != nil {
				return err
			}
			if err := a.recordSecret(cmd.Context(), event.SecretSet, args[0]); err != nil {
				return err
			}
			return a.print(map[string]any{"name": args[0]}, func(w io.Writer) { fmt.Fprintf(w, "stored %s\n", args[0]) })
		},
	}
	c.Flags().BoolVar(&stdin, "stdin", false, "read the value from standard input, as - does")
	return c
}

func (a *app) secretValue(ctx context.Context, name string, stdin bool) (string, error) {
	if !stdin {
		return a.typeSecret(ctx, name)
	}
	value, err := io.ReadAll(io.LimitReader(a.stdin, secret.MaxValue+3)) // a line ending may follow
	if err != nil {
		return "", fault.New(fault.InvalidInput, "input_file", "reading standard input: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(value), "\n"), "\r"), nil
}

// typeSecret reads a line from the terminal, which does not show it.
func (a *app) typeSecret(ctx context.Context, name string) (value string, err error) {
	t, err := a.openTerminal()
	if err != nil {
		return "", fault.New(fault.ApprovalRequired, "no_terminal", "the value is typed on a terminal, and there is none").
			WithHint("air secret set %s - reads it from standard input", name)
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	value, err = t.Secret(ctx, "value of "+name)
	if fault.Is(err, fault.InvalidInput) {
		err = fault.From(err).WithHint("air secret set %s - reads a long one from standard input", name)
	}
	return value, err
}

func (a *app) secretLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the names of the secrets",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.secrets()
			if err != nil {
				return err
			}
			all, err := store.List()
			if err != nil {
				return err
			}
			all = append([]secret.Info{}, all...)
			return a.print(all, func(w io.Writer) {
				var rows [][]string
				for _, i := range all {
					rows = append(rows, []string{i.Name, i.Changed.Local().Format(time.DateTime), i.Problem})
				}
				table(w, []string{"NAME", "CHANGED", "NOTE"}, rows)
			})
		},
	}
}

func (a *app) secretRmCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "rm NAME",
		Short:             "Remove a secret",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeSecrets,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.secrets()
			if err != nil {
				return err
			}
			if err := store.Remove(cmd.Context(), args[0]); err != nil {
				return err
			}
			if err := a.recordSecret(cmd.Context(), event.SecretRemoved, args[0]); err != nil {
				return err
			}
			return a.print(map[string]any{"name": args[0]}, func(w io.Writer) { fmt.Fprintf(w, "removed %s\n", args[0]) })
		},
	}
}

// recordSecret notes that the person changed a secret. Its value is nobody's business.
func (a *app) recordSecret(ctx context.Context, eventType, name string) error {
	at, err := a.place()
	if err != nil {
		return err
	}
	events, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	return appendEvent(ctx, events, eventType, map[string]any{"name": name})
}

func (a *app) completeSecrets(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	store, err := a.secrets()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := store.Names()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
