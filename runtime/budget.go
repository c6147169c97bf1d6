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
// all processes that call in it. Calls are counted before they act, bytes and time when
// they have ended: processes can exceed a limit by what is under way in them, not by more.
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
	pending session.Usage // calls of this process that are under way, and what they wrote
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
			used, err := r.config.Session.Used(tx, a.capability)
			if err != nil {
				return err
			}
			if c.over = a.enter(used); c.over != nil {
				return nil
			}
			c.counted = append(c.counted, a)
		}
		return nil
	}
}

// enter counts a call unless the budget is used up.
func (a *account) enter(used session.Usage) *fault.Error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stored = used
	if over := a.usedUp(); over != nil {
		return over
	}
	a.pending.Calls++
	return nil
}

// bill is what an account pays for a call that has ended.
type bill struct {
	account *account
	pending session.Usage // what it had as pending for the call
	used    session.Usage
}

func (r *Registry) bills(c *run, output int) (all []bill) {
	written := c.written.Load()
	for _, a := range r.paying(c) {
		one := bill{a, session.Usage{BytesOut: written}, session.Usage{BytesOut: written}}
		if slices.Contains(c.counted, a) {
			one.pending.Calls = 1
			one.used = session.Usage{Calls: 1, BytesOut: written + int64(output), Wall: c.wall(a)}
		}
		if one.used != (session.Usage{}) {
			all = append(all, one)
		}
	}
	return all
}

// charge stores what a call used that has ended, in the transaction of its last event.
// Where that fails it is used nevertheless, and stays pending.
func (r *Registry) charge(c *run, output int) (store func(*sql.Tx) error, failed func()) {
	var booked []bill
	store = func(tx *sql.Tx) error {
		for _, one := range r.bills(c, output) {
			now, err := r.config.Session.Charge(tx, one.account.capability, one.used)
			if err != nil {
				return err
			}
			one.account.book(now, one.pending)
			booked = append(booked, one)
		}
		return nil
	}
	failed = func() {
		for _, one := range booked {
			one.account.reopen(one.pending)
		}
	}
	return store, failed
}

// book notes what is stored now, of which some was pending.
func (a *account) book(now, pending session.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stored = now
	a.pending.Calls -= pending.Calls
	a.pending.BytesOut -= pending.BytesOut
}

func (a *account) reopen(pending session.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending.Calls += pending.Calls
	a.pending.BytesOut += pending.BytesOut
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
// none. They are the session's for good when the call's last event is stored.
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

// unspend gives back the bytes of a write that failed.
func (r *Registry) unspend(c *run, n int64) {
	for _, a := range r.paying(c) {
		a.giveBack(n)
	}
	c.written.Add(-n)
}

func (a *account) pay(n int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	used := a.stored.BytesOut + a.pending.BytesOut
	if n > a.limit.BytesOut-used {
		return a.exhausted("budget_bytes", "bytes_out", "%s has put out %d bytes, and %d more would exceed its limit, %d", a, used, n, a.limit.BytesOut)
	}
	a.pending.BytesOut += n
	return nil
}

func (a *account) giveBack(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending.BytesOut -= n
}

// usedUp says which part of the limit is reached, if any. The caller holds a.mu.
func (a *account) usedUp() *fault.Error {
	bytes := a.stored.BytesOut + a.pending.BytesOut
	switch {
	case a.stored.Calls+a.pending.Calls >= a.limit.Calls:
		return a.exhausted("budget_calls", "calls", "%s has had %d calls, its limit", a, a.limit.Calls)
	case bytes >= a.limit.BytesOut:
		return a.exhausted("budget_bytes", "bytes_out", "%s has put out %d bytes, its limit is %d", a, bytes, a.limit.BytesOut)
	case a.stored.Wall >= a.limit.Wall:
		return a.outOfTime()
	}
	return nil
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
