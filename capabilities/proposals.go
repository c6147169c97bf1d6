package capabilities

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/aircoding/air/internal/fault"
)

// Proposal is a capability that the project's accepted files want enabled, and that is
// not enabled so. Only a person enables it.
type Proposal struct {
	ID        string `json:"capability_id"`
	Digest    string `json:"digest,omitempty"`    // empty: whichever a person chooses
	Reference string `json:"reference,omitempty"` // where it can be pulled from, as the lock says
	Installed bool   `json:"installed"`           // false: it has to be pulled or installed first
	From      string `json:"from"`                // capabilities.yaml or capability-lock.json
}

// Proposed lists by id what the accepted capabilities.yaml and the accepted lock want
// enabled. Where both name an id it is the lock's digest, without which it could not be
// used. What capabilities.yaml switches off is not proposed.
func (l *Lifecycle) Proposed(ctx context.Context) ([]Proposal, error) {
	wanted, err := l.wanted()
	if err != nil {
		return nil, err
	}
	rows, err := l.rows(ctx, `WHERE enabled = 1`)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if p, ok := wanted[r.ID]; ok && (p.Digest == "" || p.Digest == r.Digest) {
			delete(wanted, r.ID)
		}
	}
	var all []Proposal
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		p := wanted[id]
		p.Installed = l.has(id, p.Digest)
		all = append(all, p)
	}
	return all, nil
}

// wanted are the proposals of both files, whatever is enabled already.
func (l *Lifecycle) wanted() (map[string]Proposal, error) {
	s, err := l.settings()
	if err != nil {
		return nil, err
	}
	lock, err := l.acceptedLock()
	if err != nil {
		return nil, err
	}
	all := map[string]Proposal{}
	for id := range s.Capabilities {
		if own := s.of(id); own.Enabled != nil && *own.Enabled {
			all[id] = Proposal{ID: id, Digest: own.Digest, From: settingsFile}
		}
	}
	for id, pinned := range lock.Capabilities {
		if on := s.Capabilities[id].Enabled; on == nil || *on {
			all[id] = Proposal{ID: id, Digest: pinned.Digest, Reference: pinned.Reference, From: LockFile}
		}
	}
	return all, nil
}

// chosen is the digest that the accepted files of the project name for an id, empty
// where they name none.
func (l *Lifecycle) chosen(id string) (string, error) {
	s, err := l.settings()
	if err != nil {
		return "", err
	}
	lock, err := l.acceptedLock()
	if err != nil {
		return "", err
	}
	return cmp.Or(lock.Capabilities[id].Digest, s.of(id).Digest), nil
}

// acceptedLock is empty where there is no lock, or none that was accepted as it is now.
func (l *Lifecycle) acceptedLock() (Lock, error) {
	lock, _, err := l.SharedLock()
	if fault.Is(err, fault.ApprovalRequired) {
		return Lock{}, nil
	}
	return lock, err
}

// has reports whether a bundle lies in the project or the install store; any of the id
// for an empty digest.
func (l *Lifecycle) has(id, digest string) bool {
	if _, err := l.config.Store.Get(id, digest); err == nil {
		return true
	}
	c, err := l.local(id)
	return err == nil && (digest == "" || c.Digest == digest)
}
