package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/event"
)

// watch shows what happens during calls: log lines of guests, and on a terminal progress
// and what the person's own commands write. Nil where it shows nothing.
func (a *app) watch(events *event.Store) *watcher {
	if a.flags.quiet {
		return nil
	}
	w := &watcher{app: a, animated: isTerminal(a.stderr)}
	w.streams = w.animated && a.flags.output != "json"
	cancel := events.Subscribe(w.see)
	a.later(func() error { cancel(); w.clear(); return nil })
	return w
}

type watcher struct {
	app      *app
	animated bool
	streams  bool   // it shows what commands write
	shown    bool   // a progress line stands on the terminal
	begun    string // the stream whose line stands there without its end, "" for none

	mu sync.Mutex // held while something is shown, or a person is asked
}

// pause has the terminal stay as it is until resume is called: what happens meanwhile is
// shown then. A nil watcher shows nothing.
func (w *watcher) pause() (resume func()) {
	if w == nil {
		return func() {}
	}
	w.mu.Lock()
	w.clear()
	return w.mu.Unlock
}

func (w *watcher) see(e event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var p struct {
		Level    string   `json:"level"`
		Msg      string   `json:"msg"`
		Message  string   `json:"message"`
		Fraction *float64 `json:"fraction"`
		Text     string   `json:"text"`
		Skipped  int64    `json:"skipped_bytes"`
	}
	if json.Unmarshal(e.Payload, &p) != nil {
		return
	}
	switch e.Type {
	case "tool.log":
		if p.Level == "debug" && !w.app.flags.verbose {
			return
		}
		w.clear()
		w.app.note("%s: %s", e.Source.ID, p.Msg)
		w.app.logged = p.Msg
	case event.ToolProgress:
		w.progress(e.Source.ID, p.Fraction, p.Message)
	case event.CommandStdout, event.CommandStderr:
		if w.streams && e.Source.ID == "shell.run" && len(e.Route) == 0 {
			w.output(e.Type, p.Text, p.Skipped)
		}
	}
}

// outputMark stands before each line of a command, so that none can be taken for air's own.
const outputMark = "| "

// output shows what a command wrote.
func (w *watcher) output(stream, written string, skipped int64) {
	if w.begun != stream {
		w.clear()
	}
	written = text.Printable(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(written))
	for line := range strings.Lines(written) {
		if w.begun == "" {
			w.clear()
			fmt.Fprint(w.app.stderr, outputMark)
		}
		fmt.Fprint(w.app.stderr, line)
		w.begun = stream
		if strings.HasSuffix(line, "\n") {
			w.begun = ""
		}
	}
	if skipped > 0 {
		w.clear()
		fmt.Fprintf(w.app.stderr, "(%d bytes are not shown)\n", skipped)
	}
}

func (w *watcher) progress(who string, fraction *float64, message string) {
	if !w.animated || w.begun != "" {
		return
	}
	percent := ""
	if fraction != nil {
		percent = fmt.Sprintf(" %3.0f %%", *fraction*100)
	}
	line := []rune(oneLine(fmt.Sprintf("%s:%s %s", who, percent, message)))
	fmt.Fprintf(w.app.stderr, "\r\x1b[K%s", string(line[:min(len(line), 78)]))
	w.shown = true
}

// clear leaves the terminal at the beginning of a line.
func (w *watcher) clear() {
	if w.begun != "" {
		fmt.Fprintln(w.app.stderr)
		w.begun = ""
	}
	if w.shown {
		fmt.Fprint(w.app.stderr, "\r\x1b[K")
		w.shown = false
	}
}
