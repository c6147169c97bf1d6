package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/aircoding/air/runtime/event"
)

// TestCommandOutputOnATerminal: a line is marked as the command's, and cannot steer the
// terminal.
func TestCommandOutputOnATerminal(t *testing.T) {
	type delta = map[string]any
	for name, c := range map[string]struct {
		deltas []delta
		want   string
	}{
		"lines":            {[]delta{{"text": "a\nb\n"}}, "| a\n| b\n"},
		"no end":           {[]delta{{"text": "a"}}, "| a\n"},
		"a line in two":    {[]delta{{"text": "a"}, {"text": "b\n"}}, "| ab\n"},
		"two streams":      {[]delta{{"text": "a"}, {"text": "e\n", "stderr": true}, {"text": "b\n"}}, "| a\n| e\n| b\n"},
		"controls":         {[]delta{{"text": "\x1b[2Ja\x07\u202e\n"}}, "| \uFFFD[2Ja\uFFFD\uFFFD\n"},
		"carriage returns": {[]delta{{"text": "1 %\r2 %\r\nend\n"}}, "| 1 %\n| 2 %\n| end\n"},
		"tabs stay":        {[]delta{{"text": "\tx  y\n"}}, "| \tx  y\n"},
		"left out":         {[]delta{{"text": "a", "skipped_bytes": 7}}, "| a\n(7 bytes are not shown)\n"},
		"a guest's":        {[]delta{{"text": "a\n", "guest": true}}, ""},
		"another tool's":   {[]delta{{"text": "a\n", "tool": "git.diff"}}, ""},
	} {
		var out bytes.Buffer
		w := &watcher{app: &app{stderr: &out}, animated: true, streams: true}
		for _, d := range c.deltas {
			w.see(deltaEvent(t, d))
		}
		w.clear()
		if got := out.String(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// While a person is asked nothing else is written; what came meanwhile is shown then.
func TestNothingIsShownOverAQuestion(t *testing.T) {
	var out bytes.Buffer
	w := &watcher{app: &app{stderr: &out}, animated: true, streams: true}
	w.see(deltaEvent(t, map[string]any{"text": "before"}))
	resume := w.pause()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		w.see(deltaEvent(t, map[string]any{"text": "meanwhile\n"}))
	}()
	select {
	case <-shown:
		t.Error("it was shown over the question")
	case <-time.After(50 * time.Millisecond):
	}
	if got := out.String(); got != "| before\n" {
		t.Errorf("the question begins behind %q", got)
	}
	resume()
	<-shown
	if got := out.String(); got != "| before\n| meanwhile\n" {
		t.Errorf("%q", got)
	}
	(*watcher)(nil).pause()()
}

func TestCommandOutputElsewhere(t *testing.T) {
	var out bytes.Buffer
	w := &watcher{app: &app{stderr: &out}}
	w.see(deltaEvent(t, map[string]any{"text": "a\n"}))
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
}

func TestProgressBesideOutput(t *testing.T) {
	var out bytes.Buffer
	w := &watcher{app: &app{stderr: &out}, animated: true, streams: true}
	progress := event.Event{Type: event.ToolProgress, Source: event.Source{ID: "shell.run"}, Payload: []byte(`{"message":"1s, 0 KiB of output"}`)}
	w.see(progress)
	w.see(deltaEvent(t, map[string]any{"text": "begun"}))
	w.see(progress) // not into the line that stands there
	w.clear()
	if got, want := out.String(), "\r\x1b[Kshell.run: 1s, 0 KiB of output\r\x1b[K| begun\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func deltaEvent(t *testing.T, d map[string]any) event.Event {
	t.Helper()
	payload, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	e := event.Event{Type: event.CommandStdout, Source: event.Source{Kind: "tool", ID: "shell.run"}, Payload: payload}
	if d["stderr"] != nil {
		e.Type = event.CommandStderr
	}
	if d["guest"] != nil {
		e.Route = []string{"acme"}
	}
	if tool, ok := d["tool"].(string); ok {
		e.Source.ID = tool
	}
	return e
}
