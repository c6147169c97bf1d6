package runtime

import (
	"context"
	"encoding/json"

	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/runtime/event"
)

// Diagnosed stores what was found to be wrong in the output of a command, as one event.
// found encodes as a list, and total says how many there are where it is not all. Of a
// command that a capability caused only the head is stored, as of all that comes from it.
func (c Commands) Diagnosed(ctx context.Context, commandRunID string, found any, total int) error {
	body, err := plainjson.Marshal(found)
	if err != nil {
		return err
	}
	payload := map[string]any{"command_run_id": commandRunID, "total": total, "diagnostics": json.RawMessage(body)}
	if c.run.guest() != nil {
		payload["diagnostics"] = digestAndHead(body)
	}
	return c.registry.append(context.WithoutCancel(ctx), c.run, event.DiagnosticCreated, payload)
}
