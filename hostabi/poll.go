package hostabi

import (
	"encoding/binary"
	"math"
	"slices"
	"time"
)

// Sizes and tags of poll_oneoff's records.
const (
	subscriptionSize = 48
	eventSize        = 32
	maxSubscriptions = 256

	tagClock     = 0
	flagAbsolute = 1
)

// pollOneoff sleeps until the first clock is due. Nothing here watches the deadline:
// whoever keeps it ends the process. Subscriptions to files fail at once, for there are
// none.
func pollOneoff(_ *Call, m Memory, s []uint64) errno {
	in, out, count := uint32(s[0]), uint32(s[1]), uint32(s[2])
	if count == 0 || count > maxSubscriptions {
		return wasiEINVAL
	}
	view, ok := m.Read(in, count*subscriptionSize)
	if !ok {
		return wasiEFAULT
	}
	if _, ok := m.Read(out, count*eventSize); !ok {
		return wasiEFAULT
	}
	events := poll(append([]byte(nil), view...))
	if !m.Write(out, events) || !put32(m, uint32(s[3]), uint32(len(events)/eventSize)) {
		return wasiEFAULT
	}
	return wasiOK
}

// poll returns the records of what is due: the first clocks, or failures.
func poll(subscriptions []byte) (events []byte) {
	all := slices.Collect(slices.Chunk(subscriptions, subscriptionSize))
	due := make([]int64, len(all))
	for i, sub := range all {
		if e := check(sub); e != wasiOK {
			events = appendEvent(events, sub, e)
			continue
		}
		due[i] = untilDue(sub)
	}
	if len(events) > 0 {
		return events
	}
	wait := slices.Min(due)
	time.Sleep(time.Duration(wait))
	for i, sub := range all {
		if due[i] <= wait {
			events = appendEvent(events, sub, wasiOK)
		}
	}
	return events
}

func check(sub []byte) errno {
	switch {
	case sub[8] != tagClock:
		return wasiEBADF
	case binary.LittleEndian.Uint32(sub[16:]) > 1:
		return wasiEINVAL
	}
	return wasiOK
}

// untilDue is the time until a clock subscription is due, from when the poll began for
// a relative one.
func untilDue(sub []byte) int64 {
	due := binary.LittleEndian.Uint64(sub[24:])
	if sub[40]&flagAbsolute != 0 {
		reached := uint64(now(binary.LittleEndian.Uint32(sub[16:])))
		due -= min(due, reached)
	}
	return int64(min(due, math.MaxInt64))
}

func appendEvent(events, sub []byte, e errno) []byte {
	var event [eventSize]byte
	copy(event[:8], sub[:8]) // the guest's own mark
	binary.LittleEndian.PutUint16(event[8:], uint16(e))
	event[10] = sub[8]
	return append(events, event[:]...)
}
