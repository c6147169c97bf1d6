package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/aircoding/air/internal/diagnostics"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/artifact"
)

const (
	// previewBytes bounds each preview, tool-registry-v1.md section 2.
	previewBytes = 16 << 10
	// spoolBytes bounds each artifact of a command's output. What comes after is counted
	// and left out; the command goes on.
	spoolBytes = 64 << 20
)

// capture keeps what a command writes, in bounded memory: the beginning of each stream for
// its preview and, where all is wanted or a preview is too short for it, all as artifacts,
// which are written while it comes.
type capture struct {
	keep  func(artifact.New, io.Reader) (artifact.Record, error)
	found *diagnostics.Parser // nil where nobody asked

	mu             sync.Mutex
	stdout, stderr output
	held           []byte // of both in the order of arrival, until combined is there
	combined       *spool // nil until there is more than the previews show
}

// output is one stream of the command.
type output struct {
	capture *capture
	name    string
	head    []byte // enough for the preview, and to see whether it shows all
	parsed  io.Writer
	spool   *spool // nil while nothing came, or combined is nil
}

// newCapture keeps for a call, also what was written when it has ended. found, if not nil, is
// shown all output.
func newCapture(ctx context.Context, access *runtime.Access, found *diagnostics.Parser) *capture {
	c := &capture{found: found, keep: func(meta artifact.New, content io.Reader) (artifact.Record, error) {
		return access.Artifacts.Keep(context.WithoutCancel(ctx), meta, content)
	}}
	c.stdout, c.stderr = output{capture: c, name: "stdout"}, output{capture: c, name: "stderr"}
	if found != nil {
		c.stdout.parsed, c.stderr.parsed = found.Stream(), found.Stream()
	}
	return c
}

// Write implements io.Writer. It never fails: a command is not to end because its output
// cannot be kept, which close tells.
func (o *output) Write(p []byte) (int, error) {
	o.capture.mu.Lock()
	defer o.capture.mu.Unlock()
	o.capture.take(o, p)
	if o.parsed != nil {
		_, _ = o.parsed.Write(p)
	}
	return len(p), nil
}

// take keeps what a stream wrote. The caller holds c.mu.
func (c *capture) take(o *output, p []byte) {
	if c.combined == nil && len(o.head)+len(p) > previewBytes {
		c.spill()
	}
	room := max(previewBytes+utf8.UTFMax-len(o.head), 0)
	o.head = append(o.head, p[:min(len(p), room)]...)
	if c.combined == nil {
		c.held = append(c.held, p...)
		return
	}
	if o.spool == nil {
		o.spool = c.newSpool(o.name)
	}
	o.spool.write(p)
	c.combined.write(p)
}

// spill begins the artifacts, with what came so far, of which the heads have all. A stream
// that wrote nothing gets none; the combined output has one in any case.
func (c *capture) spill() {
	if c.combined != nil {
		return
	}
	c.combined = c.newSpool("combined")
	c.combined.write(c.held)
	c.held = nil
	for _, o := range []*output{&c.stdout, &c.stderr} {
		if len(o.head) > 0 {
			o.spool = c.newSpool(o.name)
			o.spool.write(o.head)
		}
	}
}

// close ends the artifacts, which there are if all is wanted or the previews do not show
// all. The error says what could not be kept.
func (c *capture) close(all bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range []*output{&c.stdout, &c.stderr} {
		if _, whole := preview(o.head); all || !whole {
			c.spill()
		}
	}
	return errors.Join(c.stdout.spool.close(), c.stderr.spool.close(), c.combined.close())
}

// preview is the text that a stream begins with, up to the last character that fits. What
// is no text shows as U+FFFD, a byte each.
func preview(raw []byte) (shown string, whole bool) {
	var b strings.Builder
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if b.Len()+utf8.RuneLen(r) > previewBytes {
			return b.String(), false
		}
		b.WriteRune(r)
		raw = raw[size:]
	}
	return b.String(), true
}

// droppedNote is the end of an artifact that does not have all.
func droppedNote(dropped int64) string {
	return fmt.Sprintf("\n[air: %d more bytes were left out: an artifact has at most %d bytes of output]\n", dropped, spoolBytes)
}
