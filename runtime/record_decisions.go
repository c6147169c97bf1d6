package runtime

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/permission"
)

// A command line of a thousand commands has as many decisions, with as long a text as its
// input had. Of these an event keeps what a person needs to understand the call.
const (
	storedDecisions     = 100
	storedDecisionBytes = 64 << 10
)

// appendDecisions records decisions: refusals and questions before what was allowed, but
// each in its place in the plan. Where some are left out the event says how many, with
// the digest of all.
func (r *Registry) appendDecisions(ctx context.Context, c *run, eventType, key string, decisions []permission.Decision) error {
	payload := map[string]any{}
	if err := addDecisions(payload, key, decisions); err != nil {
		return err
	}
	return r.append(ctx, c, eventType, payload)
}

func addDecisions(payload map[string]any, key string, decisions []permission.Decision) error {
	var kept []int
	texts := make([]json.RawMessage, len(decisions))
	bytes := 0
	for _, i := range byWeight(decisions) {
		text, err := plainjson.Marshal(stored(decisions[i]))
		if err != nil {
			return err
		}
		if bytes += len(text); len(kept) == storedDecisions || len(kept) > 0 && bytes > storedDecisionBytes {
			break
		}
		kept, texts[i] = append(kept, i), text
	}
	slices.Sort(kept)
	list := make([]json.RawMessage, 0, len(kept))
	for _, i := range kept {
		list = append(list, texts[i])
	}
	payload[key] = list
	if len(kept) == len(decisions) {
		return nil
	}
	all, err := json.Marshal(decisions)
	payload["left_out"], payload["sha256"] = len(decisions)-len(kept), canon.Digest(all)
	return err
}

// byWeight are the places of decisions, the strictest first.
func byWeight(decisions []permission.Decision) []int {
	order := make([]int, len(decisions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(decisions[a].Verdict) - int(decisions[b].Verdict) })
	return order
}

func stored(d permission.Decision) permission.StoredDecision {
	s := permission.StoredDecision{Decision: d}
	if len(d.Effect.Target) > storedHead {
		s.TargetSHA256 = canon.Digest([]byte(d.Effect.Target))
	}
	for _, part := range []*string{&s.Effect.Target, &s.Effect.Also, &s.Effect.Why, &s.Effect.Script, &s.Rule, &s.Reason, &s.Hint} {
		*part = text.Head(*part, storedHead)
	}
	return s
}
