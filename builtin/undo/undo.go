// Package undo brings the tool that takes back what a call wrote.
package undo

import (
	"context"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/permission"
)

// maxFiles bounds how many files a result names.
const maxFiles = 1000

// Tools returns the implementations by tool name. The runs come from the store; the last
// one is that of the session.
func Tools(store *backup.Store, sessionID string) map[string]runtime.Implementation {
	r := runs{store, sessionID}
	return map[string]runtime.Implementation{
		"air.undo": runtime.Typed[input]{Effects: r.effects, Do: r.undo},
	}
}

type runs struct {
	store     *backup.Store
	sessionID string
}

type input struct {
	RunID string `json:"run_id"`
}

type output struct {
	RunID     string `json:"run_id"`
	Tool      string `json:"tool"`
	Files     []file `json:"files"`
	FileCount int    `json:"file_count"`
	Truncated bool   `json:"truncated"`
	Partial   bool   `json:"partial,omitempty"`
}

type file struct {
	Path   string `json:"path"`
	Change string `json:"change"`
}

// effects are on the files that the run changed.
func (r runs) effects(in input) ([]permission.Effect, error) {
	past, err := r.store.ToUndo(r.sessionID, in.RunID)
	if err != nil {
		return nil, err
	}
	defer past.Close()
	return runtime.UndoEffects(past, r.sessionID), nil
}

func (r runs) undo(ctx context.Context, access *runtime.Access, in input) (any, error) {
	unlock, err := r.store.LockUndo(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	past, err := r.store.ToUndo(r.sessionID, in.RunID)
	if err != nil {
		return nil, err
	}
	defer past.Close()
	undone, err := access.Files.Undo(ctx, past)
	if undone.RunID == "" {
		return nil, err
	}
	out := output{RunID: undone.RunID, Tool: undone.Tool, Files: []file{}, FileCount: len(undone.Files), Truncated: len(undone.Files) > maxFiles, Partial: past.Partial}
	for _, f := range undone.Files[:min(len(undone.Files), maxFiles)] {
		out.Files = append(out.Files, file(f))
	}
	return out, err
}
