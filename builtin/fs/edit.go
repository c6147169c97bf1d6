package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/linediff"
	"github.com/aircoding/air/internal/patch"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/artifact"
	"github.com/aircoding/air/runtime/permission"
)

// diffType is the type of the artifacts that show what a call changed.
const diffType = "diff"

// maxEdited bounds a file before and after an edit, in bytes: a larger one has no backup.
const maxEdited = 256 << 20

type editInput struct {
	Path                   string `json:"path"`
	OldString              string `json:"old_string"`
	NewString              string `json:"new_string"`
	ReplaceAll             bool   `json:"replace_all"`
	ExpectedExistingSHA256 string `json:"expected_existing_sha256"`
}

type editOutput struct {
	Path           string `json:"path"`
	Replacements   int    `json:"replacements"`
	SHA256         string `json:"sha256"`
	DiffArtifactID string `json:"diff_artifact_id"`
}

func editEffects(in editInput) ([]permission.Effect, error) {
	switch {
	case in.OldString == "":
		return nil, fault.New(fault.InvalidInput, "empty_old_string", "old_string is empty: an edit replaces something").
			WithHint("fs.write makes a new file")
	case in.OldString == in.NewString:
		return nil, fault.New(fault.InvalidInput, "no_change", "old_string and new_string are the same: nothing would change")
	}
	return []permission.Effect{
		{Kind: permission.Read, Target: in.Path},
		{Kind: permission.Write, Target: in.Path, Known: true},
	}, nil
}

// edit replaces an exact text in a file that the task has read. The diff is kept before
// the file is written: no change goes without one.
func edit(ctx context.Context, access *runtime.Access, in editInput) (any, error) {
	old, shown, err := readSeen(ctx, access, in.Path, in.ExpectedExistingSHA256)
	if err != nil {
		return nil, err
	}
	out := editOutput{Path: shown}
	content, count, err := replace(ctx, shown, old, in)
	if err != nil {
		return nil, err
	}
	out.Replacements = count
	diff, err := editDiff(ctx, shown, old, content, count)
	if err != nil {
		return nil, err
	}
	if out.DiffArtifactID, err = keepDiff(ctx, access, shown, diff); err != nil {
		return nil, err
	}
	written, err := access.Files.Write(ctx, in.Path, content, runtime.WriteOptions{ExpectSHA256: digestOf(old)})
	if err != nil {
		return nil, err
	}
	out.SHA256 = written.SHA256
	return out, access.NoteRead(ctx, in.Path, written.SHA256)
}

// replace makes the new content, and says how many times it replaced something.
func replace(ctx context.Context, shown string, content []byte, in editInput) ([]byte, int, error) {
	wanted, instead := []byte(in.OldString), []byte(in.NewString)
	first := bytes.Index(content, wanted)
	if first < 0 {
		return nil, 0, noMatch(ctx, shown, content, in.OldString)
	}
	count := 1
	if in.ReplaceAll {
		count = bytes.Count(content, wanted)
	} else if bytes.Contains(content[first+1:], wanted) { // also one that overlaps
		return nil, 0, notUnique(shown, content, wanted)
	}
	if int64(len(content))+int64(count)*int64(len(instead)-len(wanted)) > maxEdited {
		return nil, 0, tooLarge("the edited " + shown)
	}
	return bytes.Replace(content, wanted, instead, count), count, nil
}

// shownLines bounds the places that are named of a text that is not unique.
const shownLines = 5

func notUnique(shown string, content, wanted []byte) error {
	var lines []int
	for at, line := 0, 1; len(lines) < shownLines; at++ {
		next := bytes.Index(content[at:], wanted)
		if next < 0 {
			break
		}
		line += bytes.Count(content[at:at+next], []byte{'\n'})
		lines = append(lines, line)
		if at += next; content[at] == '\n' {
			line++
		}
	}
	count := max(len(lines), bytes.Count(content, wanted))
	return fault.New(fault.Conflict, "not_unique", "old_string occurs %d times in %s, first in the lines %s", count, shown, listed(lines)).
		WithHint("take in more of the lines around it, or set replace_all").
		With("count", count).With("lines", lines)
}

// editDiff shows what replacements change: as a diff, or in a sentence where they change
// very much.
func editDiff(ctx context.Context, shown string, old, content []byte, count int) (string, error) {
	hunks, err := linediff.Hunks(ctx, old, content)
	if errors.Is(err, linediff.ErrTooLarge) {
		return fmt.Sprintf("%s: %d replacements, from %d bytes to %d, which change too much for a diff\n", patch.Quote(shown), count, len(old), len(content)), nil
	}
	return patch.Format([]patch.File{{Old: shown, New: shown, Hunks: hunks}}), err
}

// keepDiff stores a diff as an artifact and returns its id.
func keepDiff(ctx context.Context, access *runtime.Access, shown, diff string) (string, error) {
	record, err := access.Artifacts.Keep(ctx, artifact.New{
		Type: diffType, Name: path.Base(shown) + ".diff", MediaType: "text/x-diff", EntityType: "file", EntityID: shown,
	}, strings.NewReader(diff))
	return record.ID, err
}
