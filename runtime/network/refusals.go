package network

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

const (
	maxRefusals = 32
	maxTold     = 300 // bytes of a target
)

// Refusal is a host that a program asked the proxy for and did not get.
type Refusal struct {
	Target string // scheme://host:port, or what was asked for where that is none
	Why    string
	Hint   string // what to do about it, "" for nothing
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
