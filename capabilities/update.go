package capabilities

import (
	"context"

	"github.com/aircoding/air/internal/fault"
)

// Update puts another installed digest in the place of the enabled one, after confirm was
// shown every difference. An empty digest means what Enable takes it for, or what the
// project's folder holds where that is what is enabled. A lower version is refused: that is
// what Rollback is for. Where the digest is the enabled one there is nothing to do and
// nothing is asked, unless the signature that the consent was shown no longer counts.
func (l *Lifecycle) Update(ctx context.Context, id, digest string, confirm func(Disclosure) (bool, error)) (Status, error) {
	previous, has, err := l.enabled(ctx, id)
	if err != nil {
		return Status{}, err
	}
	if !has {
		return Status{}, fault.New(fault.NotFound, "not_enabled", "capability %.64s is not enabled in this project", id).
			WithHint("air enable %.64s asks about it for the first time", id)
	}
	find := l.Find
	if digest == "" && previous.Place == ProjectLocal {
		find = func(id, _ string) (Found, error) { return l.local(id) }
	}
	c, err := find(id, digest)
	if err != nil {
		return Status{}, err
	}
	return l.adopt(ctx, c, updating, confirm)
}
