package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

func (a *app) updateCommand() *cobra.Command {
	var transport transportFlags
	var yes, dryRun bool
	c := &cobra.Command{
		Use:   "update [ID[@DIGEST]...]",
		Short: "Take newer versions of enabled capabilities",
		Long: "Pull what the reference of an enabled capability names now, or read its folder again, or fetch its branch of a git\n" +
			"repository, show every difference, and ask. A lower version is refused: air rollback goes back. Without an ID all\n" +
			"enabled capabilities are looked at.",
		ValidArgsFunction: a.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, l, err := a.projectLifecycle()
			if err != nil {
				return err
			}
			all := len(args) == 0
			if all {
				if args, err = enabledIDs(cmd.Context(), l); err != nil {
					return err
				}
			}
			u := updating{a, at, l, &transport, dryRun, yes}
			updated := []capabilities.Status{}
			err = a.eachOf(cmd.Context(), args, func(arg string) error {
				status, err := u.one(cmd.Context(), arg)
				switch {
				case err == nil:
					updated = append(updated, status)
				case all && (hasCode(err, "pinned") || hasCode(err, "no_source")):
					a.note("%v", err)
					return nil
				}
				return err
			})
			if err != nil && len(updated) == 0 {
				return err
			}
			return errors.Join(err, a.print(updated, func(w io.Writer) {
				for _, s := range updated {
					fmt.Fprintf(w, "%s %s\n%s\n", s.ID, s.Version, s.Digest)
				}
				if len(updated) == 0 {
					fmt.Fprintln(w, "nothing is enabled here")
				}
			}))
		},
	}
	transport.add(c)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "install it and show what would change here, and change nothing here; ends with 1 where something would")
	c.Flags().BoolVar(&yes, "yes", false, "accept what is shown without asking")
	return c
}

func enabledIDs(ctx context.Context, l *capabilities.Lifecycle) ([]string, error) {
	all, err := l.Current(ctx)
	var ids []string
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids, err
}

// updating is one run of air update.
type updating struct {
	app         *app
	at          place
	lifecycle   *capabilities.Lifecycle
	transport   *transportFlags
	dryRun, yes bool
}

// one brings the bytes of what a capability's source has now, and asks for consent.
func (u updating) one(ctx context.Context, arg string) (capabilities.Status, error) {
	id, digest, err := idArgument(arg)
	if err != nil {
		return capabilities.Status{}, err
	}
	now, err := current(ctx, u.lifecycle, id)
	if err != nil {
		return capabilities.Status{}, err
	}
	if digest == "" {
		if digest, err = u.newest(ctx, now); err != nil {
			return capabilities.Status{}, err
		}
	}
	ask := u.app.consent(ctx, "Update "+id+" in this project?", u.yes)
	if u.dryRun {
		ask = u.app.onlyShow
	}
	status, err := u.lifecycle.Update(ctx, id, digest, ask)
	if err != nil {
		return status, err
	}
	if status.Digest == now.Digest {
		u.app.note("%s is up to date", id)
		return status, nil
	}
	u.app.afterConsent(ctx, u.lifecycle, status)
	return status, nil
}

// onlyShow is the consent of somebody who only wants to know.
func (a *app) onlyShow(d capabilities.Disclosure) (bool, error) {
	e := fault.New(fault.Conflict, "update_available", "%s would become %s, %s", d.CapabilityID, d.Version, d.Digest).WithHint("without --dry-run it is asked about")
	if a.flags.output == "json" {
		e.Details = map[string]any{"changes": d.Changes}
		return false, e
	}
	return false, errors.Join(d.Write(a.stderr), e)
}

// newest installs what the source of an enabled capability has now.
func (u updating) newest(ctx context.Context, now capabilities.Current) (digest string, err error) {
	var i capabilities.Installed
	switch {
	case now.Place == capabilities.ProjectLocal:
		return "", nil // its folder is what there is
	case now.Reference != "":
		i, err = u.pull(ctx, now)
	case now.Source.Kind == "git":
		i, err = u.app.updateGit(ctx, u.at, now)
	case now.Source.Kind == "local_path" && isFolder(now.Source.Path):
		i, err = u.app.installFolder(ctx, u.at, now.Source.Path)
	default:
		return "", fault.New(fault.InvalidInput, "no_source", "%s came from %s, where nothing newer can be looked for", now.ID, now.Source).
			WithHint("air pull, air load or air install the newer one, then air update %s@sha256:…", now.ID)
	}
	return i.Digest, sameID(now.ID, i.CapabilityID, err)
}

// pull brings what the tag of a reference names now.
func (u updating) pull(ctx context.Context, now capabilities.Current) (capabilities.Installed, error) {
	ref, err := oci.ParseReference(now.Reference)
	if err != nil {
		return capabilities.Installed{}, err
	}
	if ref.Tag == "" {
		return capabilities.Installed{}, fault.New(fault.InvalidInput, "pinned", "%s was pulled by digest, so there is nothing newer under its name", now.ID).
			WithHint("air pull a tag of it, then air enable %s", now.ID)
	}
	return u.app.install(ctx, u.at, u.app.ociClient(u.at, now.Reference, u.transport), now.Reference, "")
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func hasCode(err error, code string) bool { return fault.From(err).Code == code }

func current(ctx context.Context, l *capabilities.Lifecycle, id string) (capabilities.Current, error) {
	all, err := l.Current(ctx)
	if err != nil {
		return capabilities.Current{}, err
	}
	for _, c := range all {
		if c.ID == id {
			return c, nil
		}
	}
	return capabilities.Current{}, fault.New(fault.NotFound, "not_enabled", "capability %.64s is not enabled in this project", id).
		WithHint("air enable %.64s asks about it for the first time", id)
}

// sameID refuses a source that has another capability now.
func sameID(want, got string, err error) error {
	if err == nil && got != want {
		return fault.New(fault.Conflict, "other_capability", "the source of %s has the capability %s now", want, got).
			WithHint("it is installed and not enabled; air inspect %s shows what it is", got)
	}
	return err
}
