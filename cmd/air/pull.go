package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/oci"
)

func (a *app) pullCommand() *cobra.Command {
	var transport transportFlags
	var locked bool
	c := &cobra.Command{
		Use:   "pull [REF]",
		Short: "Pull a capability from a registry into the install store",
		Long: "Pull a capability by tag or digest, with its signatures, and place it in ~/.air/capabilities. Every byte is verified\n" +
			"against its digest, the manifest is validated, the module's imports are proven, and it is compiled. Nothing is run\n" +
			"and nothing is enabled. Without REF everything in the project's accepted capability-lock.json is pulled, by digest.\n" +
			"With --locked a REF must name what is in the lock.",
		Example: "  air pull 127.0.0.1:5000/acme/csv-insight:0.1.0 --plain-http",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.restore(cmd.Context(), &transport)
			}
			at, err := a.place()
			if err != nil {
				return err
			}
			client := a.ociClient(at, args[0], &transport)
			ref, tag := args[0], ""
			if locked {
				if ref, err = a.lockedReference(cmd.Context(), at, client, ref); err != nil {
					return err
				}
				tag = args[0]
			}
			installed, err := a.install(cmd.Context(), at, client, ref, tag)
			if err != nil {
				return err
			}
			return a.printInstalled(installed)
		},
	}
	transport.add(c)
	c.Flags().BoolVar(&locked, "locked", false, "pull nothing but what the project's lock has")
	return c
}

// lockedReference is the reference by the digest that it names now, if that is pinned.
func (a *app) lockedReference(ctx context.Context, at place, client *oci.Client, ref string) (string, error) {
	l, err := a.lifecycle(at)
	if err != nil {
		return "", err
	}
	lock, err := sharedLock(l)
	if err != nil {
		return "", err
	}
	digest, err := client.Resolve(ctx, ref)
	if err != nil {
		return "", err
	}
	for _, one := range lock.Capabilities {
		if one.Digest == digest {
			return repositoryOf(ref) + "@" + digest, nil
		}
	}
	return "", fault.New(fault.PermissionDenied, "not_locked", "%s names %s, which the project's %s does not have", ref, digest, capabilities.LockFile).
		WithHint("air lock --check shows what drifted from the lock")
}

// sharedLock is the project's accepted lock, which has to be there.
func sharedLock(l *capabilities.Lifecycle) (capabilities.Lock, error) {
	lock, ok, err := l.SharedLock()
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "no_lock", "there is no project here with a %s", capabilities.LockFile).
			WithHint("air pull REF pulls one capability; air lock pins what is enabled")
	}
	return lock, err
}

func (a *app) printInstalled(i capabilities.Installed) error {
	return a.print(i, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s\n%s\n", i.CapabilityID, text.Printable(i.Version), i.Digest)
		a.noteInstalled(i.CapabilityID)
	})
}

func (a *app) noteInstalled(id string) {
	a.note("air inspect %[1]s shows what it asks for, air enable %[1]s allows it in a project", id)
}
