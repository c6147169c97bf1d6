package git

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/internal/text"
)

// conflictReport is the artifact of a merge that conflicts. Nothing of it is in the files
// or in the index of the target.
type conflictReport struct {
	WorkspaceID string         `json:"workspace_id"`
	Strategy    string         `json:"strategy"`
	Target      string         `json:"target"` // object ids
	Source      string         `json:"source"`
	Messages    []string       `json:"messages"`
	Files       []conflictFile `json:"files"`
}

// conflictFile is one path that conflicts. Content has both sides between markers; it is
// missing where it is no text, long, or not to be read.
type conflictFile struct {
	Path    string  `json:"path"`
	Content *string `json:"content,omitempty"`
	Omitted string  `json:"omitted,omitempty"` // why there is no content
}

const (
	maxConflictFile = 1 << 20
	maxConflictAll  = 16 << 20
	maxMessages     = 1000
)

// conflict keeps what conflicts as an artifact.
func (m *merging) conflict(ctx context.Context, t mergeTree) (mergeOutput, error) {
	report := m.report(t.messages)
	paths := make([]string, len(t.paths))
	for i, name := range t.paths {
		paths[i] = m.at.Top + "/" + name
	}
	may, err := m.commands.MayRead(paths)
	if err != nil {
		return mergeOutput{}, err
	}
	room := maxConflictAll
	for i, name := range t.paths {
		file := conflictFile{Path: m.shown(name), Omitted: "it may not be read"}
		if may[i] {
			if file, err = m.conflictFile(ctx, t.id, name, room); err != nil {
				return mergeOutput{}, err
			}
		}
		if file.Content != nil {
			room -= len(*file.Content)
		}
		report.Files = append(report.Files, file)
	}
	return m.conflicted(ctx, report)
}

func (m *merging) conflictFile(ctx context.Context, tree, name string, room int) (conflictFile, error) {
	file := conflictFile{Path: m.shown(name)}
	if room <= 0 {
		file.Omitted = "the report is full"
		return file, nil
	}
	out := call{top: true, limit: min(room, maxConflictFile), args: []string{"cat-file", "blob", "--end-of-options", tree + ":" + name}}
	a, err := m.run(ctx, out)
	switch {
	case fault.Is(err, fault.ResourceExhausted):
		file.Omitted = "it is too long"
	case err != nil:
		return file, err
	case a.code != 0:
		file.Omitted = "one side deleted it, or it is no file"
	case !utf8.Valid(a.out) || bytes.IndexByte(a.out, 0) >= 0:
		file.Omitted = "it is no text"
	default:
		content := string(a.out)
		file.Content = &content
	}
	return file, nil
}

func (m *merging) report(messages []string) conflictReport {
	report := conflictReport{
		WorkspaceID: m.workspace.ID, Strategy: m.strategy, Target: m.target, Source: m.source, Messages: []string{}, Files: []conflictFile{},
	}
	for _, line := range messages[:min(len(messages), maxMessages)] {
		report.Messages = append(report.Messages, strings.ToValidUTF8(text.Head(line, 1000), "\uFFFD"))
	}
	return report
}

func (m *merging) conflicted(ctx context.Context, report conflictReport) (mergeOutput, error) {
	body, err := plainjson.Lines(report)
	if err != nil {
		return mergeOutput{}, err
	}
	id, err := m.keep(ctx, "conflict", "conflict.json", "application/json", bytes.NewReader(body))
	return mergeOutput{Status: conflicted, Changed: []string{}, ConflictID: id}, err
}
