package runtime

import (
	"sync"

	"github.com/aircoding/air/runtime/permission"
)

// approvals are the reads that a person approved, for the length of one call, and whether
// they approved any public host. A guest
// that reads a file in pieces asks for the same effect many times, and "once" means the
// call that the person made. A write asks each time: its content is another.
type approvals struct {
	mu   sync.Mutex
	kept map[string]permission.Decision
	host bool
}

// approval names an effect for one chain of callers.
func approval(r permission.Request, e permission.Effect) string {
	key := e.String()
	for _, caller := range r.Chain {
		key += "\x00" + caller.Capability + "@" + caller.Digest
	}
	return key
}

// keep remembers what a person approved. What was allowed otherwise is decided anew.
func (a *approvals) keep(r permission.Request, decisions []permission.Decision, c permission.Choice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.host = a.host || c == permission.AnyHost
	for _, d := range decisions {
		if d.Effect.Kind != permission.Read || d.Verdict != permission.Allow || d.Layer != permission.LayerApproval {
			continue
		}
		if a.kept == nil {
			a.kept = map[string]permission.Decision{}
		}
		a.kept[approval(r, d.Effect)] = d
	}
}

// apply answers what would be asked with what was approved before. A deny stays one.
func (a *approvals) apply(r permission.Request, decisions []permission.Decision) []permission.Decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, d := range decisions {
		if kept, ok := a.kept[approval(r, d.Effect)]; ok && d.Verdict == permission.Ask {
			decisions[i] = kept
		}
		if a.host && r.AnyHost(d) {
			decisions[i] = d.Answered(permission.AnyHost)
		}
	}
	return decisions
}
