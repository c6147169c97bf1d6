package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/trust"
)

func (a *app) trustCommand() *cobra.Command {
	return group("trust", "Say whose signatures count", a.trustAddCommand(), a.trustLsCommand(), a.trustRmCommand(), a.trustGenerateKeyCommand())
}

func (a *app) trustAddCommand() *cobra.Command {
	var p trust.Publisher
	var yes bool
	c := &cobra.Command{
		Use:   "add NAME FILE --capability GLOB",
		Short: "Trust a publisher's public key",
		Long: "Trust the key in a PEM file for capabilities whose ids match, pulled from where the references match. What it has\n" +
			"signed is then from a verified publisher, in all projects. That changes what is shown and what a project's\n" +
			"require_signature lets through, and permits nothing by itself.",
		Example: "  air trust add acme acme.pub --capability 'acme-*' --reference 'registry.example/acme/**'",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			pem, err := readKey(args[1])
			if err != nil {
				return err
			}
			key, err := trust.ReadPublicKey(pem)
			if err != nil {
				return err
			}
			p.Name, p.KeyID, p.PublicKey, p.AddedAt = args[0], key.ID(), string(key.PEM()), time.Now().UTC().Truncate(time.Second)
			a.warn("%s", describePublisher(p))
			if err := a.confirm(cmd.Context(), "Trust this key?", yes); err != nil {
				return err
			}
			if err := a.addPublisher(cmd.Context(), at, p); err != nil {
				return err
			}
			return a.print(p, func(w io.Writer) { fmt.Fprintf(w, "trusted %s\n%s\n", p.Name, p.KeyID) })
		},
	}
	c.Flags().StringArrayVar(&p.Capabilities, "capability", nil, "pattern of the capability ids that the key may sign (repeatable)")
	c.Flags().StringArrayVar(&p.References, "reference", nil, "pattern of HOST/REPOSITORY that they come from (repeatable; default: anywhere)")
	c.Flags().BoolVar(&yes, "yes", false, "accept what is shown without asking")
	_ = c.MarkFlagRequired("capability") // it is there
	return c
}

// addPublisher trusts a key and records that: without the record nobody is trusted.
func (a *app) addPublisher(ctx context.Context, at place, p trust.Publisher) error {
	events, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	if err := publishers(at).Add(ctx, p); err != nil {
		return err
	}
	if err := recordTrust(ctx, events, "added", p); err != nil {
		_, undone := publishers(at).Remove(context.WithoutCancel(ctx), p.Name)
		return errors.Join(err, undone)
	}
	return nil
}

func describePublisher(p trust.Publisher) string {
	from := strings.Join(p.References, ", ")
	if from == "" {
		from = "anywhere"
	}
	return fmt.Sprintf("%s\n  key           %s\n  capabilities  %s\n  pulled from   %s", p.Name, p.KeyID, strings.Join(p.Capabilities, ", "), from)
}

func (a *app) trustLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the publishers that you trust",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			all, err := publishers(at).List()
			if err != nil {
				return err
			}
			all = append([]trust.Publisher{}, all...)
			return a.print(all, func(w io.Writer) {
				var rows [][]string
				for _, p := range all {
					rows = append(rows, []string{p.Name, p.KeyID, strings.Join(p.Capabilities, " "), strings.Join(p.References, " "), p.AddedAt.Local().Format(time.DateTime)})
				}
				table(w, []string{"NAME", "KEY", "CAPABILITIES", "REFERENCES", "ADDED"}, rows)
			})
		},
	}
}

func (a *app) trustRmCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "rm NAME",
		Short:             "Trust a publisher no longer",
		Long:              "Trust a publisher's key no longer. What was enabled as signed by it is refused from then on, until a person enables it anew.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completePublishers,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			events, err := a.projectEvents(at)
			if err != nil {
				return err
			}
			removed, err := publishers(at).Remove(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := recordTrust(cmd.Context(), events, "removed", removed); err != nil {
				return fmt.Errorf("%s is no longer trusted, and that was not recorded: %w", removed.Name, err)
			}
			return a.print(removed, func(w io.Writer) { fmt.Fprintf(w, "no longer trusted: %s\n%s\n", removed.Name, removed.KeyID) })
		},
	}
}

// recordTrust notes that the person changed whom they trust.
func recordTrust(ctx context.Context, events *event.Store, change string, p trust.Publisher) error {
	return appendEvent(ctx, events, event.TrustChanged, map[string]any{
		"change": change, "publisher": p.Name, "key_id": p.KeyID, "capabilities": p.Capabilities, "references": p.References,
	})
}

func (a *app) completePublishers(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	at, err := a.place()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, err := publishers(at).List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
