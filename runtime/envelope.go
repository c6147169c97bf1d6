package runtime

import (
	"encoding/json"

	"github.com/aircoding/air/internal/fault"
)

// Envelope is the result of one call, in the form that callers of every kind get.
type Envelope struct {
	OK         bool            `json:"ok"`
	Tool       string          `json:"tool"`
	Version    int             `json:"version"`
	RunID      string          `json:"run_id"`
	Output     json.RawMessage `json:"output,omitempty"` // with an error: what was done before it, where the tool has one
	Artifacts  []string        `json:"artifacts"`
	DurationMS int64           `json:"duration_ms"`
	Error      *fault.Error    `json:"error,omitempty"`
}
