//go:build !linux

package sandbox

import "context"

// CommandTier is none.
func CommandTier(context.Context) Tier { return Tier{Reason: "commands are held on Linux only"} }

// Check finds nothing to try.
func Check(ctx context.Context) Report {
	return Report{Worker: Tier{Reason: "guests run on Linux only"}, Command: CommandTier(ctx)}
}
