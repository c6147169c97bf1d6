package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/aircoding/air/internal/fault"
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

// longestLine is what a terminal takes as one line at most, less its end; the rest of a
// longer one it drops.
const longestLine = 4095

// typeSecret reads a line from the terminal device without showing it.
func (a *app) typeSecret(ctx context.Context, name string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil || a.flags.noPrompt {
		if err == nil {
			_ = tty.Close() // nothing was written
		}
		return "", fault.New(fault.ApprovalRequired, "no_terminal", "the value is typed on a terminal, and there is none").
			WithHint("air secret set %s - reads it from standard input", name)
	}
	defer tty.Close()
	fd := int(tty.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", fault.IO("reading the secret", err)
	}
	if _, err := fmt.Fprintf(tty, "value of %s (not shown): ", name); err != nil {
		return "", fault.IO("reading the secret", err)
	}
	type line struct {
		value []byte
		err   error
	}
	typed := make(chan line, 1)
	go func() {
		value, err := term.ReadPassword(fd)
		typed <- line{value, err}
	}()
	select {
	case got := <-typed:
		fmt.Fprintln(tty)
		if len(got.value) >= longestLine {
			return "", fault.New(fault.InvalidInput, "bad_secret", "the line is as long as a terminal hands over: its end may be missing").
				WithHint("air secret set %s - reads a long one from standard input", name)
		}
		if errors.Is(got.err, io.EOF) { // nothing was typed
			got.err = nil
		}
		return string(got.value), fault.IO("reading the secret", got.err)
	case <-ctx.Done():
		_ = term.Restore(fd, before) // the reader does not come back to do it
		fmt.Fprintln(tty)
		return "", context.Cause(ctx)
	}
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
			if err := store.Remove(args[0]); err != nil {
				return err
			}
			return a.print(map[string]any{"name": args[0]}, func(w io.Writer) { fmt.Fprintf(w, "removed %s\n", args[0]) })
		},
	}
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
