package runtime

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/event"
)

const (
	// shownEvery is how long output waits to be shown, and shownAtOnce the bytes of one
	// stream that are shown then: a program that writes byte by byte makes few events, and
	// one that never stops 160 KiB a second.
	shownEvery  = 100 * time.Millisecond
	shownAtOnce = 16 << 10
	// shownInAll bounds what is shown of one stream of a command. The whole is in the
	// answer, or in its artifacts.
	shownInAll = 1 << 20
	// shownLine is how long the beginning of a line waits for its end.
	shownLine = time.Second
	// progressEvery is how often it is told that a command still runs.
	progressEvery = time.Second
)

// shown has who watches see a command while it runs: what it writes, and how it gets on.
type shown struct {
	id      string
	publish func(eventType string, payload map[string]any)
	started time.Time
	quit    chan struct{}
	ended   sync.WaitGroup

	mu      sync.Mutex
	pid     int // once it runs
	streams []*shownStream
	bytes   int64 // of all streams
}

// shownStream is one output of the command.
type shownStream struct {
	show      *shown
	eventType string
	to        io.Writer

	pending []byte // at most shownAtOnce
	since   time.Time
	bytes   int64 // written since the last event
	skipped int64 // of these, what is not shown
	total   int   // shown so far
}

func (c Commands) show(id string) *shown {
	s := &shown{id: id, publish: c.publish, started: time.Now(), quit: make(chan struct{})}
	s.ended.Add(1)
	go s.run()
	return s
}

func (c Commands) publish(eventType string, payload map[string]any) {
	if body, err := plainjson.Marshal(payload); err == nil {
		c.registry.config.Session.Events.Publish(c.registry.event(c.run, eventType, body))
	}
}

// began notes the process that all of the command descend from.
func (s *shown) began(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pid = pid
}

// stream is a writer to a stream that is shown; nil for one that nobody reads.
func (s *shown) stream(eventType string, to io.Writer) io.Writer {
	if to == nil {
		return nil
	}
	w := &shownStream{show: s, eventType: eventType, to: to}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = append(s.streams, w)
	return w
}

// stop shows what is left.
func (s *shown) stop() {
	close(s.quit)
	s.ended.Wait()
	s.flush(true)
}

func (s *shown) run() {
	defer s.ended.Done()
	tick := time.NewTicker(shownEvery)
	defer tick.Stop()
	told := s.started
	for {
		select {
		case <-s.quit:
			return
		case now := <-tick.C:
			s.flush(false)
			if now.Sub(told) >= progressEvery {
				told = now
				s.progress()
			}
		}
	}
}

func (s *shown) progress() {
	s.mu.Lock()
	written, pid := s.bytes, s.pid
	s.mu.Unlock()
	elapsed := time.Since(s.started)
	s.publish(event.ToolProgress, map[string]any{
		"command_run_id": s.id, "pid": pid, "elapsed_ms": elapsed.Milliseconds(), "bytes": written,
		"message": fmt.Sprintf("%v, %d KiB of output", elapsed.Truncate(time.Second), written>>10),
	})
}

func (s *shown) flush(last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.streams {
		w.flush(last)
	}
}

// Write implements io.Writer.
func (w *shownStream) Write(p []byte) (int, error) {
	w.show.mu.Lock()
	if len(w.pending) == 0 {
		w.since = time.Now()
	}
	head := p[:min(len(p), shownAtOnce-len(w.pending), shownInAll-w.total-len(w.pending))]
	w.pending = append(w.pending, head...)
	w.bytes += int64(len(p))
	w.skipped += int64(len(p) - len(head))
	w.show.bytes += int64(len(p))
	w.show.mu.Unlock()
	return w.to.Write(p)
}

// flush shows whole lines, and what stands on a line that is slow to end. That a stream has
// more than is shown of it is told once.
func (w *shownStream) flush(last bool) {
	n := len(w.pending)
	switch {
	case last:
	case w.skipped > 0:
		n = wholeCharacters(w.pending)
	default:
		n = w.ready()
	}
	if n == 0 && (w.skipped == 0 || w.total >= shownInAll && !last) {
		return
	}
	payload := map[string]any{"command_run_id": w.show.id, "bytes": w.bytes - int64(len(w.pending)-n), "text": string(w.pending[:n])}
	if w.skipped > 0 {
		payload["skipped_bytes"] = w.skipped
	}
	w.show.publish(w.eventType, payload)
	w.total += n
	w.pending = append(w.pending[:0], w.pending[n:]...)
	w.bytes, w.skipped, w.since = int64(len(w.pending)), 0, time.Now()
}

// ready is how much of what waits can be shown now.
func (w *shownStream) ready() int {
	if end := bytes.LastIndexByte(w.pending, '\n') + 1; end > 0 {
		return end
	}
	if time.Since(w.since) < shownLine {
		return 0
	}
	return wholeCharacters(w.pending)
}

// wholeCharacters is where a text ends that was cut within its last character.
func wholeCharacters(p []byte) int {
	for n := len(p) - 1; n >= max(0, len(p)-utf8.UTFMax); n-- {
		if utf8.RuneStart(p[n]) {
			if !utf8.FullRune(p[n:]) {
				return n
			}
			break
		}
	}
	return len(p)
}

// shownCommand is a command line as events have it.
func shownCommand(line string) string { return text.Head(line, storedHead) }
