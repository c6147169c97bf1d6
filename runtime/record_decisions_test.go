package runtime_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

type keptDecisions struct {
	Decisions []struct {
		permission.Decision
		TargetSHA256 string `json:"target_sha256"`
	} `json:"decisions"`
	LeftOut int    `json:"left_out"`
	SHA256  string `json:"sha256"`
}

func decided(r *rig.Rig, runID string) (kept keptDecisions, size int) {
	r.Helper()
	for _, e := range r.Events(runID) {
		if e.Type != event.PermissionDecided {
			continue
		}
		if err := json.Unmarshal(e.Payload, &kept); err != nil {
			r.Fatal(err)
		}
		return kept, len(e.Payload)
	}
	r.Fatal("nothing was decided")
	return kept, 0
}

// A command line of a thousand commands does not fill the store, and what was refused
// stays in sight.
func TestManyDecisions(t *testing.T) {
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{planned()}, Rules: "schema_version: 1\nrules:\n  - deny: run(evil **)\n"})
	var all []permission.Effect
	for i := range 1000 {
		all = append(all, permission.Effect{Kind: permission.Run, Target: fmt.Sprintf("echo %d", i), Risk: permission.RiskReadOnly, Why: "prints"})
	}
	all[998].Target = "evil words"
	e := r.Call("test.planned", effects(all...))
	failed(t, e, fault.PermissionDenied, "denied_by_rule")
	kept, size := decided(r, e.RunID)
	if size > 80<<10 || len(kept.Decisions) > 100 || len(kept.Decisions)+kept.LeftOut != 1001 || !strings.HasPrefix(kept.SHA256, "sha256:") {
		t.Errorf("%d bytes, %d decisions, %d left out, %q", size, len(kept.Decisions), kept.LeftOut, kept.SHA256)
	}
	first, last := kept.Decisions[0], kept.Decisions[len(kept.Decisions)-1]
	if first.Effect.Kind != permission.ToolCall || last.Effect.Target != "evil words" || last.Verdict != permission.Deny {
		t.Errorf("from %+v to %+v", first, last)
	}
	if second := kept.Decisions[1]; second.Effect.Risk != permission.RiskReadOnly || second.Effect.Why != "prints" {
		t.Errorf("%+v", second)
	}
}

// The event of a question is bounded like that of an answer.
func TestManyQuestions(t *testing.T) {
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{planned()}, Approver: rig.Yes})
	var all []permission.Effect
	for i := range 1000 {
		all = append(all, permission.Effect{Kind: permission.Run, Target: fmt.Sprintf("rm -r %d", i), Risk: permission.RiskDestructive, Why: "removes"})
	}
	e := r.Must("test.planned", effects(all...), nil)
	for _, e := range r.Events(e.RunID) {
		if e.Type != event.PermissionRequested {
			continue
		}
		var kept struct {
			Asks    []permission.Decision `json:"asks"`
			LeftOut int                   `json:"left_out"`
		}
		if err := json.Unmarshal(e.Payload, &kept); err != nil {
			t.Fatal(err)
		}
		if len(e.Payload) > 80<<10 || len(kept.Asks)+kept.LeftOut != 1000 || kept.Asks[0].Effect.Why != "removes" {
			t.Errorf("%d bytes, %d asks, %d left out", len(e.Payload), len(kept.Asks), kept.LeftOut)
		}
		return
	}
	t.Error("nothing was asked")
}

func TestLongDecision(t *testing.T) {
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{planned()}})
	long := "echo " + strings.Repeat("x", 300<<10)
	e := r.Must("test.planned", effects(permission.Effect{Kind: permission.Run, Target: long, Why: strings.Repeat("w", 3000), Risk: permission.RiskReadOnly}), nil)
	kept, _ := decided(r, e.RunID)
	d := kept.Decisions[1]
	if d.Effect.Target != long[:2048] || d.TargetSHA256 != canon.Digest([]byte(long)) || len(d.Effect.Why) != 2048 || kept.LeftOut != 0 {
		t.Errorf("%d bytes of target, digest %s, %d bytes of reason, %d left out", len(d.Effect.Target), d.TargetSHA256, len(d.Effect.Why), kept.LeftOut)
	}
}
