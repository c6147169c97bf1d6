package permission

import (
	"context"
	"fmt"
	"slices"
)

// Verdict is the engine's answer for one effect. The zero value denies.
type Verdict int

const (
	Deny Verdict = iota
	Ask
	Allow
)

func (v Verdict) String() string { return [...]string{"deny", "ask", "allow"}[v] }

// MarshalText writes the verdict's word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the verdict's word.
func (v *Verdict) UnmarshalText(b []byte) error {
	for _, known := range []Verdict{Deny, Ask, Allow} {
		if known.String() == string(b) {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q", b)
}

// Layer names the part of the order that gave an answer.
type Layer string

const (
	LayerFloor    Layer = "floor"
	LayerProfile  Layer = "profile"
	LayerCeiling  Layer = "capability ceiling"
	LayerFlow     Layer = "flow"
	LayerRule     Layer = "rule"
	LayerGrant    Layer = "grant"
	LayerConsent  Layer = "consent"
	LayerDefault  Layer = "default"
	LayerApproval Layer = "approval"
)

// Decision is the engine's answer for one effect, with the rule and the reason.
type Decision struct {
	Effect  Effect  `json:"effect"`
	Verdict Verdict `json:"verdict"`
	Layer   Layer   `json:"layer"`
	// Rule is "file:line: text" of the rule or grant, or the name of the default.
	Rule   string `json:"rule"`
	Code   string `json:"code,omitempty"` // stable name of a refusal, such as protected_path
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
	// NoAlways is set on an ask that may be answered for once or for the session only.
	NoAlways bool `json:"no_always,omitempty"`
}

// StoredDecision is a decision as events keep it: of long texts the beginning.
type StoredDecision struct {
	Decision
	TargetSHA256 string `json:"target_sha256,omitempty"` // of the whole target, where it was cut
}

// DeniedError says which effect was refused, by which rule and why.
type DeniedError struct {
	Decision Decision
	// Unanswered is true when the effect needed a person and there was none.
	Unanswered bool
	// More are the other effects of the call that needed one.
	More []Effect
	// Note is what the person who refused wrote to the agent.
	Note string
}

func (e *DeniedError) Error() string {
	d := e.Decision
	switch {
	case len(e.More) > 0:
		return fmt.Sprintf("%s and %d more need approval: %s (rule: %s)", d.Effect, len(e.More), d.Reason, d.Rule)
	case e.Unanswered:
		return fmt.Sprintf("%s needs approval: %s (rule: %s)", d.Effect, d.Reason, d.Rule)
	case e.Note != "":
		return fmt.Sprintf("%s is denied: %s: %q (rule: %s)", d.Effect, d.Reason, e.Note, d.Rule)
	}
	return fmt.Sprintf("%s is denied: %s (rule: %s)", d.Effect, d.Reason, d.Rule)
}

// ToCapability is the refusal as a capability is told of it. It is in the capability's
// own words, and leaves out what it could learn from: where a path leads, what is there,
// and where a person's rules lie.
func (e *DeniedError) ToCapability() *DeniedError {
	told := *e
	d := &told.Decision
	d.Effect, told.More = d.Effect.AsNamed(), slices.Clone(e.More)
	for i := range told.More {
		told.More[i] = told.More[i].AsNamed()
	}
	if d.Layer != LayerFloor && d.Layer != LayerCeiling {
		d.Rule = string(d.Layer)
	}
	if d.Layer == LayerDefault && d.Verdict == Deny {
		d.Hint = "do not work around this; only a rule of a person can open it"
	}
	return &told
}

// Approver puts a question to a person. A nil Approver means there is none.
type Approver interface {
	Approve(ctx context.Context, q Question) (Answer, error)
}

// Question is everything a person is shown for one call.
type Question struct {
	Tool    string
	Chain   []Caller
	Asks    []Decision // the decisions whose verdict is Ask
	Project string
	Folder  string // that a command starts in; "" where there is none
	Others  int    // effects of the call that need no question
	// Rules are the rules that the choice "project" would write; empty when that
	// choice is not offered.
	Rules []string
	// OnceOnly is true when the choice "session" is not offered either.
	OnceOnly bool
	// AnyHost is true when the choice of that name is offered.
	AnyHost bool
	// Learning is true when rules are proposed from what is allowed.
	Learning bool
}

// Choice is a person's answer.
type Choice string

const (
	Once    Choice = "once"
	Session Choice = "session"
	Project Choice = "project"
	AnyHost Choice = "any public host, this run"
	Refuse  Choice = "deny"
)

// Answer is a choice and, for a refusal, a word to the agent.
type Answer struct {
	Choice Choice
	Note   string
}
