package main

import (
	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
)

func (a *app) eventShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show one event as it is stored",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			stores, err := a.eventStores(cmd.Context())
			if err != nil {
				return err
			}
			for _, s := range stores {
				e, err := s.Get(cmd.Context(), args[0])
				if fault.Is(err, fault.NotFound) {
					continue
				}
				if err != nil {
					return err
				}
				return a.printJSON(e)
			}
			return fault.New(fault.NotFound, "unknown_event", "no event %q in this session or project", args[0]).WithHint("air event ls -o json shows the ids")
		},
	}
}
