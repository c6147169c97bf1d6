package capabilities

import (
	"context"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// Order is how one version stands to another, by semantic versioning.
type Order string

// The orders of two versions.
const (
	Newer     Order = "newer"
	Older     Order = "older"
	SameOrder Order = "same"      // equal, whatever the build metadata
	Unordered Order = "unordered" // one of them is no semantic version
)

// orderOf says how the version after stands to the one before.
func orderOf(before, after string) Order {
	if before == after {
		return SameOrder
	}
	b, a := semantic(before), semantic(after)
	if !semver.IsValid(b) || !semver.IsValid(a) {
		return Unordered
	}
	switch semver.Compare(a, b) {
	case 1:
		return Newer
	case -1:
		return Older
	}
	return SameOrder
}

func semantic(version string) string { return "v" + strings.TrimPrefix(version, "v") }

const ofConsents = `WHERE id = ? AND (enabled = 1 OR consented_at <> '') ORDER BY enabled DESC, consented_at DESC`

// consents are the digests of a capability that a person said yes to in this project, the
// enabled one first, then the last one.
func (l *Lifecycle) consents(ctx context.Context, id string) ([]row, error) {
	return l.rows(ctx, ofConsents, id)
}

// downgraded refuses a version that is lower than the one which was last consented to in
// this project, over those that cannot be ordered. Without a rollback that is the highest
// one; a rollback makes it the one that was gone back to.
func downgraded(c Found, agreed []row) error {
	id, version := c.Manifest.CapabilityID, c.Manifest.Version
	for _, r := range agreed {
		if !semver.IsValid(semantic(r.Version)) {
			continue
		}
		if orderOf(r.Version, version) != Older {
			return nil
		}
		return fault.New(fault.PermissionDenied, "downgrade", "%s %s is older than %s, which this project used already", id, text.Line(version, 64), text.Line(r.Version, 64)).
			WithHint("air rollback %s@sha256:… goes back to an older version, with its digest; air ls shows what is installed", id)
	}
	return nil
}
