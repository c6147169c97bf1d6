package capabilities

import (
	"context"
	"database/sql"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
)

// adoption is what a person wants when they make a bundle the one that is used.
type adoption int

const (
	enabling  adoption = iota // asks again where signer or origin are not those of the consent
	updating                  // has nothing to do where the digest is the same
	goingBack                 // lets a lower version in
)

// adopt makes c what the project uses, if it can be used here and confirm, which was
// shown what that means, says yes. Enabling, updating and rolling back end here. All of
// it goes by what was consented to when it began: when that is another one at the end,
// nothing is changed.
func (l *Lifecycle) adopt(ctx context.Context, c Found, how adoption, confirm func(Disclosure) (bool, error)) (Status, error) {
	agreed, err := l.consents(ctx, c.Manifest.CapabilityID)
	if err != nil {
		return Status{}, err
	}
	if s, settled, err := l.settled(ctx, agreed, c, how); settled || err != nil {
		return s, err
	}
	if how != goingBack {
		if err := downgraded(c, agreed); err != nil {
			return Status{}, err
		}
	}
	verdicts, err := l.check(ctx, c)
	if err != nil {
		return Status{}, err
	}
	if err := l.consent(ctx, agreed, c, verdicts, confirm); err != nil {
		return Status{}, err
	}
	if err := l.keep(ctx, c); err != nil {
		return Status{}, err
	}
	s, err := l.activate(ctx, c, verdicts, agreed)
	if fault.Is(err, fault.Conflict) {
		return l.unlessSame(ctx, c, how, err)
	}
	if err != nil {
		return s, err
	}
	return s, l.keepOnly(ctx, c)
}

// unlessSame is no conflict where what was agreed to meanwhile, in another process, is the
// very same.
func (l *Lifecycle) unlessSame(ctx context.Context, c Found, how adoption, conflict error) (Status, error) {
	now, err := l.consents(ctx, c.Manifest.CapabilityID)
	if err != nil {
		return Status{}, err
	}
	if s, settled, err := l.settled(ctx, now, c, how); settled {
		return s, err
	}
	return Status{}, conflict
}

// settled reports whether c is in use as it is, so that there is nothing to ask, and then
// tries it. A signature that counts no longer is always asked about.
func (l *Lifecycle) settled(ctx context.Context, agreed []row, c Found, how adoption) (Status, bool, error) {
	if len(agreed) == 0 || !agreed[0].Enabled || agreed[0].Digest != c.Digest || agreed[0].Place != c.Place {
		return Status{}, false, nil
	}
	r := agreed[0]
	_, err := l.load(ctx, r)
	isNew := r.Signer == "" && c.Signer != nil || r.Origin != c.origin()
	if err != nil && fault.From(err).Code == codeSignerChanged || how == enabling && isNew {
		return Status{}, false, nil
	}
	return l.triedStatus(c, Active, err), true, err
}

// consent asks about c. Where the person agreed to other bytes before, or to these from
// elsewhere, in use or not, every difference to that is shown first.
func (l *Lifecycle) consent(ctx context.Context, agreed []row, c Found, verdicts []Verdict, confirm func(Disclosure) (bool, error)) error {
	id := c.Manifest.CapabilityID
	d := Disclose(c, verdicts)
	d.ProposedBy = l.proposedBy(id, c.Digest)
	d.LockSigner = l.lockSigner(c)
	if len(agreed) > 0 && (agreed[0].Digest != c.Digest || agreed[0].Signer != keyOf(c.Signer) || agreed[0].Origin != c.origin()) {
		l.compareWith(ctx, agreed[0], Side{c, verdicts}, &d)
	}
	switch yes, err := confirm(d); {
	case err != nil:
		return err
	case !yes:
		return fault.New(fault.Cancelled, "declined", "nothing was changed for %s: the answer was no", id)
	}
	return nil
}

// activate takes a bundle that was consented to through the states to active. The step
// that counts, one digest in place of another with the consent to it, is one transaction.
func (l *Lifecycle) activate(ctx context.Context, c Found, verdicts []Verdict, agreed []row) (Status, error) {
	r := c.row(Enabled)
	r.consented = consented{Enabled: true, At: after(agreed), Signer: keyOf(c.Signer), Origin: c.origin()}
	facts, from := enabledFacts(c, verdicts), map[string]any{}
	if replaces := len(agreed) > 0 && agreed[0].Enabled; replaces {
		from["digest"], from["version"] = agreed[0].Digest, agreed[0].Version
		facts["from"] = from
	}
	if err := l.record(ctx, event.CapabilityEnabled, r, facts, stillAgreed(ctx, r.ID, agreed), r.agree); err != nil {
		return Status{}, err
	}
	if len(from) > 0 {
		if err := l.record(ctx, event.CapabilityUpdated, r, map[string]any{"from": from}); err != nil {
			return Status{}, err
		}
	}
	r.State = Registered
	if err := l.found(ctx, event.CapabilityRegistered, r, map[string]any{"tools": c.Manifest.ToolNames()}); err != nil {
		return Status{}, err
	}
	if err := l.locked(c); err != nil { // enabled all the same: pinning it is the next step
		return l.triedStatus(c, Failed, err), l.markFailed(ctx, r, err)
	}
	r.State = Active
	return l.triedStatus(c, Active, nil), l.found(ctx, event.CapabilityActivated, r, nil)
}

// stillAgreed refuses an answer when, while the question stood, the person agreed to
// something else: what was shown was the difference to another bundle, and the order of
// versions was that to another one.
func stillAgreed(ctx context.Context, id string, agreed []row) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		now, err := rowsOf(ctx, tx, ofConsents, id)
		if err != nil {
			return err
		}
		same := len(now) == len(agreed)
		for i := 0; same && i < len(now); i++ {
			same = now[i].Digest == agreed[i].Digest && now[i].Place == agreed[i].Place && now[i].consented == agreed[i].consented
		}
		if same {
			return nil
		}
		return fault.New(fault.Conflict, "changed_meanwhile", "what this project uses of %s changed while you were asked", id).
			WithHint("ask again: the difference is another one now")
	}
}

// enabledFacts are what the event of a consent says besides the digest.
func enabledFacts(c Found, verdicts []Verdict) map[string]any {
	facts := map[string]any{"manifest_hash": c.ManifestHash, "source": c.Source, "signer": "none", "trust_level": c.TrustLevel}
	if c.Signer != nil {
		facts["signer"] = c.Signer
	}
	if c.Reference != "" {
		facts["reference"] = c.Reference
	}
	if verdicts != nil {
		facts["verdicts"] = verdicts
	}
	return facts
}

// proposedBy names the accepted file of the project that wants this digest enabled.
func (l *Lifecycle) proposedBy(id, digest string) string {
	wanted, err := l.wanted()
	if p, ok := wanted[id]; err == nil && ok && (p.Digest == "" || p.Digest == digest) {
		return ".air/shared/" + p.From
	}
	return ""
}
