package fs

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/patch"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/artifact"
	"github.com/aircoding/air/runtime/permission"
)

type patchInput struct {
	Patch         string   `json:"patch"`
	Strip         *int     `json:"strip"` // nil: 1
	ExpectedPaths []string `json:"expected_paths"`
}

type patchOutput struct {
	ChangedFiles            []string `json:"changed_files"`
	DiffArtifactID          string   `json:"diff_artifact_id,omitempty"`
	RejectedHunksArtifactID string   `json:"rejected_hunks_artifact_id,omitempty"`
}

func (in patchInput) files() ([]patch.File, error) {
	strip := 1
	if in.Strip != nil {
		strip = *in.Strip
	}
	return patch.Parse(in.Patch, strip)
}

// patchEffects come from the names in the patch alone. A file that changes or goes is one
// that the task has read: applyPatch refuses any other. A new one replaces nothing.
func patchEffects(in patchInput) (effects []permission.Effect, err error) {
	files, err := in.files()
	if err != nil {
		return nil, err
	}
	if err := checkExpected(files, in.ExpectedPaths); err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Old != "" {
			effects = append(effects, permission.Effect{Kind: permission.Read, Target: f.Old})
		}
		if f.Kind == patch.Delete || f.Kind == patch.Rename {
			effects = append(effects, permission.Effect{Kind: permission.Delete, Target: f.Old, Known: true})
		}
		if f.Kind != patch.Delete {
			effects = append(effects, permission.Effect{Kind: permission.Write, Target: f.New, Known: true})
		}
	}
	return effects, nil
}

// checkExpected compares what the patch would change with what its caller expects.
func checkExpected(files []patch.File, expected []string) error {
	if expected == nil {
		return nil
	}
	wanted := map[string]bool{}
	for _, name := range expected {
		wanted[path.Clean(name)] = true
	}
	var more, missing []string
	for i := range files {
		for _, name := range files[i].Changed() {
			if !wanted[name] {
				more = append(more, name)
			}
			delete(wanted, name)
		}
	}
	for name := range wanted {
		missing = append(missing, name)
	}
	if more == nil && missing == nil {
		return nil
	}
	slices.Sort(missing)
	var says []string
	if more != nil {
		says = append(says, "also "+named(more))
	}
	if missing != nil {
		says = append(says, "not "+named(missing))
	}
	return fault.New(fault.InvalidInput, "unexpected_paths", "the patch changes %s: not what expected_paths says", strings.Join(says, ", and ")).
		WithHint("expected_paths names all files that the patch changes, relative to the project, those of a rename both")
}

// shownNames bounds how many names a message lists.
const shownNames = 10

func named(names []string) string {
	if more := len(names) - shownNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shownNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

// applyPatch changes all files that the patch is about, or none. The diff is kept first: no
// change goes without one.
func applyPatch(ctx context.Context, access *runtime.Access, in patchInput) (any, error) {
	files, err := in.files()
	if err != nil {
		return nil, err
	}
	p := &patching{access: access, out: patchOutput{ChangedFiles: []string{}}}
	for i := range files {
		if err := p.file(ctx, &files[i]); err != nil {
			return nil, err
		}
	}
	if p.firstReject != nil {
		return p.reject(ctx)
	}
	if p.out.DiffArtifactID, err = p.keep(ctx, "patch.diff", p.done); err != nil {
		return nil, err
	}
	written, err := access.Files.Apply(ctx, p.changes)
	if err != nil {
		return nil, err
	}
	return p.out, p.note(ctx, written)
}

// note lists what changed. Who patched a file knows it.
func (p *patching) note(ctx context.Context, written []runtime.Written) error {
	for i, w := range written {
		p.out.ChangedFiles = append(p.out.ChangedFiles, w.Path)
		if p.changes[i].Delete {
			continue
		}
		if err := p.access.NoteRead(ctx, p.changes[i].Path, w.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// keep stores a patch as an artifact and returns its id.
func (p *patching) keep(ctx context.Context, name string, files []patch.File) (string, error) {
	record, err := p.access.Artifacts.Keep(ctx, artifact.New{
		Type: diffType, Name: name, MediaType: "text/x-diff", EntityType: "file", EntityID: files[0].Name(),
	}, strings.NewReader(patch.Format(files)))
	return record.ID, err
}
