package capabilities

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// Drift is one way in which what is here differs from the project's lock. What is safe
// to show.
type Drift struct {
	ID   string `json:"capability_id"`
	What string `json:"what"`
}

// SharedLock returns the project's lock for those who act on it, such as by pulling
// what it pins. ok is false where there is none. One that nobody accepted as it is now
// is an error of kind approval_required.
func (l *Lifecycle) SharedLock() (lock Lock, ok bool, err error) {
	lock, content, err := l.lock()
	if err != nil || content == nil {
		return Lock{}, false, err
	}
	if l.config.AcceptedLock == nil || !l.config.AcceptedLock(content) {
		return Lock{}, true, fault.New(fault.ApprovalRequired, "lock_not_accepted", "the project's %s is not accepted as it is now", LockFile).
			WithHint("air accept shows it and asks")
	}
	return lock, true, nil
}

// lock reads the project's lock; content is nil where there is none.
func (l *Lifecycle) lock() (lock Lock, content []byte, err error) {
	if !l.config.Project.Exists() {
		return Lock{}, nil, nil
	}
	return readLock(l.config.Project.Shared(LockFile))
}

// locked refuses a bundle that the project's lock does not pin, and a lock that says of
// the bundle what is not so.
func (l *Lifecycle) locked(c Found) error {
	lock, content, err := l.lock()
	if err != nil || content == nil {
		return err
	}
	const hint = "to follow the lock: air accept, air pull, air enable; to change it for everybody: air lock"
	id := c.Manifest.CapabilityID
	pinned, ok := lock.Capabilities[id]
	switch {
	case !ok:
		return fault.New(fault.PermissionDenied, "not_locked", "%s is not in the project's %s", id, LockFile).WithHint(hint)
	case pinned.Digest != c.Digest:
		return fault.New(fault.PermissionDenied, "locked", "%s is enabled as %s, and the project's %s pins %s", id, c.Digest, LockFile, pinned.Digest).WithHint(hint)
	}
	if wrong := pinned.contradicts(c); len(wrong) > 0 {
		return fault.New(fault.Integrity, "lock_contradicts", "the project's %s is wrong about %s, which its digest names: %s", LockFile, id, wrong[0]).
			WithHint("somebody changed the lock by hand: air lock writes it anew")
	}
	return nil
}

// contradicts lists what the pin says of the bundle of its digest and what is not so.
func (c Locked) contradicts(f Found) []string {
	var wrong []string
	for _, fact := range []struct{ name, pinned, is string }{
		{"version", c.Version, f.Manifest.Version},
		{"manifest hash", c.ManifestHash, f.ManifestHash},
		{"module sha256", c.ModuleSHA256, f.ModuleSHA256},
	} {
		if fact.pinned != fact.is {
			wrong = append(wrong, fmt.Sprintf("the %s is %s, pinned is %s", fact.name, text.Line(fact.is, 80), text.Line(fact.pinned, 80)))
		}
	}
	if !samePermissions(c.Permissions, f.Manifest.Permissions) {
		wrong = append(wrong, "the permissions are not those that are pinned")
	}
	return wrong
}

func samePermissions(a, b PermissionDeclaration) bool {
	left, errA := canon.Marshal(a)
	right, errB := canon.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(left, right)
}

// CheckLock compares what is installed and enabled with the project's lock, accepted or
// not, and lists what drifted, by id. A project without a lock is an error of kind
// not_found.
func (l *Lifecycle) CheckLock(ctx context.Context) ([]Drift, error) {
	lock, content, err := l.lock()
	if err != nil {
		return nil, err
	}
	if content == nil {
		return nil, fault.New(fault.NotFound, "no_lock", "the project has no %s", LockFile).WithHint("air lock writes it from what is enabled")
	}
	rows, err := l.rows(ctx, `WHERE enabled = 1`)
	if err != nil {
		return nil, err
	}
	enabled := map[string]row{}
	var all []Drift
	for _, r := range rows {
		enabled[r.ID] = r
		if _, ok := lock.Capabilities[r.ID]; !ok {
			all = append(all, Drift{r.ID, "enabled and not pinned"})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(lock.Capabilities)) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r, ok := enabled[id]
		for _, what := range l.drift(id, lock.Capabilities[id], r, ok) {
			all = append(all, Drift{id, what})
		}
	}
	slices.SortStableFunc(all, func(a, b Drift) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// drift says in words how one pinned capability differs from what is here.
func (l *Lifecycle) drift(id string, pinned Locked, r row, enabled bool) []string {
	var all []string
	switch {
	case !enabled:
		all = append(all, "pinned and not enabled")
	case r.Digest != pinned.Digest:
		all = append(all, fmt.Sprintf("enabled as %s, pinned is %s", r.Digest, pinned.Digest))
	}
	if r.Digest != pinned.Digest {
		r = row{ID: id, Digest: pinned.Digest}
	}
	r.Signer = pinned.Signer
	c, err := l.ofDigest(r)
	if fault.Is(err, fault.NotFound) {
		return append(all, "the pinned digest is not installed: "+pinned.Digest)
	}
	if err != nil {
		return append(all, text.Line(err.Error(), 300))
	}
	all = append(all, pinned.contradicts(c)...)
	switch {
	case pinned.Signer != "" && c.Signer == nil:
		all = append(all, "pinned as signed by "+pinned.Signer+", and no key that you trust has signed it here")
	case pinned.Signer != "" && c.Signer.KeyID != pinned.Signer:
		all = append(all, "pinned as signed by "+pinned.Signer+", here it is "+c.Signer.KeyID)
	}
	return all
}

// ofDigest returns the bundle of a row's digest, in the project or installed, with its bytes
// verified.
func (l *Lifecycle) ofDigest(r row) (Found, error) {
	if c, err := l.local(r.ID); err == nil && c.Digest == r.Digest {
		return c, nil
	}
	if _, err := l.config.Store.Get(r.ID, r.Digest); err != nil {
		return Found{}, err
	}
	return l.installed(r)
}

// lockSigner says in words that the project's lock, accepted or not, pins a bundle as signed
// by a key with which nobody whom the person trusts has signed it; empty where that is not so.
func (l *Lifecycle) lockSigner(c Found) string {
	lock, _, err := l.lock()
	pinned := lock.Capabilities[c.Manifest.CapabilityID]
	if err != nil || pinned.Digest != c.Digest || pinned.Signer == "" || pinned.Signer == keyOf(c.Signer) {
		return ""
	}
	one, err := l.ofDigest(row{ID: c.Manifest.CapabilityID, Digest: c.Digest, consented: consented{Signer: pinned.Signer}})
	if err == nil && keyOf(one.Signer) == pinned.Signer {
		return "" // there are several
	}
	return "pins it as signed by " + pinned.Signer + ", and NO KEY THAT YOU TRUST has signed it so"
}
