package insight

import (
	"math"
	"strconv"
	"time"
)

// A kind is a set of types that a value, or all values of a column, can have. Text
// needs no bit: everything can be text.
type kind uint8

const (
	boolean kind = 1 << iota
	integer
	number
	date
	datetime
	timestamp
)

const anyKind = boolean | integer | number | date | datetime | timestamp

const maxSafeInteger = 1<<53 - 1

// name is the narrowest type in the set.
func (k kind) name() string {
	switch {
	case k&boolean != 0:
		return "boolean"
	case k&integer != 0:
		return "integer"
	case k&number != 0:
		return "number"
	case k&date != 0:
		return "date"
	case k&datetime != 0:
		return "datetime"
	case k&timestamp != 0:
		return "timestamp"
	}
	return "text"
}

// classify returns what a value can be, and what it is as a number or as a time.
func classify(s string) (kind, float64, time.Time) {
	switch s {
	case "true", "false", "True", "False", "TRUE", "FALSE":
		return boolean, 0, time.Time{}
	}
	if len(s) >= 10 && s[4] == '-' && s[7] == '-' {
		k, at := parseTime(s)
		return k, 0, at
	}
	k, n := parseNumber(s)
	return k, n, time.Time{}
}

// parseNumber takes what JSON calls a number. So 007 and +49 stay text, as codes are,
// and so does a whole number that a float64 cannot hold exactly, as long ids are.
func parseNumber(s string) (kind, float64) {
	valid, whole := numberForm(s)
	if !valid {
		return 0, 0
	}
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return 0, 0
	case n == 0:
		n = 0 // never -0
	}
	switch {
	case !whole:
		return number, n
	case math.Abs(n) > maxSafeInteger:
		return 0, 0
	}
	return integer | number, n
}

// numberForm reports whether s has the form of a JSON number, and without a fraction
// and an exponent.
func numberForm(s string) (valid, whole bool) {
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	n := digits(s)
	if n == 0 || (n > 1 && s[0] == '0') {
		return false, false
	}
	if s = s[n:]; s == "" {
		return true, true
	}
	if s[0] == '.' {
		n := digits(s[1:])
		if n == 0 {
			return false, false
		}
		s = s[1+n:]
	}
	return s == "" || exponentForm(s), false
}

func exponentForm(s string) bool {
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// digits returns how many digits s begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

var timeForms = []struct {
	kind   kind
	layout string
}{
	{timestamp, "2006-01-02T15:04:05Z07:00"},
	{timestamp, "2006-01-02 15:04:05Z07:00"},
	{datetime, "2006-01-02T15:04:05"},
	{datetime, "2006-01-02 15:04:05"},
	{datetime, "2006-01-02T15:04"},
	{datetime, "2006-01-02 15:04"},
}

func parseTime(s string) (kind, time.Time) {
	if len(s) == len(time.DateOnly) {
		at, err := time.Parse(time.DateOnly, s)
		if err != nil {
			return 0, at
		}
		return date, at
	}
	for _, f := range timeForms {
		if at, err := time.Parse(f.layout, s); err == nil {
			return f.kind, at
		}
	}
	return 0, time.Time{}
}
