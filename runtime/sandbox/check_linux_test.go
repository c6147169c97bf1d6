package sandbox

import "testing"

func TestCheckCommand(t *testing.T) {
	tier := CommandTier(t.Context())
	t.Logf("%+v", tier)
	if !tier.Held {
		t.Fatal(tier.Reason)
	}
	rows := checkCommand(t.Context())
	if len(rows) < 60 {
		t.Errorf("only %d rows", len(rows))
	}
	for _, r := range rows {
		t.Logf("%-45s %v %s", r.Attempt, r.Refused, r.How)
		if !r.Refused {
			t.Errorf("%s: %s", r.Attempt, r.How)
		}
	}
}
