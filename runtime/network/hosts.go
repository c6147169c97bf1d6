// Package network reaches hosts that were decided, and no others: for the tool that makes
// one request, and for programs behind the command sandbox, through a proxy. Which hosts
// those are, the permission engine has said before.
package network

import (
	"context"
	"strings"
	"sync"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

const (
	// maxRefused is how many hosts may be refused to a program before no more are asked
	// about; maxHosts is how many it may have at all.
	maxRefused = 32
	maxHosts   = 1024
)

// notDecided is the code of a host about which nobody is asked.
const notDecided = "not_decided"

// Decide answers for effects before a program has them: an error refuses them.
type Decide func(ctx context.Context, effects []permission.Effect) error

// Hosts are the net effects that were allowed to a program, and those that were refused.
type Hosts struct {
	decide  Decide // of what was not decided before; nil refuses it
	one     sync.Mutex
	refused map[host]error // guarded by one, as decide is

	mu      sync.Mutex
	decided map[string]permission.Effect // by target
}

// host is what an answer is about: one by a name may be private or not.
type host struct {
	target string
	class  permission.Class
}

// NewHosts returns those of the effects that are on hosts. About others decide is asked
// when the program asks for them; nil refuses them.
func NewHosts(effects []permission.Effect, decide Decide) *Hosts {
	h := &Hosts{decide: decide, refused: map[host]error{}, decided: map[string]permission.Effect{}}
	h.add(effects)
	return h
}

// Decide answers for effects that turn up while the program runs, one call at a time, and
// remembers what it answered about hosts: those that it allows may be reached from then on.
func (h *Hosts) Decide(ctx context.Context, effects []permission.Effect) error {
	h.one.Lock()
	defer h.one.Unlock()
	return h.answer(ctx, effects)
}

// late decides about a host that the program asks for.
func (h *Hosts) late(ctx context.Context, e permission.Effect) error {
	h.one.Lock()
	defer h.one.Unlock()
	if _, ok := h.find(e); ok { // since it was its turn
		return nil
	}
	return h.answer(ctx, []permission.Effect{e})
}

func (h *Hosts) answer(ctx context.Context, effects []permission.Effect) error {
	if h.decide == nil {
		return fault.New(fault.PermissionDenied, notDecided, "it was not decided for this command")
	}
	for _, e := range effects {
		if err := h.refusal(e); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := h.decide(ctx, effects)
	switch {
	case err == nil:
		h.add(effects)
	case len(effects) == 1 && isRefusal(err):
		h.refused[host{effects[0].Target, effects[0].Class}] = err
	}
	return err
}

// refusal is why nobody is asked about a host, nil where somebody is.
func (h *Hosts) refusal(e permission.Effect) error {
	if e.Kind != permission.Net {
		return nil
	}
	if err := h.refused[host{e.Target, e.Class}]; err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.decided[e.Target]; known || len(h.refused) < maxRefused && len(h.decided) < maxHosts {
		return nil
	}
	return fault.New(fault.PermissionDenied, "too_many_hosts", "this command asked for too many hosts: no more are decided while it runs")
}

func isRefusal(err error) bool {
	return fault.Is(err, fault.PermissionDenied) || fault.Is(err, fault.ApprovalRequired)
}

// add allows more of them. A private address stays allowed where it was.
func (h *Hosts) add(effects []permission.Effect) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range effects {
		if e.Kind == permission.Net && h.decided[e.Target].Class != permission.ClassPrivate {
			h.decided[e.Target] = e
		}
	}
}

// find returns the effect that was allowed for exactly this scheme, host and port. One that
// was not decided as private is none for a private host.
func (h *Hosts) find(e permission.Effect) (permission.Effect, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	have, ok := h.decided[e.Target]
	return have, ok && (e.Class != permission.ClassPrivate || have.Class == permission.ClassPrivate)
}

// spelled is the effect of reaching a URL whose host is written in its one spelling, but for the
// case of letters: what two readers could take for different hosts is refused, and so is
// what only one of them takes for the same one, such as a dot at the end.
func spelled(scheme, authority string) (e permission.Effect, err error) {
	e, err = permission.NetTarget(scheme + "://" + authority)
	if err != nil {
		return e, err
	}
	plain, written := e.Target, scheme+"://"+strings.ToLower(authority)
	if written != plain && written+":"+defaultPorts[scheme] != plain {
		return e, &spellingError{authority, plain}
	}
	return e, nil
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

type spellingError struct{ written, plain string }

func (e *spellingError) Error() string {
	return "the host " + permission.Printable(e.written) + " is another spelling of " + e.plain + ": write that"
}

// hostPort is what follows the scheme of a target.
func hostPort(target string) string {
	_, rest, _ := strings.Cut(target, "://")
	return rest
}
