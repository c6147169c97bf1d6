package event

import (
	"encoding/json"

	"github.com/aircoding/air/internal/redact"
)

// redact takes the secrets out of a payload. It is the one place: whatever is stored, and
// whatever is shown, came through it.
func (s *Store) redact(payload json.RawMessage) (json.RawMessage, error) {
	var r *redact.Redactor // by its rules alone
	if s.options.Redactor != nil {
		var err error
		if r, err = s.options.Redactor(); err != nil {
			return nil, err
		}
	}
	return r.JSON(payload), nil
}
