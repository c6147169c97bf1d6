package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

func (a *app) updateCommand() *cobra.Command {
	var transport transportFlags
	var yes bool
	c := &cobra.Command{
		Use:   "update [ID[@DIGEST]...]",
		Short: "Take newer versions of enabled capabilities",
		Long: "Pull what the reference of an enabled capability names now, or read its folder again, show every difference, and\n" +
			"ask. A lower version is refused: air rollback goes back. Without an ID all enabled capabilities are looked at.",
		ValidArgsFunction: a.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.needProject()
			if err != nil {
				return err
			}
			l, err := a.lifecycle(at)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if args, err = enabledIDs(cmd.Context(), l); err != nil {
					return err
				}
			}
			updated := []capabilities.Status{}
			for _, arg := range args {
				status, err := a.update(cmd.Context(), at, l, arg, &transport, yes)
				if err != nil {
					return err
				}
				updated = append(updated, status)
			}
			return a.print(updated, func(w io.Writer) {
				for _, s := range updated {
					fmt.Fprintf(w, "%s %s\n%s\n", s.ID, s.Version, s.Digest)
				}
				if len(updated) == 0 {
					fmt.Fprintln(w, "nothing is enabled here")
				}
			})
		},
	}
	transport.add(c)
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

// update brings the bytes of what a capability's source has now, and asks for consent.
func (a *app) update(ctx context.Context, at place, l *capabilities.Lifecycle, arg string, transport *transportFlags, yes bool) (capabilities.Status, error) {
	id, digest, err := idArgument(arg)
	if err != nil {
		return capabilities.Status{}, err
	}
	now, err := current(ctx, l, id)
	if err != nil {
		return capabilities.Status{}, err
	}
	if digest == "" {
		if digest, err = a.newest(ctx, at, now, transport); err != nil {
			return capabilities.Status{}, err
		}
	}
	status, err := l.Update(ctx, id, digest, a.consent(ctx, "Update "+id+" in this project?", yes))
	if err != nil {
		return status, err
	}
	if status.Digest == now.Digest {
		a.note("%s is up to date", id)
		return status, nil
	}
	a.afterConsent(ctx, l, status)
	return status, nil
}

// newest installs what the source of an enabled capability has now.
func (a *app) newest(ctx context.Context, at place, now capabilities.Current, transport *transportFlags) (digest string, err error) {
	switch {
	case now.Place == capabilities.ProjectLocal:
		return "", nil // its folder is what there is
	case now.Reference != "":
		ref, err := oci.ParseReference(now.Reference)
		if err != nil {
			return "", err
		}
		if ref.Tag == "" {
			return "", fault.New(fault.InvalidInput, "pinned", "%s was pulled by digest, so there is nothing newer under its name", now.ID).
				WithHint("air pull a tag of it, then air update %s@sha256:…", now.ID)
		}
		i, err := a.install(ctx, at, a.ociClient(at, now.Reference, transport), now.Reference)
		return i.Digest, sameID(now.ID, i.CapabilityID, err)
	case now.Source.Kind == "local_path":
		i, err := a.installFolder(ctx, at, now.Source.Path)
		return i.Digest, sameID(now.ID, i.CapabilityID, err)
	}
	return "", fault.New(fault.InvalidInput, "no_source", "%s came from %s, which names no place to update from", now.ID, now.Source).
		WithHint("air pull or air load the newer one, then air update %s@sha256:…", now.ID)
}

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
