package permission

import "slices"

// AnyHost reports whether an answer for any public host answers a question too: one about a
// public host that turned up while a call of a person or their agent ran, and that no rule
// is about.
func (r *Request) AnyHost(d Decision) bool {
	return r.Late && len(r.Chain) == 0 && d.Verdict == Ask && d.Effect.Kind == Net && d.Effect.Class != ClassPrivate && d.Layer == LayerDefault
}

// onlyHosts reports whether that answer is offered: nothing else is asked about.
func onlyHosts(r *Request, asks []Decision) bool {
	return len(asks) > 0 && !slices.ContainsFunc(asks, func(d Decision) bool { return !r.AnyHost(d) })
}
