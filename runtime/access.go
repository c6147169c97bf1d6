package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// Access is all that a tool can reach during one call: the effects that were decided
// and nothing else. It must not be used after Run has returned.
type Access struct {
	Files     Files
	Artifacts Artifacts
	Commands  Commands

	registry *Registry
	run      *run
}

// Files opens decided paths. Paths are taken as inputs have them, relative to the
// project root or absolute. A path that was not decided, or that is no longer what it
// was when it was decided, is an error of kind permission_denied.
type Files interface {
	// Open opens a regular file for reading. Devices, pipes and sockets are refused.
	Open(path string) (File, error)
	// Stat describes a path without following a symbolic link at its end. A path that
	// does not exist is no error: Info.Exists is false.
	Stat(path string) (Info, error)
	// Each visits the entries of a folder, in no order, until visit returns an error.
	// Entries that a rule denies to read are left out.
	Each(path string, visit func(Info) error) error
	// Write creates or replaces a file as a whole: readers see the old or the new one.
	Write(ctx context.Context, path string, content []byte, options WriteOptions) (Written, error)
	// Apply changes several files, all of them or none.
	Apply(ctx context.Context, changes []FileChange) ([]Written, error)
	// Undo takes back what a run wrote whose UndoEffects were decided. Nothing is
	// changed when a file changed since.
	Undo(ctx context.Context, past *backup.Past) (Undone, error)
}

// File is an open regular file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
	Stat() (fs.FileInfo, error)
	Name() string // the path as shown
	// Version names the state that the file is in: after any change it is another one. It
	// is "" while that cannot be told apart, for a file that changed a moment ago.
	Version() (string, error)
}

// Info describes one path.
type Info struct {
	Path     string // as shown: relative to the project inside it, absolute outside
	RealPath string // with all links resolved, shown likewise; "" for an entry that is a link
	Exists   bool
	Type     string // file, directory, symlink, other
	Size     int64
	Modified time.Time
	Target   string // of a symlink, as it is written
}

// WriteOptions say how to write a file.
type WriteOptions struct {
	Parents bool // create missing parent folders
	// ExpectSHA256 is the hex digest that the existing file must have; "" for no check.
	ExpectSHA256 string
}

// Written says what a write did.
type Written struct {
	Path             string // as shown
	SHA256           string // of the new content, hex
	BackupArtifactID string // of the replaced content; "" for a new file
}

// act runs the tool with an Access for the decided effects, and the artifacts that the
// input names.
func (r *Registry) act(ctx context.Context, c *run, decisions []permission.Decision) (json.RawMessage, error) {
	r.handOver(ctx, c.call.parent, c, c.call.Input)
	access := &Access{registry: r, run: c}
	access.Files = &files{registry: r, run: c, decisions: decisions}
	access.Commands = Commands{registry: r, run: c, decisions: decisions}
	access.Artifacts = Artifacts{registry: r, run: c, decisions: decisions}
	result, err := c.tool.Implementation.Run(ctx, access, c.call.Input)
	if ended := c.ended.Load(); ended != nil {
		return nil, ended
	}
	output, encodeErr := encode(result)
	if err != nil {
		return partial(output), err
	}
	return output, encodeErr
}

// encode is the JSON of a result. A guest's bytes stay as they are, to be validated.
func encode(result any) (json.RawMessage, error) {
	switch result := result.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return result, nil
	}
	return plainjson.Marshal(result)
}

// partial is what a failed call may return beside its error: JSON or nothing.
func partial(output json.RawMessage) json.RawMessage {
	if canon.Check(output, canon.Limits{}) != nil {
		return nil
	}
	return output
}

// Call runs another tool on behalf of the capability whose tool this is. Only a
// capability's tool can call others.
func (a *Access) Call(ctx context.Context, tool string, input json.RawMessage) Envelope {
	nested := newRun(Call{Tool: tool, Input: input, parent: a.run})
	err := a.run.mayCall()
	if err == nil {
		err = a.registry.mayGoOn(a.run)
	}
	if err != nil {
		return a.registry.refuse(nested, err)
	}
	envelope := a.registry.carryOut(ctx, nested)
	a.run.exchange(input, envelope.Output)
	if !nested.tool.BuiltIn() { // what a built-in tool makes is the caller's own, what it repeats hands nothing over
		a.registry.handOver(ctx, nested, a.run, envelope.Output)
	}
	return envelope
}

func (c *run) mayCall() *fault.Error {
	if ended := c.ended.Load(); ended != nil {
		return ended
	}
	return c.countCall()
}

// countCall keeps to one budget all calls that a person's call leads to: capabilities
// that call each other would otherwise multiply theirs.
func (c *run) countCall() *fault.Error {
	if c.tool.BuiltIn() {
		return fault.New(fault.Internal, "bug", "built-in tool %s called another", c.tool.Name)
	}
	outermost := c.root()
	limit := outermost.tool.limits().HostCalls
	if outermost.nested.Add(1) > limit {
		return fault.New(fault.ResourceExhausted, "host_calls", "%s has led to %d calls, its limit", outermost.tool.Name, limit)
	}
	return nil
}

// Direct reports whether a person or their agent made this call, and no capability.
func (a *Access) Direct() bool { return len(a.run.chain) == 0 }

// Choose puts a question of the agent's own to a person and returns the option that they
// take. It permits nothing. The call's clock stands meanwhile.
func (a *Access) Choose(ctx context.Context, q permission.AgentQuestion) (option string, err error) {
	chooser := a.registry.config.Chooser
	if chooser == nil {
		return "", fault.New(fault.ApprovalRequired, "no_terminal", "nobody can be asked: there is no terminal here, or prompts are switched off").
			WithHint("decide without the answer, or ask where a person is")
	}
	if err := a.registry.append(ctx, a.run, event.PermissionRequested, map[string]any{"question": q}); err != nil {
		return "", err
	}
	resume := pauseClock(ctx)
	option, err = chooser.Choose(ctx, q)
	resume()
	if err == nil && ctx.Err() != nil { // an answer to a call that has ended since is none
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("asking %.80q: %w", q.Subject, err)
	}
	return option, nil
}

// Emit publishes an event of the calling capability. name is the part behind
// "capability.<id>.", or all of it. An event whose type a person accepted to be stored is
// stored; the others are shown to whoever watches.
func (a *Access) Emit(ctx context.Context, name string, payload json.RawMessage) error {
	if a.Direct() {
		return fault.New(fault.InvalidInput, "no_capability", "only a capability emits events")
	}
	id := a.run.chain[len(a.run.chain)-1].Capability
	own := "capability." + id + "."
	full := name
	if !strings.HasPrefix(name, own) {
		if event.IsDurable(name) || name == event.ToolProgress || event.IsCustom(name) {
			return a.spoofed(ctx, id, name)
		}
		full = own + name
	}
	if !event.IsCustom(full) {
		return fault.New(fault.InvalidInput, "bad_event_name", "event name %.64q: lower-case words joined by dots are wanted", name)
	}
	if form, registered := a.run.guest().tool.DurableEvents[full]; registered {
		return a.keepEvent(ctx, full, form, payload)
	}
	return a.publish(ctx, full, payload)
}

func (a *Access) spoofed(ctx context.Context, id, name string) error {
	err := fault.New(fault.PermissionDenied, "spoofed_event", "capability %s may not emit %q: the name belongs to another", id, text.Head(name, 128)).
		WithHint("the capability is disabled; air enable %s brings it back", id)
	a.registry.misbehaved(ctx, a.run.call.parent, id, "emitted the event "+text.Head(name, 128)+", which is not its own", err)
	return err
}

// Progress publishes an ephemeral progress, log or partial-output event of the call
// that made this one, which is where a person watches.
func (a *Access) Progress(ctx context.Context, kind string, payload json.RawMessage) error {
	return a.publish(ctx, "tool."+kind, payload)
}

// publish shows what a capability says while it works.
func (a *Access) publish(ctx context.Context, eventType string, payload json.RawMessage) error {
	if err := a.mayBeSaid(ctx, payload); err != nil {
		return err
	}
	e := a.registry.event(a.run, eventType, payload)
	if n := len(a.run.chain); n > 0 {
		e.Source = event.Source{Kind: "capability", ID: a.run.chain[n-1].Capability}
	}
	a.registry.config.Session.Events.Publish(e)
	return nil
}

// mayBeSaid ends the call of a capability that says what may not be said.
func (a *Access) mayBeSaid(ctx context.Context, payload json.RawMessage) error {
	guest := a.run.guest()
	if guest == nil {
		return nil
	}
	err := a.registry.withhold(ctx, guest, payload)
	if err != nil {
		guest.end(fault.From(err))
	}
	return err
}

// NoteRead records that this task has seen the file with the digest. What a
// capability read for itself, nobody else has seen, and it itself for the length of its
// call. Of what it may write and not read, it has seen nothing.
func (a *Access) NoteRead(ctx context.Context, path, sha256 string) error {
	resolved, err := a.registry.resolve(a.run, permission.Effect{Kind: permission.Read, Target: path})
	var denied *permission.DeniedError
	if guest := a.run.guest(); guest != nil {
		switch {
		case errors.As(err, &denied):
			return nil
		case err == nil:
			guest.saw(resolved.Target, sha256)
		}
		return err
	}
	if err != nil {
		return err
	}
	return a.registry.config.Session.RecordRead(ctx, resolved.Target, sha256)
}

// LastRead returns what NoteRead recorded of the file as it was last seen; ok is false
// when it has not been.
func (a *Access) LastRead(ctx context.Context, path string) (sha256 string, ok bool, err error) {
	resolved, err := a.registry.resolve(a.run, permission.Effect{Kind: permission.Read, Target: path})
	if err != nil {
		return "", false, err
	}
	if guest := a.run.guest(); guest != nil {
		sha256, ok = guest.hasSeen(resolved.Target)
		return sha256, ok, nil
	}
	return a.registry.config.Session.LastRead(ctx, resolved.Target)
}

// maxSeen bounds the files that one call of a capability is known to have seen.
const maxSeen = 10_000

func (c *run) saw(canonical, sha256 string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]string{}
	}
	if _, again := c.seen[canonical]; again || len(c.seen) < maxSeen {
		c.seen[canonical] = sha256
	}
}

func (c *run) hasSeen(canonical string) (sha256 string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sha256, ok = c.seen[canonical]
	return sha256, ok
}
