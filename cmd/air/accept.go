package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

func (a *app) acceptCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "accept",
		Short: "Accept the shared files of a project",
		Long: "Files in .air/shared come with a repository, so what they allow counts only after a person accepted it.\n" +
			"Acceptance is bound to their digests: after a change they ask again, and the difference is shown. What they\n" +
			"deny counts at once.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.needProject()
			if err != nil {
				return err
			}
			accepted, pending, all, err := pendingFiles(at.project)
			if err != nil {
				return err
			}
			if len(pending) == 0 {
				return a.print(map[string]any{"accepted": []any{}}, func(w io.Writer) { fmt.Fprintf(w, "accepted already: %s\n", paths(all)) })
			}
			a.warn("shared files of %s that are not accepted:", at.project.Root)
			for _, f := range pending {
				if err := a.showShared(at, accepted, f); err != nil {
					return err
				}
			}
			if err := a.confirm(cmd.Context(), "Accept them?", yes); err != nil {
				return err
			}
			if err := a.accept(cmd.Context(), at, accepted, pending, all); err != nil {
				return err
			}
			return a.print(map[string]any{"accepted": pending}, func(w io.Writer) { fmt.Fprintf(w, "accepted: %s\n", paths(pending)) })
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "accept what is shown without asking")
	return c
}

// maxShown bounds how much of a shared file is shown before it is accepted.
const maxShown = 16 << 10

// showShared shows a file as it will be accepted, and refuses one that cannot be used.
func (a *app) showShared(at place, accepted *permission.Acceptance, f permission.SharedFile) error {
	content, err := accepted.Read(f)
	if err != nil {
		return err
	}
	if err := a.checkShared(at, f.Path, content); err != nil {
		return err
	}
	what, shown := "new", content
	if before := accepted.Before(f.Path); before != nil {
		what, shown = "changed since it was accepted", diff.Diff("accepted", before, "now", content)
	}
	a.warn("%s (%s, sha256 %s):\n%s", f.Path, what, f.SHA256[:12], text.Head(strings.TrimSpace(string(shown)), maxShown))
	if len(shown) > maxShown {
		a.warn("  … %d bytes in all: read %s before you accept it", len(shown), at.project.Shared(f.Path))
	}
	return nil
}

func (a *app) checkShared(at place, path string, content []byte) error {
	switch path {
	case "permissions.yaml":
		paths, err := a.paths(at, "")
		if err != nil {
			return err
		}
		return permission.CheckRules(at.project.Shared(path), content, paths)
	case "capabilities.yaml":
		return capabilities.CheckSettings(at.project.Shared(path), content)
	}
	return nil
}

func paths(files []permission.SharedFile) string {
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	return strings.Join(names, ", ")
}

// pendingFiles are the shared files that a person has not accepted as they are now, beside
// all of them.
func pendingFiles(p home.Project) (accepted *permission.Acceptance, pending, all []permission.SharedFile, err error) {
	if all, err = permission.Shared(p); err != nil {
		return nil, nil, nil, err
	}
	if accepted, err = permission.LoadAcceptance(p); err != nil {
		return nil, nil, nil, err
	}
	return accepted, accepted.Pending(all), all, nil
}

// accept stores that all files are accepted, and records those that were not before.
func (a *app) accept(ctx context.Context, at place, accepted *permission.Acceptance, pending, all []permission.SharedFile) error {
	if err := accepted.Accept(all); err != nil {
		return err
	}
	events, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	return appendEvent(ctx, events, event.ProjectAccepted, map[string]any{"files": pending})
}

// acceptWritten accepts what `air init` itself has written.
func acceptWritten(p home.Project, created []string) error {
	if len(created) == 0 {
		return nil
	}
	written := map[string]bool{}
	for _, f := range created {
		written[filepath.Join(p.Root, f)] = true
	}
	accepted, _, all, err := pendingFiles(p)
	if err != nil {
		return err
	}
	var own []permission.SharedFile
	for _, f := range all {
		if written[p.Shared(f.Path)] {
			own = append(own, f)
		}
	}
	return accepted.Accept(own)
}
