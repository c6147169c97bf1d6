// Package undo brings the tool that takes back what a call wrote.
package undo

import (
	"context"
	"encoding/json"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// maxFiles bounds how many files a result names.
const maxFiles = 1000

// Tools returns the implementations by tool name.
func Tools() map[string]runtime.Implementation {
	return map[string]runtime.Implementation{
		"air.undo": tool{runtime.Typed[input]{Do: undo}},
	}
}

// tool is planned from the records of the run that it undoes.
type tool struct{ runtime.Typed[input] }

var _ runtime.HistoryPlanner = tool{}

type input struct {
	RunID string `json:"run_id"`
}

type output struct {
	RunID     string `json:"run_id"`
	Tool      string `json:"tool"`
	Files     []file `json:"files"`
	FileCount int    `json:"file_count"`
	Truncated bool   `json:"truncated"`
}

type file struct {
	Path   string `json:"path"`
	Change string `json:"change"`
}

// PlanFrom names the files that the run changed.
func (tool) PlanFrom(history runtime.History, text json.RawMessage) ([]permission.Effect, error) {
	var in input
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fault.New(fault.InvalidInput, "schema", "decoding the input: %w", err)
	}
	return history.Undo(in.RunID)
}

func undo(ctx context.Context, access *runtime.Access, in input) (any, error) {
	undone, err := access.Files.Undo(ctx, in.RunID)
	if undone.RunID == "" {
		return nil, err
	}
	out := output{RunID: undone.RunID, Tool: undone.Tool, Files: []file{}, FileCount: len(undone.Files), Truncated: len(undone.Files) > maxFiles}
	for _, f := range undone.Files[:min(len(undone.Files), maxFiles)] {
		out.Files = append(out.Files, file(f))
	}
	return out, err
}
