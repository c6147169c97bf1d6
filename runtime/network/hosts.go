// Package network reaches hosts that were decided, and no others: for the tool that makes
// one request, and for programs behind the command sandbox, through a proxy. Which hosts
// those are, the permission engine has said before.
package network

import (
	"strings"
	"sync"

	"github.com/aircoding/air/runtime/permission"
)

// Hosts are the net effects that were allowed. They may grow while they are used.
type Hosts struct {
	mu      sync.Mutex
	decided map[string]permission.Effect // by target
}

// NewHosts returns those of the effects that are on hosts.
func NewHosts(effects []permission.Effect) *Hosts {
	h := &Hosts{decided: map[string]permission.Effect{}}
	h.Add(effects)
	return h
}

// Add allows more of them. A private address stays allowed where it was.
func (h *Hosts) Add(effects []permission.Effect) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range effects {
		if e.Kind == permission.Net && h.decided[e.Target].Class != permission.ClassPrivate {
			h.decided[e.Target] = e
		}
	}
}

// find returns the effect that was allowed for exactly this scheme, host and port.
func (h *Hosts) find(target string) (permission.Effect, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := h.decided[target]
	return e, ok
}

// spelled is the target of a URL whose host is written in its one spelling, but for the
// case of letters: what two readers could take for different hosts is refused, and so is
// what only one of them takes for the same one, such as a dot at the end.
func spelled(scheme, authority string) (target string, err error) {
	e, err := permission.NetTarget(scheme + "://" + authority)
	if err != nil {
		return "", err
	}
	plain, written := e.Target, scheme+"://"+strings.ToLower(authority)
	if written != plain && written+":"+defaultPorts[scheme] != plain {
		return "", &spellingError{authority, plain}
	}
	return plain, nil
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
