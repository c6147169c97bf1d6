package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
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
			if err := a.showPending(at, accepted, pending); err != nil {
				return err
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

// maxShown bounds how much of the text of a rule file is shown before it is accepted: what
// its rules allow is shown whole. A longer file of another kind is not accepted, for what is
// beyond would count unseen.
const (
	maxShown   = 16 << 10
	maxCounted = capabilities.MaxLock
)

// showPending shows the files as they will be accepted, and last what the rules in them
// allow. It refuses a file that cannot be used, and one that is too long to be shown.
func (a *app) showPending(at place, accepted *permission.Acceptance, pending []permission.SharedFile) error {
	a.warn("shared files of %s that are not accepted:", at.project.Root)
	var allowed string
	for _, f := range pending {
		content, err := accepted.Read(f)
		if err != nil {
			return err
		}
		rules, err := a.checkShared(at, f.Path, content)
		if err != nil {
			return err
		}
		if err := a.showShared(at, f, accepted.Before(f.Path), content); err != nil {
			return err
		}
		if f.Path == ruleFile {
			allowed = allowRules(at, rules)
		}
	}
	if allowed != "" {
		a.warn("%s", allowed)
	}
	return nil
}

const ruleFile = "permissions.yaml"

// showShared shows a file, or what has changed in it since it was accepted.
func (a *app) showShared(at place, f permission.SharedFile, before, content []byte) error {
	what, shown := "new", string(content)
	if before != nil {
		what = "changed since it was accepted"
		if lines := string(diff.Diff("accepted", before, "now", content)); f.Path == ruleFile || len(lines) <= maxCounted {
			shown = lines // else all of it, which is shorter
		}
	}
	switch {
	case f.Path == ruleFile:
		shown = collapse(shown, before != nil)
	case len(shown) > maxCounted:
		return fault.New(fault.ResourceExhausted, "too_long_to_show", "%s has %d bytes to show, and at most %d are accepted", at.here(at.project.Shared(f.Path)), len(shown), maxCounted).
			WithHint("nobody reads that much before a yes: make the file shorter, or accept its changes in smaller steps")
	}
	limit := maxCounted
	if f.Path == ruleFile {
		limit = maxShown
	}
	a.warn("%s (%s, sha256 %s):\n%s", f.Path, what, f.SHA256[:12], text.Head(strings.TrimSpace(shown), limit))
	if len(shown) > limit {
		a.warn("  … %d bytes in all: read %s before you accept it", len(content), at.project.Shared(f.Path))
	}
	return nil
}

// collapse keeps of a run of blank lines and comments the first few, so that none pushes a
// rule out of sight. The lines of a diff have a mark in front.
func collapse(shown string, isDiff bool) string {
	const few = 3
	var b strings.Builder
	run := 0
	flush := func() {
		if run > few {
			fmt.Fprintf(&b, "… %d more blank lines and comments\n", run-few)
		}
		run = 0
	}
	for line := range strings.Lines(shown) {
		words := line
		if isDiff {
			words = line[1:]
		}
		if words = strings.TrimSpace(words); words != "" && words[0] != '#' {
			flush()
		} else if run++; run > few {
			continue
		}
		b.WriteString(line)
	}
	flush()
	return b.String()
}

// checkShared refuses a file that could not be loaded, and describes the rules in it.
func (a *app) checkShared(at place, path string, content []byte) ([]permission.RuleInfo, error) {
	switch path {
	case ruleFile:
		paths, err := a.paths(at, "")
		if err != nil {
			return nil, err
		}
		return permission.CheckRules(at.project.Shared(path), content, paths)
	case "capabilities.yaml":
		return nil, capabilities.CheckSettings(at.project.Shared(path), content)
	case capabilities.LockFile:
		return nil, capabilities.CheckLockText(at.project.Shared(path), content)
	}
	return nil, nil
}

// allowRules are all rules that would count once the file is accepted, one a line with
// where it stands.
func allowRules(at place, rules []permission.RuleInfo) string {
	var b strings.Builder
	for _, r := range rules {
		if !strings.HasPrefix(r.Rule, "allow: ") {
			continue
		}
		fmt.Fprintf(&b, "\n%s:%d: %s", at.here(r.File), r.Line, text.Escape(r.Rule))
		for _, more := range []struct{ label, value string }{
			{"for", r.For}, {"after", strings.Join(r.After, ", ")}, {"expires", strings.TrimPrefix(until(r.Expires), "until ")},
		} {
			if more.value != "" {
				fmt.Fprintf(&b, "  %s: %s", more.label, text.Escape(more.value))
			}
		}
		if means := notes(broad(r.Rule), at.here(r.Warning)); means != "" {
			fmt.Fprintf(&b, "\n    %s", text.Escape(means))
		}
	}
	if b.Len() == 0 {
		return "the rules in it allow nothing"
	}
	return "once accepted, the rules allow:" + b.String()
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

// acceptWritten accepts what air itself has written, beside what was accepted before.
func acceptWritten(p home.Project, created []string) error {
	if len(created) == 0 {
		return nil
	}
	written := map[string]bool{}
	for _, f := range created {
		written[filepath.Join(p.Root, f)] = true
	}
	accepted, pending, all, err := pendingFiles(p)
	if err != nil {
		return err
	}
	return accepted.Accept(slices.DeleteFunc(all, func(f permission.SharedFile) bool {
		return slices.Contains(pending, f) && !written[p.Shared(f.Path)]
	}))
}
