package runtime

import (
	"encoding/json"
	"io"

	"github.com/aircoding/air/internal/text"
)

// shownBytes bounds the text of one event of a command's output.
const shownBytes = 4 << 10

// shown has what is written seen by who watches, as it comes. Only heads of large writes
// are: the whole is in the answer, or in its artifacts.
func (c Commands) shown(id, eventType string, to io.Writer) io.Writer {
	if to == nil {
		return nil
	}
	return &shownWriter{commands: c, id: id, eventType: eventType, to: to}
}

type shownWriter struct {
	commands      Commands
	id, eventType string
	to            io.Writer
}

func (w *shownWriter) Write(p []byte) (int, error) {
	payload, err := json.Marshal(map[string]any{"command_run_id": w.id, "bytes": len(p), "text": text.Head(string(p), shownBytes)})
	if err == nil {
		w.commands.registry.config.Session.Events.Publish(w.commands.registry.event(w.commands.run, w.eventType, payload))
	}
	return w.to.Write(p)
}
