package ids

import (
	"regexp"
	"testing"
	"time"
)

func TestNew(t *testing.T) {
	before := time.Now().Truncate(time.Millisecond)
	id := New()
	if !regexp.MustCompile("^" + Pattern + "$").MatchString(id) {
		t.Errorf("%s does not match", id)
	}
	if made := Time(id); made.Before(before) || made.After(time.Now()) {
		t.Errorf("%s was made at %v", id, made)
	}
}

func TestTime(t *testing.T) {
	for id, want := range map[string]time.Time{
		// RFC 9562, appendix A.6
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398f": time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC),
		"ffffffff-ffff-7fff-bfff-ffffffffffff": time.UnixMilli(1<<48 - 1).UTC(),
		"919108f7-52d1-4320-9bac-f847db4148a8": {}, // version 4
		"017f22e2":                             {},
		"":                                     {},
	} {
		if got := Time(id); !got.Equal(want) {
			t.Errorf("%q: %v, want %v", id, got, want)
		}
	}
}
