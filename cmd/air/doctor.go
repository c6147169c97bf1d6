package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/doctor"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
)

func (a *app) doctorCommand() *cobra.Command {
	var escapes, fix, yes bool
	c := &cobra.Command{
		Use:   "doctor [ID[@DIGEST]...]",
		Short: "Say what this machine lacks, and install it",
		Long: "Look for what air itself wants, and for what the capabilities want that are named, or else that are enabled in\n" +
			"this project. Ends with 1 where something that is required is missing.\n\n" +
			"--fix shows the commands of apt-get, npm and go that install what is missing, asks, and runs them. A capability\n" +
			"only names packages: nothing that it writes is run, credentials are never installed, and what takes root is\n" +
			"left to you where you are not.\n\n" +
			"--sandbox starts a worker and a sandboxed command, tries each known way out of them from the inside, and says\n" +
			"what refused it. It ends with 1 where something was not refused or could not be tried. Nothing is tried that\n" +
			"would outlast the attempt.",
		Example:           "air doctor\nair doctor acme-words --fix",
		ValidArgsFunction: a.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !escapes {
				return a.checkUp(cmd.Context(), args, fix, yes)
			}
			if fix || len(args) > 0 {
				return fault.New(fault.InvalidInput, "usage", "--sandbox is about the machine: it takes no ID and fixes nothing")
			}
			return a.tryEscapes(cmd.Context())
		},
	}
	c.Flags().BoolVar(&fix, "fix", false, "show what would install what is missing, and ask")
	c.Flags().BoolVar(&yes, "yes", false, "with --fix: run what is shown without asking")
	c.Flags().BoolVar(&escapes, "sandbox", false, "try to escape from workers and from sandboxed commands")
	return c
}

// checkup is what doctor found and did.
type checkup struct {
	Air          []capabilities.Verdict `json:"air"`
	Capabilities []wants                `json:"capabilities"`
	Plan         *doctor.Plan           `json:"plan,omitempty"` // of --fix, before it was carried out
	Installed    []doctor.Outcome       `json:"installed,omitempty"`

	needs []doctor.Need
}

// wants is what one capability wants of the machine.
type wants struct {
	ID           string                 `json:"capability_id"`
	Version      string                 `json:"version,omitempty"`
	Digest       string                 `json:"digest,omitempty"`
	Error        string                 `json:"error,omitempty"` // why it cannot be read
	Dependencies []capabilities.Verdict `json:"dependencies"`
}

// checkUp looks, installs what a person agrees to, and looks again.
func (a *app) checkUp(ctx context.Context, args []string, fix, yes bool) error {
	at, err := a.place()
	if err != nil {
		return err
	}
	events, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	if err := appendEvent(ctx, events, event.DoctorStarted, map[string]any{"capabilities": args, "fix": fix}); err != nil {
		return err
	}
	found, err := a.lookAround(ctx, at, args)
	if err == nil && fix {
		found, err = a.fixIt(ctx, at, args, found, yes)
	}
	err = errors.Join(err, appendEvent(context.WithoutCancel(ctx), events, event.DoctorCompleted, found.facts()))
	if err != nil {
		return err
	}
	if err := a.print(found, found.write); err != nil {
		return err
	}
	return found.verdict()
}

// fixIt shows what would install what is missing, asks, runs it and looks again.
func (a *app) fixIt(ctx context.Context, at place, args []string, found checkup, yes bool) (checkup, error) {
	plan := doctor.NewPlan(found.needs).ForPerson(os.Geteuid() == 0)
	found.Plan = &plan
	if err := plan.Write(a.stderr); err != nil || len(plan.Steps) == 0 {
		return found, err
	}
	if err := a.confirm(ctx, "Run "+counted(len(plan.Steps), "command")+"?", yes); err != nil {
		return found, err
	}
	installed, err := a.doctor(at).Install(ctx, plan, a.stderr)
	if err != nil {
		found.Installed = installed
		return found, err
	}
	found, err = a.lookAround(ctx, at, args)
	found.Plan, found.Installed = &plan, installed
	return found, err
}
