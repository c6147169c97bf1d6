package capabilities

import "github.com/aircoding/air/internal/fault"

const codeChanged = "bundle_changed"

// changed is the error for bytes that are not what their digest names.
func changed(format string, args ...any) *fault.Error {
	return fault.New(fault.Integrity, codeChanged, format, args...)
}
