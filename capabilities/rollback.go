package capabilities

import (
	"context"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// Rollback puts an installed digest, which may be of a lower version, in the place of the
// enabled one, after confirm was shown every difference. An empty digest means the one
// that was consented to before the present one. From then on the version that was gone
// back to is what an update must be higher than.
func (l *Lifecycle) Rollback(ctx context.Context, id, digest string, confirm func(Disclosure) (bool, error)) (Status, error) {
	agreed, err := l.consents(ctx, id)
	if err != nil {
		return Status{}, err
	}
	if digest == "" {
		if digest, err = earlier(id, agreed); err != nil {
			return Status{}, err
		}
	}
	c, err := l.Find(id, digest)
	if err != nil {
		return Status{}, gone(err, agreed, digest)
	}
	return l.adopt(ctx, c, goingBack, confirm)
}

// earlier is the digest that was consented to before the present one.
func earlier(id string, agreed []row) (string, error) {
	for _, r := range agreed {
		if r.Digest != agreed[0].Digest {
			return r.Digest, nil
		}
	}
	return "", fault.New(fault.NotFound, "no_earlier", "no earlier version of %.64s was enabled in this project", id).
		WithHint("air rollback %.64s@sha256:… takes any version that is installed; air ls shows them", id)
}

// gone says of a digest that was in use which version it was.
func gone(err error, agreed []row, digest string) error {
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	for _, r := range agreed {
		if r.Digest == digest {
			return fault.New(fault.NotFound, "not_installed", "version %s of %s, %s, is no longer there", text.Line(r.Version, 64), r.ID, r.Digest).
				WithHint("pull or install it again, then air rollback %s@%s", r.ID, r.Digest)
		}
	}
	return err
}
