package fs

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/glob"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

const (
	maxEntries   = 10_000
	defaultDepth = 16
)

type listInput struct {
	Path          string `json:"path"`
	Recursive     bool   `json:"recursive"`
	MaxDepth      int    `json:"max_depth"` // 0: the default
	IncludeHidden bool   `json:"include_hidden"`
	Glob          string `json:"glob"`
}

type listOutput struct {
	Entries   []entry `json:"entries"`
	Truncated bool    `json:"truncated"`
}

type entry struct {
	Path       string `json:"path"`
	Type       string `json:"type"`
	SizeBytes  *int64 `json:"size_bytes,omitempty"`
	ModifiedAt string `json:"modified_at,omitempty"`
	TargetPath string `json:"target_path,omitempty"`
}

func listEffects(in listInput) ([]permission.Effect, error) {
	if _, err := in.pattern(); err != nil {
		return nil, err
	}
	effects := readOf(in.Path)
	effects[0].Recursive = in.Recursive
	return effects, nil
}

// pattern is nil without a glob.
func (in listInput) pattern() (*glob.Pattern, error) {
	if in.Glob == "" {
		return nil, nil
	}
	p, err := glob.Compile(in.Glob)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "bad_glob", "%w", err)
	}
	return p, nil
}

func list(ctx context.Context, access *runtime.Access, in listInput) (any, error) {
	pattern, err := in.pattern()
	if err != nil {
		return nil, err
	}
	l := &lister{access: access, in: in, pattern: pattern, out: listOutput{Entries: []entry{}}}
	if err := l.folder(ctx, in.Path, "", 1); err != nil && !errors.Is(err, errFull) {
		return nil, err
	}
	slices.SortFunc(l.out.Entries, func(a, b entry) int { return strings.Compare(a.Path, b.Path) })
	return l.out, nil
}

// lister walks folders while it reads them, so that what it holds is bounded by the
// entries it returns and the depth it has reached.
type lister struct {
	access  *runtime.Access
	in      listInput
	pattern *glob.Pattern
	out     listOutput
}

// errFull ends a walk that found more entries than are returned.
var errFull = errors.New("list is full")

// folder lists one folder. below is its path relative to the one that was asked for.
func (l *lister) folder(ctx context.Context, at, below string, depth int) error {
	return l.access.Files.Each(at, func(info runtime.Info) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		name := path.Base(info.Path)
		if strings.HasPrefix(name, ".") && !l.in.IncludeHidden {
			return nil
		}
		relative := path.Join(below, name)
		if err := l.add(relative, info); err != nil {
			return err
		}
		if info.Type != "directory" || !l.in.Recursive {
			return nil
		}
		return l.enter(ctx, info.Path, relative, depth+1)
	})
}

func (l *lister) add(relative string, info runtime.Info) error {
	if l.pattern != nil && !l.pattern.MatchName(relative) {
		return nil
	}
	if len(l.out.Entries) == maxEntries {
		l.out.Truncated = true
		return errFull
	}
	e := entry{Path: info.Path, Type: info.Type, ModifiedAt: timestamp(info.Modified), TargetPath: info.Target}
	if info.Type == "file" {
		e.SizeBytes = &info.Size
	}
	l.out.Entries = append(l.out.Entries, e)
	return nil
}

// enter lists a folder below. One that may not be read, or is gone, ends nothing; what
// is missing for another reason than that a rule denies it makes the list truncated.
func (l *lister) enter(ctx context.Context, at, relative string, depth int) error {
	switch {
	case l.in.MaxDepth == 0 && depth > defaultDepth:
		l.out.Truncated = true // nobody asked for this bound
		return nil
	case l.in.MaxDepth > 0 && depth > l.in.MaxDepth:
		return nil
	}
	err := l.folder(ctx, at, relative, depth)
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return err
	}
	switch {
	case refused.Kind == fault.NotFound, refused.Code == "not_a_directory":
		return nil
	case refused.Kind == fault.ApprovalRequired, refused.Code == "os_denied":
		l.out.Truncated = true
		return nil
	case refused.Kind == fault.PermissionDenied:
		return nil
	}
	return err
}
