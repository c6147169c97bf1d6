// Package runtime is the one path that every tool call takes. It knows no engine and no
// tool by name. The steps, which Registry.steps numbers:
//
//  1. look up the tool
//  2. start: the first event; budgets and the depth of the chain
//  3. validate the input
//  4. plan: name the effects
//  5. decide about all of them, from here on against the clock
//  6. act, with what the input hands over and nothing but the decided effects
//  7. check the output: withhold what gives instructions, validate the rest
//  8. record: close the journal of changes, store the last event, charge the budgets
package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/session"
)

// Config is what a Registry is built from.
type Config struct {
	Session    *session.Session
	Permission *permission.Engine
	Paths      *permission.Paths
	Approver   permission.Approver // nil: nobody can be asked, an ask becomes a denial
	Chooser    permission.Chooser  // nil: nobody answers an agent's questions
	Provider   Provider            // nil: only built-in tools
	Backups    *backup.Store       // nil: nothing is written, as nothing could be undone
	Budgets    Budgets
	// Misbehaved disables a capability that emitted an event under a name that is not its
	// own, or repeatedly gave instructions about air's policy. The reason is words for
	// behind its name.
	Misbehaved func(ctx context.Context, capability, reason string)
	Strikes    Strikes   // nil: counted in this process
	Launcher   Launcher  // nil: no programs run
	Processes  Processes // nil: no process is signalled
	Workspaces Workspaces
	Fetcher    Fetcher // nil: no request is sent
	// Secret is the value of a person's secret; nil: there are none.
	Secret func(name string) (string, error)
	// Hosts names the hosts that a run effect's program needs, as its own configuration
	// says; nil: none.
	Hosts func(e permission.Effect) []permission.Effect
}

// Registry holds the tools of one session and calls them.
type Registry struct {
	config  Config
	builtin map[string]*Tool
	schemas sync.Map // schema text → *schema.Schema
	// accounts are those of budgets: capability, or "" for the session → *account.
	accounts sync.Map
}

// New returns a registry with the built-in tools.
func New(config Config, builtin ...*Tool) (*Registry, error) {
	r := &Registry{config: config, builtin: map[string]*Tool{}}
	if config.Backups != nil {
		config.Backups.Leftovers(sweepAt)
	}
	if config.Strikes == nil {
		r.config.Strikes = strikesInMemory()
	}
	for _, t := range builtin {
		if r.builtin[t.Name] != nil {
			return nil, fmt.Errorf("tool %s is registered twice", t.Name)
		}
		r.builtin[t.Name] = t
	}
	return r, nil
}

// Call is one request to run a tool.
type Call struct {
	Tool  string
	Input json.RawMessage
	// Timeout shortens the tool's own limit; 0 leaves it as it is.
	Timeout time.Duration

	parent *run // set by Access.Call: the guest's call that this one is nested in
}

// run is one call under way.
type run struct {
	id        string
	call      Call
	tool      *Tool
	chain     []permission.Caller // capabilities above, outermost first
	started   time.Time
	artifacts []string
	seen      map[string]string // digests of files that the capability's call has seen
	found     map[int]Process   // processes that were decided about
	handed    map[string]bool   // artifacts that the capability may read though they are not its own
	late      atomic.Int64      // questions while the call ran; counted in the outermost run
	nested    atomic.Int64      // calls made below, however deep; counted in the outermost run
	approvals approvals         // of the call that a person or their agent made, for all that is nested in it
	journal   runJournal        // likewise: what the call changes
	ended     atomic.Pointer[fault.Error]
	clock     *clock       // from the fifth step on
	written   atomic.Int64 // bytes of files and artifacts that are not paid for; below 0 where too many are
	counted   []*account   // budgets to which the call is one
	over      *fault.Error // says which one was used up when the call began
	exchanged exchanged    // of a capability's call
	mu        sync.Mutex
}

// root is the call that a person or their agent made.
func (c *run) root() *run {
	for c.call.parent != nil {
		c = c.call.parent
	}
	return c
}

func newRun(call Call) *run {
	c := &run{id: ids.New(), call: call, started: time.Now(), handed: map[string]bool{}}
	if p := call.parent; p != nil {
		c.chain = append(slices.Clone(p.chain), p.tool.Owner)
	}
	return c
}

// Call takes a call through all steps. What goes wrong is in the envelope.
func (r *Registry) Call(ctx context.Context, call Call) Envelope {
	return r.carryOut(ctx, newRun(call))
}

func (r *Registry) carryOut(ctx context.Context, c *run) Envelope {
	output, err := r.steps(ctx, c)
	c.journal.end()
	return r.record(ctx, c, output, err) // 8
}

func (r *Registry) steps(ctx context.Context, c *run) (output json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			output, err = nil, fmt.Errorf("tool %s: %v\n%s", c.call.Tool, p, debug.Stack())
		}
	}()
	if c.tool, err = r.Lookup(ctx, c.call.Tool); err != nil { // 1
		return nil, err
	}
	if err := r.start(ctx, c); err != nil { // 2
		return nil, err
	}
	if err := r.validateInput(c); err != nil { // 3
		return nil, err
	}
	plan, err := r.plan(c) // 4
	if err != nil {
		return nil, err
	}
	ctx, stop := c.startClock(ctx)
	defer stop()
	decisions, err := r.decide(ctx, c, plan) // 5
	if err != nil {
		return nil, c.clock.explain(ctx, err)
	}
	output, err = r.act(ctx, c, decisions)    // 6
	return r.checkOutput(ctx, c, output, err) // 7
}

// start stores the call's first event, and ends a call for which a budget is used up or
// that is one too many in its chain.
func (r *Registry) start(ctx context.Context, c *run) error {
	if err := r.append(ctx, c, event.ToolStarted, map[string]any{"input": digestAndHead(c.call.Input)}, r.begin(c)); err != nil {
		return err
	}
	if c.over != nil {
		return c.over
	}
	return c.checkDepth()
}

// checkDepth keeps capabilities from calling each other, or themselves, for ever.
func (c *run) checkDepth() error {
	if c.tool.BuiltIn() || len(c.chain) == 0 {
		return nil
	}
	allowed := c.tool.limits().CallDepth
	if int64(len(c.chain)) >= allowed {
		return fault.New(fault.ResourceExhausted, "call_depth", "%s would be one capability too many in this chain of calls: the limit is %d", c.tool.Name, allowed)
	}
	return nil
}

// Lookup finds a tool by name.
func (r *Registry) Lookup(ctx context.Context, name string) (*Tool, error) {
	if t := r.builtin[name]; t != nil {
		return t, nil
	}
	if r.config.Provider == nil {
		return nil, UnknownTool(name)
	}
	t, err := r.config.Provider.Tool(ctx, name)
	if err == nil {
		err = checkOwner(t)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// checkOwner refuses a provider's tool that would count as built in: the most trusted.
func checkOwner(t *Tool) error {
	if t.BuiltIn() {
		return fmt.Errorf("tool %s, which is not built in, has no owner", t.Name)
	}
	return nil
}

// UnknownTool is the error for a name that no tool has.
func UnknownTool(name string) *fault.Error {
	return fault.New(fault.NotFound, "unknown_tool", "no tool named %.128q", name).WithHint("air tool ls shows the tools of this project")
}

// Tools lists every tool, sorted by name.
func (r *Registry) Tools(ctx context.Context) ([]*Tool, error) {
	all := slices.Collect(maps.Values(r.builtin))
	if r.config.Provider != nil {
		more, err := r.config.Provider.Tools(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range more {
			if err := checkOwner(t); err != nil {
				return nil, err
			}
		}
		all = append(all, more...)
	}
	slices.SortFunc(all, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
