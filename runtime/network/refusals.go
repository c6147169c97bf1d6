package network

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

const (
	maxRefusals = maxRefused
	maxTold     = 300 // bytes of a target
)

// Refusal is a host that a program asked the proxy for and did not get.
type Refusal struct {
	Target string // scheme://host:port, or what was asked for where that is none
	Why    string
	Hint   string // what to do about it, "" for nothing
}

// refusalOf is why a host was not reached. What waits for a person says how they allow it,
// in words that are no command to run: whoever passes them on gives nobody orders.
func refusalOf(e permission.Effect, err error) Refusal {
	refused := Refusal{Target: e.Target, Why: err.Error()}
	var known *fault.Error
	if errors.As(err, &known) {
		refused.Hint = known.Hint
	}
	switch {
	case errors.Is(err, context.Canceled):
		refused.Why = "the command ended first"
	case known != nil && (known.Kind == fault.ApprovalRequired || known.Code == notDecided) && e.Class != permission.ClassPrivate:
		refused.Hint = "do not work around this; a person allows it by air permission grant, with the effect 'net(" + e.Target + ")'"
	}
	return refused
}

// refusals keeps the first refusal of each host.
type refusals struct {
	mu  sync.Mutex
	all map[string]Refusal
}

func (r *refusals) note(refused Refusal) {
	target := refused.Target[:min(len(refused.Target), maxTold)]
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]Refusal{}
	}
	if _, again := r.all[target]; !again && len(r.all) < maxRefusals {
		refused.Target = target
		r.all[target] = refused
	}
}

func (r *refusals) list() (all []Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, target := range slices.Sorted(maps.Keys(r.all)) {
		all = append(all, r.all[target])
	}
	return all
}

// text is what people and agents read.
func (r Refusal) text() string {
	text := "air: " + r.Target + " is not reached: " + r.Why + "\n"
	if r.Hint != "" {
		text += "hint: " + r.Hint + "\n"
	}
	return text
}

// Refused puts refusals into words, "" for none.
func Refused(all []Refusal) string {
	var text strings.Builder
	for _, r := range all {
		text.WriteString(r.text())
	}
	return text.String()
}
