package permission

import (
	"context"
	"slices"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
)

// Grant is a person's stored answer for one project. It turns a question into an
// allow, and never a denial.
type Grant struct {
	ID   string `json:"id"`
	Rule string `json:"rule"` // such as "allow: read(data/x.csv)"
	// For is capability@digest; "" is the person and their agent. A grant is for one
	// digest: another version of the capability asks again.
	For string `json:"for,omitempty"`
	// ScriptSHA256 is the hex digest of the project's script that the granted command
	// executes, "" where it executes none: another content asks again.
	ScriptSHA256 string    `json:"script_sha256,omitempty"`
	Session      string    `json:"session,omitempty"` // "": for every session of the project
	Created      time.Time `json:"created"`
	Expires      time.Time `json:"expires,omitzero"`
}

// How long answers given at a prompt last.
const (
	sessionGrantLife = 7 * 24 * time.Hour
	projectGrantLife = 90 * 24 * time.Hour
)

// Grants lists what was granted for the project and has not expired.
func (e *Engine) Grants() []Grant {
	return e.grants.current(e.grants.now.Load().grants)
}

// AddGrant stores a grant that a person made, and returns it with its id.
func (e *Engine) AddGrant(ctx context.Context, g Grant) (Grant, error) {
	added, err := e.addGrants(ctx, []Grant{g})
	if err != nil {
		return Grant{}, err
	}
	return added[0], nil
}

func (e *Engine) addGrants(ctx context.Context, grants []Grant) ([]Grant, error) {
	if len(grants) == 0 {
		return nil, nil
	}
	for i := range grants {
		grants[i].ID, grants[i].Created = ids.New(), e.clock().UTC().Truncate(time.Second)
		if _, err := e.grants.compile(grants[i]); err != nil {
			return nil, fault.New(fault.InvalidInput, "bad_grant", "%w", err)
		}
	}
	return grants, e.grants.change(ctx, func(have []Grant) ([]Grant, error) { return append(have, grants...), nil })
}

// Revoke removes a grant, named by its id or a unique beginning of it.
func (e *Engine) Revoke(ctx context.Context, id string) (Grant, error) {
	var removed Grant
	err := e.grants.change(ctx, func(have []Grant) ([]Grant, error) {
		at := -1
		for i, g := range have {
			switch {
			case id == "" || len(id) > len(g.ID) || g.ID[:len(id)] != id:
			case at >= 0:
				return nil, fault.New(fault.InvalidInput, "ambiguous", "more than one grant begins with %.40q", id)
			default:
				at = i
			}
		}
		if at < 0 {
			return nil, fault.New(fault.NotFound, "unknown_grant", "no grant %.40q", id).WithHint("air permission ls shows the grants of this project")
		}
		removed = have[at]
		return slices.Delete(have, at, at+1), nil
	})
	return removed, err
}
