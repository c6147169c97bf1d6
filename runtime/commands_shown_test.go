package runtime

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/runtime/event"
)

// shownTexts has writes shown, with a flush after each, and returns the texts of the events.
func shownTexts(writes []string, late time.Duration) (texts []string, skipped int64) {
	s := &shown{publish: func(_ string, p map[string]any) {
		texts = append(texts, p["text"].(string))
		n, _ := p["skipped_bytes"].(int64)
		skipped += n
	}}
	var all bytes.Buffer
	w := s.stream(event.CommandStdout, &all).(*shownStream)
	for _, text := range writes {
		_, _ = w.Write([]byte(text))
		w.since = time.Now().Add(-late)
		s.flush(false)
	}
	s.flush(true)
	if all.String() != strings.Join(writes, "") {
		panic("showing output changed it")
	}
	return texts, skipped
}

func TestShownByLinesAndCharacters(t *testing.T) {
	for name, c := range map[string]struct {
		writes []string
		late   time.Duration
		want   string // the texts, with | between
	}{
		"lines":                     {[]string{"a\nb\n", "c\n"}, 0, "a\nb\n|c\n"},
		"a line in pieces":          {[]string{"a", "b", "c\nd"}, 0, "abc\n|d"},
		"a slow line":               {[]string{"Password", ": "}, 2 * time.Second, "Password|: "},
		"a slow line, in character": {[]string{"a\xf0\x9f", "\x98\x80b"}, 2 * time.Second, "a|\U0001F600b"},
		"never a character":         {[]string{"\xff\xff\xff\xff\xff"}, 2 * time.Second, "\xff\xff\xff\xff\xff"},
		"nothing":                   {nil, 0, ""},
	} {
		if texts, skipped := shownTexts(c.writes, c.late); strings.Join(texts, "|") != c.want || skipped != 0 {
			t.Errorf("%s: got %q, %d skipped, want %q", name, texts, skipped, c.want)
		}
	}
}

func TestShownWithinBounds(t *testing.T) {
	big := strings.Repeat("x", 99) + "\n"
	texts, skipped := shownTexts([]string{strings.Repeat(big, 1000), "end\n"}, 0)
	if len(texts) != 2 || len(texts[0]) != 16<<10 || skipped != 100_000-16<<10 || texts[1] != "end\n" {
		t.Errorf("%d events, %d skipped", len(texts), skipped)
	}
	var writes []string
	for range 100 {
		writes = append(writes, strings.Repeat(big, 200)) // 20,000 bytes
	}
	texts, skipped = shownTexts(writes, 0)
	total := 0
	for _, text := range texts {
		total += len(text)
	}
	if total != 1<<20 || skipped != 2_000_000-1<<20 || len(texts) > 66 {
		t.Errorf("%d bytes in %d events, %d skipped", total, len(texts), skipped)
	}
}

func TestProgressOfACommand(t *testing.T) {
	var told map[string]any
	s := &shown{id: "1", started: time.Now().Add(-90 * time.Second), publish: func(_ string, p map[string]any) { told = p }}
	_, _ = s.stream(event.CommandStdout, new(bytes.Buffer)).Write(make([]byte, 5000))
	_, _ = s.stream(event.CommandStderr, new(bytes.Buffer)).Write(make([]byte, 500))
	s.progress()
	if told["message"] != "1m30s, 5 KiB of output" || told["bytes"] != int64(5500) || told["command_run_id"] != "1" {
		t.Errorf("%v", told)
	}
}
