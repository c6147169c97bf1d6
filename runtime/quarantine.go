package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/counter"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/quarantine"
	"github.com/aircoding/air/runtime/artifact"
)

const (
	// quarantineType is the type of the artifacts that hold what was withheld. They are
	// nobody's: no tool opens one, air artifact cat does.
	quarantineType = "quarantine"
	// strikesToDisable is how often the same bytes may put out what is withheld, and was
	// not given to them.
	strikesToDisable = 2
	// screenTime bounds the look at one answer, also of a call whose own time is over.
	screenTime = 10 * time.Second
)

// Strikes is what counts how often output of the bundle with the digest was withheld in
// the project.
type Strikes func(digest string) counter.Counter

// StrikesIn keeps the numbers in files of the folder, for many processes.
func StrikesIn(dir string) Strikes {
	return func(digest string) counter.Counter {
		name := canon.Digest([]byte(digest))[len("sha256:"):] // of any digest, a name of one file
		return counter.In(filepath.Join(dir, name))
	}
}

// strikesInMemory keeps the numbers in this process.
func strikesInMemory() Strikes {
	var all sync.Map // digest → counter.Counter
	return func(digest string) counter.Counter {
		known, _ := all.LoadOrStore(digest, counter.InMemory())
		return known.(counter.Counter)
	}
}

// screen looks through what a capability's tool returns, its error included, for
// instructions about the runtime's policy. What it finds is withheld: the error takes its
// place. The output itself is never changed.
func (r *Registry) screen(ctx context.Context, c *run, output json.RawMessage, failed error) error {
	if c.tool.BuiltIn() {
		return nil
	}
	told, err := words(output, failed)
	if err != nil {
		return err
	}
	return r.withhold(ctx, c, told...)
}

// words are the texts of a result.
func words(output json.RawMessage, failed error) ([]json.RawMessage, error) {
	told := []json.RawMessage{output}
	if failed == nil {
		return told, nil
	}
	text, err := json.Marshal(fault.From(failed))
	return append(told, text), err
}

// withhold returns the error that takes the place of what a capability says, nil where it
// may say it.
func (r *Registry) withhold(ctx context.Context, c *run, told ...json.RawMessage) error {
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), screenTime)
	defer cancel()
	for _, text := range told {
		found, err := quarantine.JSON(looking, text)
		if err != nil {
			return fault.New(fault.ResourceExhausted, "unscreened", "what %s says could not be looked through within %v, and is withheld", c.tool.Name, screenTime)
		}
		if found.Pattern != "" {
			return r.quarantine(context.WithoutCancel(ctx), c, found, told)
		}
	}
	return nil
}

// quarantine keeps what a capability said where only a person looks, and disables a
// capability that does it again, in words of its own.
func (r *Registry) quarantine(ctx context.Context, c *run, found quarantine.Finding, told []json.RawMessage) error {
	failure := fault.New(fault.GuestError, "quarantined", "what %s says is withheld: by the pattern %s it gives instructions about air's policy", c.tool.Name, found.Pattern).
		With("pattern", found.Pattern)
	record, err := r.createArtifact(ctx, c, artifact.New{Type: quarantineType, Name: "withheld.txt", MediaType: "text/plain"}, lines(told))
	if err != nil {
		failure = failure.With("not_kept", fault.From(err).Message).WithHint("it could not be kept for a person to read: %v", err)
	} else {
		failure = failure.With("artifact_id", record.ID).WithHint("a person reads it with air artifact cat %s", record.ID)
	}
	if c.repeats(ctx, found) {
		return failure
	}
	if owner := c.tool.Owner; r.strike(ctx, owner.Digest) >= strikesToDisable {
		failure.Hint += fmt.Sprintf("; it is not the first time, and the capability is disabled: air enable %s brings it back", owner.Capability)
		r.misbehaved(ctx, c.call.parent, owner.Capability, "gave instructions about air's policy, pattern "+found.Pattern, failure)
	}
	return failure
}

// exchanged is what passed between a capability's call and its host, in its order.
type exchanged struct {
	texts []exchange
	bytes int
}

type exchange struct {
	text json.RawMessage
	said bool // by the capability
}

// mostExchanged bounds what is kept of it: the last.
const mostExchanged = 8 << 20

func (e *exchanged) add(text json.RawMessage, said bool) {
	e.texts = append(e.texts, exchange{text, said})
	for e.bytes += len(text); e.bytes > mostExchanged; e.texts = e.texts[1:] {
		e.bytes -= len(e.texts[0].text)
		e.texts[0] = exchange{}
	}
}

// exchange notes a call that the capability made.
func (c *run) exchange(input, output json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exchanged.add(input, true)
	c.exchanged.add(output, false)
}

// repeats reports whether a capability's call was given what was found before it said so
// itself: in its input, or in what another tool returned to it. Who only passes a text on
// did not write it. One that has its own words returned to it by a later call is not seen
// through: what it says is withheld all the same.
func (c *run) repeats(ctx context.Context, found quarantine.Finding) bool {
	looking, cancel := context.WithTimeout(ctx, screenTime)
	defer cancel()
	c.mu.Lock()
	texts := slices.Clone(c.exchanged.texts)
	c.mu.Unlock()
	for _, one := range append([]exchange{{text: c.call.Input}}, texts...) {
		if has, err := found.In(looking, one.text); has || err != nil {
			return err == nil && !one.said
		}
	}
	return false
}

// lines are the texts one below the other.
func lines(texts []json.RawMessage) io.Reader {
	var all []io.Reader
	for _, text := range texts {
		if len(text) > 0 {
			all = append(all, bytes.NewReader(text), strings.NewReader("\n"))
		}
	}
	return io.MultiReader(all...)
}

// strike counts one more time. A module without a digest is not known again; what cannot
// be counted counts as repeated.
func (r *Registry) strike(ctx context.Context, digest string) int {
	if digest == "" {
		return 1
	}
	total, err := r.config.Strikes(digest)(ctx, 1)
	if err != nil {
		return strikesToDisable
	}
	return total
}
