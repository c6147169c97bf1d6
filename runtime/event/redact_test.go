package event

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/redact"
)

// What is stored and what is shown has no secrets; the chain is over what is stored, and
// ids and digests stay as they were.
func TestRedacted(t *testing.T) {
	redactor := redact.New([]string{"tr0ub4dor"})
	s, err := openIn(t.TempDir(), Options{Redactor: func() (*redact.Redactor, error) { return redactor, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	token := "glpat-" + strings.Repeat("a1B2c", 4)
	payload := `{"run_id":"01890a5d-ac96-774b-bcce-b302099a8057","password":"letmein","input":{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","head":"` + token + ` tr0ub4dor"}}`
	want := `{"run_id":"01890a5d-ac96-774b-bcce-b302099a8057","password":"[redacted:password]","input":{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","head":"[redacted:gitlab-token] [redacted:secret]"}}`
	var seen []string
	cancel := s.Subscribe(func(e Event) { seen = append(seen, string(e.Payload)) })
	appended, err := s.Append(ctx, Event{Type: ToolStarted, Payload: json.RawMessage(payload)})
	if err != nil {
		t.Fatal(err)
	}
	s.Publish(Event{Type: "tool.log", Payload: json.RawMessage(payload)})
	cancel()
	stored, err := s.List(ctx, Query{RunID: "01890a5d-ac96-774b-bcce-b302099a8057"})
	if err != nil || len(stored) != 1 || string(stored[0].Payload) != want || string(appended.Payload) != want {
		t.Errorf("%v, stored %v, returned %s", err, stored, appended.Payload)
	}
	if len(seen) != 2 || seen[0] != want || seen[1] != want {
		t.Errorf("shown %q", seen)
	}
	if report, err := s.Verify(ctx); err != nil || len(report.Problems) > 0 {
		t.Errorf("the chain: %+v, %v", report, err)
	}
}

// Where the secrets of the person are not known, nothing is stored and nothing is shown.
func TestNotRedacted(t *testing.T) {
	broken := errors.New("the secrets cannot be read")
	s, err := openIn(t.TempDir(), Options{Redactor: func() (*redact.Redactor, error) { return nil, broken }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cancel := s.Subscribe(func(e Event) { t.Errorf("shown: %s", e.Payload) })
	if _, err := s.Append(ctx, started(1)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	s.Publish(Event{Type: "tool.log", Payload: json.RawMessage(`{"msg":"x"}`)})
	cancel()
	if stored, err := s.List(ctx, Query{}); err != nil || len(stored) > 0 {
		t.Errorf("stored %v, %v", stored, err)
	}
}
