package config

// Budgets limit what calls use in one session, together and by capability.
type Budgets struct {
	Session    Budget `json:"session"`
	Capability Budget `json:"capability"`
}

// Budget is one limit for each of what is counted; nil where the file sets none, which
// means the default.
type Budget struct {
	Calls       *int64 `json:"calls"`
	BytesOut    *int64 `json:"bytes_out"`
	WallSeconds *int64 `json:"wall_seconds"`
}

// No limit can be switched off: a budget of 0 could be read as none or as no limit. What
// is beyond these is a slip of the finger.
const (
	maxCount = 1 << 50
	maxWall  = 10 * 365 * 24 * 60 * 60
)

func (b *Budgets) check(path string) error {
	for _, limit := range []struct {
		key   string
		value *int64
		most  int64
	}{
		{"session.calls", b.Session.Calls, maxCount},
		{"session.bytes_out", b.Session.BytesOut, maxCount},
		{"session.wall_seconds", b.Session.WallSeconds, maxWall},
		{"capability.calls", b.Capability.Calls, maxCount},
		{"capability.bytes_out", b.Capability.BytesOut, maxCount},
		{"capability.wall_seconds", b.Capability.WallSeconds, maxWall},
	} {
		if v := limit.value; v != nil && (*v < 1 || *v > limit.most) {
			return invalid("%s: budgets.%s is %d: a number from 1 to %d is wanted", path, limit.key, *v, limit.most).
				WithHint("leave the key out for the default; there is no value for no limit")
		}
	}
	return nil
}
