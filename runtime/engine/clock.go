package engine

import "time"

// clock is how a pool sees time pass; tests move it by hand.
type clock struct {
	now func() time.Time
	// after calls f later, in a goroutine of its own, unless stop comes first.
	after func(d time.Duration, f func()) (stop func() bool)
}

func systemClock() clock {
	return clock{time.Now, func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }}
}
