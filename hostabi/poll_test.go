package hostabi

import (
	"encoding/binary"
	"testing"
	"time"
)

func subscription(mark uint64, tag byte, clock uint32, timeout uint64, flags byte) []byte {
	s := make([]byte, subscriptionSize)
	binary.LittleEndian.PutUint64(s, mark)
	s[8] = tag
	binary.LittleEndian.PutUint32(s[16:], clock)
	binary.LittleEndian.PutUint64(s[24:], timeout)
	s[40] = flags
	return s
}

func TestPollSleepsUntilTheFirstClock(t *testing.T) {
	c := &Call{}
	m := page()
	copy(m[1000:], subscription(7, tagClock, 1, uint64(time.Hour), 0))
	copy(m[1048:], subscription(8, tagClock, 1, uint64(20*time.Millisecond), 0))
	began := time.Now()
	if got := run(t, c, m, "poll_oneoff", 1000, 2000, 2, 3000); got != 0 {
		t.Fatalf("got %d", got)
	}
	if took := time.Since(began); took < 20*time.Millisecond || took > time.Second {
		t.Errorf("slept %v", took)
	}
	if n := binary.LittleEndian.Uint32(m[3000:]); n != 1 || m[2000] != 8 || m[2008] != 0 {
		t.Errorf("%d events, first %x", n, m[2000:2032])
	}
}

// TestPollReportsNothingEarly has a clock that is nearer, when the first is due, than the
// first was at the beginning.
func TestPollReportsNothingEarly(t *testing.T) {
	first := 50 * time.Millisecond
	later := uint64(now(1)) + uint64(first*3/2)
	events := poll(append(subscription(1, tagClock, 1, uint64(first), 0), subscription(2, tagClock, 1, later, flagAbsolute)...))
	if len(events) != eventSize || events[0] != 1 {
		t.Errorf("events %x", events)
	}
}

func TestPollAbsoluteTimeInThePast(t *testing.T) {
	events := poll(subscription(1, tagClock, 0, 5, flagAbsolute))
	if len(events) != eventSize || events[0] != 1 {
		t.Errorf("events %x", events)
	}
}

func TestPollFailsForFiles(t *testing.T) {
	began := time.Now()
	events := poll(append(subscription(1, tagClock, 0, uint64(time.Hour), 0), subscription(2, 1, 0, 0, 0)...))
	if len(events) != eventSize || events[0] != 2 || events[8] != byte(wasiEBADF) || time.Since(began) > time.Second {
		t.Errorf("events %x", events)
	}
}
