package runtime

import (
	"fmt"
	"time"
)

// Limits bound one capability's calls. A zero field means the documented default,
// never "unlimited".
type Limits struct {
	MemoryBytes     int64 `json:"memory_bytes,omitempty"`     // of the guest's linear memory
	TimeoutMS       int64 `json:"timeout_ms,omitempty"`       // wall clock of one call
	InputBytes      int64 `json:"input_bytes,omitempty"`      // of the invocation's input
	OutputBytes     int64 `json:"output_bytes,omitempty"`     // of the result
	HostCalls       int64 `json:"host_calls,omitempty"`       // tool_call and emit, in one call
	CallDepth       int64 `json:"call_depth,omitempty"`       // capabilities calling capabilities
	LogBytes        int64 `json:"log_bytes,omitempty"`        // of log lines, stdout and stderr, in one call
	ConcurrentCalls int64 `json:"concurrent_calls,omitempty"` // of one capability in one process
}

type limit struct {
	name            string
	field           func(*Limits) *int64
	normal, ceiling int64
}

var limits = []limit{
	{"memory_bytes", func(l *Limits) *int64 { return &l.MemoryBytes }, 64 << 20, 1 << 30},
	{"timeout_ms", func(l *Limits) *int64 { return &l.TimeoutMS }, 30_000, 600_000},
	{"input_bytes", func(l *Limits) *int64 { return &l.InputBytes }, 1 << 20, 16 << 20},
	{"output_bytes", func(l *Limits) *int64 { return &l.OutputBytes }, 4 << 20, 64 << 20},
	{"host_calls", func(l *Limits) *int64 { return &l.HostCalls }, 1_000, 100_000},
	{"call_depth", func(l *Limits) *int64 { return &l.CallDepth }, 4, 8},
	{"log_bytes", func(l *Limits) *int64 { return &l.LogBytes }, 256 << 10, 4 << 20},
	{"concurrent_calls", func(l *Limits) *int64 { return &l.ConcurrentCalls }, 4, 64},
}

// WithDefaults returns l with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	for _, x := range limits {
		if f := x.field(&l); *f == 0 {
			*f = x.normal
		}
	}
	return l
}

// ceilings is the highest value of every limit.
func ceilings() Limits {
	var l Limits
	for _, x := range limits {
		*x.field(&l) = x.ceiling
	}
	return l
}

// Validate refuses negative limits and those above the ceiling, by name.
func (l Limits) Validate() error {
	for _, x := range limits {
		if v := *x.field(&l); v < 0 || v > x.ceiling {
			return fmt.Errorf("%s: %d is not between 1 and %d", x.name, v, x.ceiling)
		}
	}
	return nil
}

// Timeout is the wall-clock limit of one call.
func (l Limits) Timeout() time.Duration {
	return time.Duration(l.WithDefaults().TimeoutMS) * time.Millisecond
}
