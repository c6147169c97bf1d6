package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

const maxPassword = 16 << 10

func (a *app) loginCommand() *cobra.Command {
	var transport transportFlags
	var user string
	var stdin bool
	c := &cobra.Command{
		Use:   "login HOST[:PORT]",
		Short: "Log in to a registry",
		Long: "Try a user name and a password, or a token in its place, on a registry, and store them where Docker and other\n" +
			"clients do: in a credential helper where one is configured, else in config.json. The password is typed on the\n" +
			"terminal, or read from standard input with --password-stdin. It is never an argument.",
		Example: "  pass show registry | air login registry.example -u me --password-stdin",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			password, err := a.password(cmd.Context(), args[0], stdin)
			if err != nil {
				return err
			}
			if err := oci.Login(cmd.Context(), a.ociOptions(at, args[0], &transport), args[0], user, password); err != nil {
				return err
			}
			return a.print(map[string]any{"registry": args[0], "user": user}, func(w io.Writer) { fmt.Fprintf(w, "logged in to %s\n", args[0]) })
		},
	}
	transport.add(c)
	c.Flags().StringVarP(&user, "username", "u", "", "the user name; a registry that takes a token ignores it")
	c.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from standard input")
	_ = c.MarkFlagRequired("username") // it is there
	return c
}

func (a *app) password(ctx context.Context, host string, stdin bool) (string, error) {
	if !stdin {
		return a.typeHidden(ctx, "password for "+host, "--password-stdin reads it from standard input")
	}
	value, err := io.ReadAll(io.LimitReader(a.stdin, maxPassword+1))
	if err == nil && len(value) > maxPassword {
		err = fmt.Errorf("more than %d bytes", maxPassword)
	}
	if err != nil {
		return "", fault.New(fault.InvalidInput, "input_file", "reading the password from standard input: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(value), "\n"), "\r"), nil
}

func (a *app) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "logout HOST[:PORT]",
		Short: "Forget the login to a registry",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			if err := oci.Logout(cmd.Context(), a.ociOptions(at, args[0], &transportFlags{}), args[0]); err != nil {
				return err
			}
			return a.print(map[string]any{"registry": args[0]}, func(w io.Writer) { fmt.Fprintf(w, "logged out of %s\n", args[0]) })
		},
	}
}
