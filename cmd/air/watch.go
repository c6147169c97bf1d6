package main

import (
	"encoding/json"
	"fmt"

	"github.com/aircoding/air/runtime/event"
)

// watch shows what guests say while they work: log lines, and progress on a terminal.
func (a *app) watch(events *event.Store) {
	if a.flags.quiet {
		return
	}
	w := &watcher{app: a, animated: isTerminal(a.stderr)}
	cancel := events.Subscribe(w.see)
	a.later(func() error { cancel(); w.clear(); return nil })
}

type watcher struct {
	app      *app
	animated bool
	shown    bool // a progress line stands on the terminal
}

func (w *watcher) see(e event.Event) {
	var p struct {
		Level    string   `json:"level"`
		Msg      string   `json:"msg"`
		Message  string   `json:"message"`
		Fraction *float64 `json:"fraction"`
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
	}
}

func (w *watcher) progress(who string, fraction *float64, message string) {
	if !w.animated {
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

func (w *watcher) clear() {
	if w.shown {
		fmt.Fprint(w.app.stderr, "\r\x1b[K")
		w.shown = false
	}
}
