package runtime

import (
	"cmp"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/session"
)

// Budgets bound what calls use in one session. What counts is kept with the session, for
// all processes that call in it. A call is counted with its first event, before it acts;
// what it writes with the next artifact that is stored, a backup included, or with its last
// event; its output and time with that one. Of a call whose process is killed the rest is
// not counted. Processes at once can exceed a limit of bytes or time by what is under way
// in them.
type Budgets struct {
	// Session bounds the calls that a person or their agent makes, with the bytes of all
	// that is nested in them.
	Session session.Usage
	// Capability bounds the calls of each capability's own tools, whoever makes them and
	// whatever its digest, with the bytes that the capability writes through other tools.
	Capability session.Usage
}

var defaultBudgets = Budgets{
	Session:    session.Usage{Calls: 20_000, BytesOut: 4 << 30, Wall: 24 * time.Hour},
	Capability: session.Usage{Calls: 10_000, BytesOut: 1 << 30, Wall: 6 * time.Hour},
}

// WithDefaults returns b with every zero limit replaced by its documented default: there is
// none that means "unlimited".
func (b Budgets) WithDefaults() Budgets {
	return Budgets{Session: orElse(b.Session, defaultBudgets.Session), Capability: orElse(b.Capability, defaultBudgets.Capability)}
}

func orElse(limit, normal session.Usage) session.Usage {
	return session.Usage{
		Calls:    cmp.Or(max(limit.Calls, 0), normal.Calls),
		BytesOut: cmp.Or(max(limit.BytesOut, 0), normal.BytesOut),
		Wall:     cmp.Or(max(limit.Wall, 0), normal.Wall),
	}
}

// account is one budget with what this process knows to be used of it.
type account struct {
	capability string // "" for the session
	limit      session.Usage

	mu      sync.Mutex
	stored  session.Usage // as the session had it last
	pending int64         // bytes that calls of this process wrote and have not paid for
}

// account is that of a capability, or the session's for "".
func (r *Registry) account(capability string) *account {
	if known, ok := r.accounts.Load(capability); ok {
		return known.(*account)
	}
	budgets := r.config.Budgets.WithDefaults()
	a := &account{capability: capability, limit: budgets.Capability}
	if capability == "" {
		a.limit = budgets.Session
	}
	known, _ := r.accounts.LoadOrStore(capability, a)
	return known.(*account)
}

// counting are the accounts to which the call itself is one, with its output and time.
func (r *Registry) counting(c *run) (all []*account) {
	if c.call.parent == nil {
		all = append(all, r.account(""))
	}
	if !c.tool.BuiltIn() {
		all = append(all, r.account(c.tool.Owner.Capability))
	}
	return all
}

// paying are the accounts of what the call writes: all that it counts to, and more.
func (r *Registry) paying(c *run) []*account {
	all := []*account{r.account("")}
	if g := c.guest(); g != nil {
		all = append(all, r.account(g.tool.Owner.Capability))
	}
	return all
}

// begin counts a call that begins, in the transaction of its first event. A budget that
// is used up is no error of that: because of it the call ends after the event.
func (r *Registry) begin(c *run) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		for _, a := range r.counting(c) {
			now, err := r.config.Session.Charge(tx, a.capability, session.Usage{Calls: 1})
			if err != nil {
				return err
			}
			if c.over = a.enter(now); c.over != nil {
				_, err := r.config.Session.Charge(tx, a.capability, session.Usage{Calls: -1})
				return err
			}
			c.counted = append(c.counted, a)
		}
		return nil
	}
}

// enter says which part of the limit was reached before the call that now counts.
func (a *account) enter(now session.Usage) *fault.Error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stored = now
	switch {
	case a.stored.Calls > a.limit.Calls:
		return a.exhausted("budget_calls", "calls", "%s has had %d calls, its limit", a, a.limit.Calls)
	case a.full():
		return a.outOfBytes()
	case a.stored.Wall >= a.limit.Wall:
		return a.outOfTime()
	}
	return nil
}

// charge stores what a call wrote and has not paid for, in the transaction of an event,
// and what else an account pays. Where that fails it was written nevertheless, and stays
// pending.
func (r *Registry) charge(c *run, also func(*account) session.Usage) (store func(*sql.Tx) error, failed func()) {
	var written int64
	var booked []*account
	store = func(tx *sql.Tx) error {
		written = c.written.Swap(0)
		for _, a := range r.paying(c) {
			used := also(a)
			used.BytesOut += written
			if used == (session.Usage{}) {
				continue
			}
			now, err := r.config.Session.Charge(tx, a.capability, used)
			if err != nil {
				return err
			}
			a.book(now, written)
			booked = append(booked, a)
		}
		return nil
	}
	failed = func() {
		c.written.Add(written)
		for _, a := range booked {
			a.giveBack(-written)
		}
	}
	return store, failed
}

// nothingElse is what accounts pay besides for a call that has not ended.
func nothingElse(*account) session.Usage { return session.Usage{} }

// ending is what accounts pay besides for a call that has ended.
func (c *run) ending(output int) func(*account) session.Usage {
	return func(a *account) session.Usage {
		if !slices.Contains(c.counted, a) {
			return session.Usage{}
		}
		return session.Usage{BytesOut: int64(output), Wall: c.wall(a)}
	}
}

// book notes what is stored now, of which some was pending.
func (a *account) book(now session.Usage, paid int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stored = now
	a.pending -= paid
}

// wall is the time that the call is charged for. A capability that calls itself has
// that time counted already.
func (c *run) wall(a *account) time.Duration {
	if c.clock == nil {
		return 0
	}
	for _, caller := range c.chain {
		if caller.Capability == a.capability {
			return 0
		}
	}
	return c.clock.elapsed()
}

// timeLeft bounds the call by what is left of its budgets: it returns the shortest time
// and the account that sets it, nil where the call's own limit is shorter.
func (c *run) timeLeft() (time.Duration, *account) {
	limit, sets := c.timeout(), (*account)(nil)
	for _, a := range c.counted {
		a.mu.Lock()
		left := a.limit.Wall - a.stored.Wall
		a.mu.Unlock()
		if left < limit {
			limit, sets = max(left, 0), a
		}
	}
	return limit, sets
}

// spend takes bytes that are about to be written from all budgets of the call, or from
// none.
func (r *Registry) spend(c *run, n int64) error {
	all := r.paying(c)
	for i, a := range all {
		if err := a.pay(n); err != nil {
			for _, taken := range all[:i] {
				taken.giveBack(n)
			}
			return err
		}
	}
	c.written.Add(n)
	return nil
}

// unspend gives back the bytes of a write that failed. Where they are paid already, the
// call's last event has it.
func (r *Registry) unspend(c *run, n int64) {
	for _, a := range r.paying(c) {
		a.giveBack(n)
	}
	c.written.Add(-n)
}

func (a *account) pay(n int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	used := a.stored.BytesOut + a.pending
	if n > a.limit.BytesOut-used {
		return a.exhausted("budget_bytes", "bytes_out", "%s has put out %d bytes, and %d more would exceed its limit, %d", a, used, n, a.limit.BytesOut)
	}
	a.pending += n
	return nil
}

// mayGoOn refuses a capability's further calls where a budget of bytes is used up: each
// leaves events.
func (r *Registry) mayGoOn(c *run) *fault.Error {
	for _, a := range r.paying(c) {
		a.mu.Lock()
		full := a.full()
		a.mu.Unlock()
		if full {
			return a.outOfBytes()
		}
	}
	return nil
}

func (a *account) full() bool { return a.stored.BytesOut+a.pending >= a.limit.BytesOut }

func (a *account) outOfBytes() *fault.Error {
	return a.exhausted("budget_bytes", "bytes_out", "%s has put out all the bytes that it may, %d", a, a.limit.BytesOut)
}

func (a *account) giveBack(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending -= n
}

func (a *account) outOfTime() *fault.Error {
	return a.exhausted("budget_time", "wall_seconds", "calls of %s have run for %v, its limit", a, a.limit.Wall)
}

func (a *account) exhausted(code, key, format string, args ...any) *fault.Error {
	group := "capability"
	if a.capability == "" {
		group = "session"
	}
	return fault.New(fault.ResourceExhausted, code, format, args...).
		WithHint("a person begins a session with air session new, or raises budgets.%s.%s in config.yaml; air session show tells what is used", group, key)
}

func (a *account) String() string {
	if a.capability == "" {
		return "this session"
	}
	return fmt.Sprintf("capability %s in this session", a.capability)
}

// metered pays for content as it is read.
type metered struct {
	registry *Registry
	run      *run
	content  io.Reader
	paid     int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.content.Read(p)
	if n <= 0 {
		return n, err
	}
	if over := m.registry.spend(m.run, int64(n)); over != nil {
		return 0, over
	}
	m.paid += int64(n)
	return n, err
}
