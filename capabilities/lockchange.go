package capabilities

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aircoding/air/internal/text"
)

// Losses says in words what a lock in the place of k would no longer have: a capability, a
// higher version, or a signer. They are safe to show, and none for a lock that only adds.
func (k Lock) Losses(next Lock) []string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(k.Capabilities)) {
		was := k.Capabilities[id]
		now, ok := next.Capabilities[id]
		if !ok {
			all = append(all, fmt.Sprintf("%s %s is no longer pinned, for it is not enabled here", id, text.Line(was.Version, 64)))
			continue
		}
		if order := orderOf(was.Version, now.Version); order == Older {
			all = append(all, fmt.Sprintf("%s goes back from %s to %s", id, text.Line(was.Version, 64), text.Line(now.Version, 64)))
		}
		if was.Signer != "" && now.Signer != was.Signer {
			all = append(all, fmt.Sprintf("%s was pinned as signed by %s, and is now %s", id, was.Signer, byWhom(now.Signer)))
		}
	}
	return all
}

func byWhom(keyID string) string {
	if keyID == "" {
		return "by nobody whom you trust"
	}
	return "by " + keyID
}
