package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime/event"
)

func (a *app) lockCommand() *cobra.Command {
	var check, yes bool
	c := &cobra.Command{
		Use:   "lock",
		Short: "Pin the enabled capabilities in the project",
		Long: "Write .air/shared/capability-lock.json: the digests of what is enabled here. Where the file is, nothing else can be\n" +
			"called. What another lock there would lose by it, a capability that is not enabled here, a higher version or a signer, is\n" +
			"shown and asked about; one that is not accepted is not replaced. With --check nothing is written; it ends with 1 where what is installed and enabled is not what is pinned.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, l, err := a.projectLifecycle()
			if err != nil {
				return err
			}
			if check {
				return a.checkLock(cmd.Context(), l)
			}
			return a.lock(cmd.Context(), at, l, yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "accept what is shown without asking")
	c.Flags().BoolVar(&check, "check", false, "say what differs from the lock, and write nothing")
	return c
}

func (a *app) checkLock(ctx context.Context, l *capabilities.Lifecycle) error {
	drifts, err := l.CheckLock(ctx)
	if err != nil {
		return err
	}
	out := map[string]any{"ok": len(drifts) == 0, "drifts": append([]capabilities.Drift{}, drifts...)}
	err = a.print(out, func(w io.Writer) {
		for _, d := range drifts {
			fmt.Fprintf(w, "%s: %s\n", d.ID, oneLine(d.What))
		}
		if len(drifts) == 0 {
			fmt.Fprintln(w, "as locked")
			return
		}
		a.note("to follow the lock: air accept, air pull, air enable; to change it for everybody: air lock")
	})
	if err != nil || len(drifts) == 0 {
		return err
	}
	return &shownError{fault.New(fault.Conflict, "drift", "%s from the lock", counted(len(drifts), "difference"))}
}

// lock pins what is enabled, in place of a lock that the person accepted.
func (a *app) lock(ctx context.Context, at place, l *capabilities.Lifecycle, yes bool) error {
	before, _, err := l.SharedLock()
	if err != nil {
		return err
	}
	lock, err := l.Lock(ctx)
	if err != nil {
		return err
	}
	shown, err := a.lockText(at)
	if err != nil {
		return err
	}
	if losses := before.Losses(lock); len(losses) > 0 {
		a.warn("%s would lose:\n  - %s", capabilities.LockFile, strings.Join(losses, "\n  - "))
		if err := a.confirm(ctx, "Replace the lock?", yes); err != nil {
			return err
		}
	}
	now, err := a.lockText(at)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, shown) {
		return fault.New(fault.Conflict, "changed_meanwhile", "%s changed while you were asked", capabilities.LockFile).WithHint("air accept shows what it is now")
	}
	return a.writeLock(ctx, at, lock)
}

// lockText is the lock that is there, nil where none is.
func (a *app) lockText(at place) ([]byte, error) {
	text, err := regular.Read(at.project.Shared(capabilities.LockFile), capabilities.MaxLock, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, fault.IO("reading the lock", err)
}

// writeLock replaces the lock. Who ran this has accepted what it says.
func (a *app) writeLock(ctx context.Context, at place, lock capabilities.Lock) error {
	events, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	file := at.project.Shared(capabilities.LockFile)
	if err := lock.Write(file); err != nil {
		return err
	}
	if err := acceptWritten(at.project, []string{at.here(file)}); err != nil {
		return err
	}
	pinned := map[string]string{}
	for id, one := range lock.Capabilities {
		pinned[id] = one.Digest
	}
	if err := appendEvent(ctx, events, event.LockRepinned, map[string]any{"capabilities": pinned}); err != nil {
		return err
	}
	return a.print(lock, func(w io.Writer) {
		fmt.Fprintf(w, "wrote %s\n", at.here(file))
		for _, id := range slices.Sorted(maps.Keys(lock.Capabilities)) {
			fmt.Fprintf(w, "  %s %s\n", id, lock.Capabilities[id].Digest)
		}
	})
}
