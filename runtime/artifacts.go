package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"regexp"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime/artifact"
	"github.com/aircoding/air/runtime/permission"
)

// Artifacts creates and reads artifacts of the session.
type Artifacts struct {
	registry  *Registry
	run       *run
	decisions []permission.Decision
}

// Create stores content as an artifact of the capability that acts.
func (a Artifacts) Create(ctx context.Context, meta artifact.New, content io.Reader) (artifact.Record, error) {
	if err := a.registry.permits(a.run, a.decisions, permission.Effect{Kind: permission.Artifact, Target: meta.Type}); err != nil {
		return artifact.Record{}, err
	}
	return a.store(ctx, meta, content)
}

// Keep stores part of a built-in tool's result as an artifact, such as the output of a
// command: with the call it was decided. It belongs to the capability that acts.
func (a Artifacts) Keep(ctx context.Context, meta artifact.New, content io.Reader) (artifact.Record, error) {
	if !a.run.tool.BuiltIn() {
		return artifact.Record{}, fault.New(fault.Internal, "bug", "%s is not built in and stored a %.32s by itself", a.run.tool.Name, meta.Type)
	}
	return a.store(ctx, meta, content)
}

// store has the call pay for the content as it is read.
func (a Artifacts) store(ctx context.Context, meta artifact.New, content io.Reader) (artifact.Record, error) {
	meta.Owner = a.run.owner()
	paid := &metered{registry: a.registry, run: a.run, content: content}
	record, err := a.registry.createArtifact(ctx, a.run, meta, paid)
	if err != nil {
		a.registry.unspend(a.run, paid.paid)
	}
	return record, err
}

// createArtifact also has the call pay for what it wrote so far: of a file that is about to
// be replaced, the backup comes before the new content.
func (r *Registry) createArtifact(ctx context.Context, c *run, meta artifact.New, content io.Reader) (artifact.Record, error) {
	meta.RunID = c.id
	charge, notCharged := r.charge(c, nothingElse)
	record, err := r.config.Session.Artifacts.Create(ctx, meta, content, charge)
	if err != nil {
		notCharged()
		return record, err
	}
	c.mu.Lock()
	c.artifacts = append(c.artifacts, record.ID)
	c.mu.Unlock()
	if g := c.guest(); g != nil && meta.Owner == g.owner() {
		g.hand(record.ID) // a bare module has no digest by which it would be known as the owner
	}
	return record, nil
}

// keepOutput stores a large output as an artifact of its call.
func (r *Registry) keepOutput(ctx context.Context, c *run, output json.RawMessage) error {
	meta := artifact.New{Type: "output", Name: "output.json", MediaType: "application/json", Owner: c.owner()}
	_, err := r.createArtifact(ctx, c, meta, bytes.NewReader(output))
	return err
}

// owner is the capability that acts, or nobody for a person or their agent.
func (c *run) owner() artifact.Owner {
	var acts permission.Caller
	if n := len(c.chain); n > 0 {
		acts = c.chain[n-1]
	}
	if !c.tool.BuiltIn() {
		acts = c.tool.Owner
	}
	return artifact.Owner{Capability: acts.Capability, Digest: acts.Digest}
}

// Open opens an artifact. A capability opens its own and those handed to it.
func (a Artifacts) Open(ctx context.Context, id string) (artifact.Record, artifact.Content, error) {
	record, err := a.registry.config.Session.Artifacts.Get(ctx, id)
	if err != nil {
		return record, nil, err
	}
	if g := a.run.guest(); g != nil && !g.holds(record) {
		return artifact.Record{}, nil, fault.New(fault.PermissionDenied, "foreign_artifact", "artifact %s is not %s's and was not handed to it", id, g.owner().Capability)
	}
	if record.Type == quarantineType {
		return artifact.Record{}, nil, fault.New(fault.PermissionDenied, "quarantined", "artifact %s holds what was withheld from you", id).
			WithHint("a person reads it with air artifact cat %s", id)
	}
	content, err := a.registry.config.Session.Artifacts.Open(record)
	return record, content, err
}

// guest is the capability's call that acts: this one, or the one that it is nested in;
// nil when a person calls a built-in tool.
func (c *run) guest() *run {
	if c.tool.BuiltIn() {
		return c.call.parent
	}
	return c
}

// holds reports whether the capability of this call may read an artifact.
func (c *run) holds(record artifact.Record) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handed[record.ID] || record.Owner == c.owner() && record.Digest != ""
}

func (c *run) hand(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handed[id] = true
}

// handOver lets a capability's call read the artifacts that a text names, which is its
// input or the result of a call it made, as far as the one who wrote the text may read
// them. from is nil for a person's text. Knowing an id is not holding the artifact:
// otherwise a capability would only have to have it repeated.
func (r *Registry) handOver(ctx context.Context, from, to *run, text []byte) {
	for _, id := range artifactIDs(text) {
		if from != nil {
			record, err := r.config.Session.Artifacts.Get(ctx, id)
			if err != nil || !from.holds(record) {
				continue
			}
		}
		to.hand(id)
	}
}

// handedAtOnce bounds how many artifacts one text hands over.
const handedAtOnce = 1000

var artifactID = regexp.MustCompile(`art_` + ids.Pattern)

// artifactIDs finds the artifact ids that a text names.
func artifactIDs(text []byte) []string {
	var named []string
	for _, id := range artifactID.FindAll(text, handedAtOnce) {
		named = append(named, string(id))
	}
	return named
}
