package sandbox

import (
	"context"
	"fmt"
	"time"
)

// checkPatience bounds what one probe of a command may take.
const checkPatience = 30 * time.Second

// CommandTier says whether this machine can hold a command, by holding one that does
// nothing. It takes some milliseconds; the answer changes only with the machine.
func CommandTier(ctx context.Context) Tier {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	p, err := Command{Self: []string{commandProbe}, Mounts: System()}.Start(ctx)
	if err != nil {
		return Tier{Reason: err.Error()}
	}
	exit, err := p.Wait()
	if err != nil || exit.Code != 0 {
		return Tier{Reason: fmt.Sprintf("a program that does nothing ended with code %d in the sandbox (%v)", exit.Code, err)}
	}
	return Tier{Held: true, Reason: "namespaces, " + landlockWords(p.confinement.Landlock)}
}

func landlockWords(version int) string {
	if version == 0 {
		return "no Landlock"
	}
	return fmt.Sprintf("Landlock version %d", version)
}

// Check tries each escape in a child of each profile, for real, and reports what became of
// it. An attempt that works changes nothing that lasts.
func Check(ctx context.Context) Report {
	r := Report{Kernel: kernelRelease(), Landlock: landlockVersion(), Command: CommandTier(ctx)}
	r.Rows = checkWorker(ctx)
	r.Worker = workerTier(r.Rows)
	if r.Command.Held {
		r.Rows = append(r.Rows, checkCommand(ctx)...)
	}
	return r
}

// workerTier sums up the rows of workers.
func workerTier(rows []Row) Tier {
	for _, row := range rows {
		if !row.Refused {
			return Tier{Reason: row.Attempt + ": " + row.How}
		}
	}
	return Tier{Held: true, Reason: "seccomp, " + landlockWords(landlockVersion())}
}
