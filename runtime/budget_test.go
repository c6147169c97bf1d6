package runtime_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/session"
)

func used(r *rig.Rig, account string) session.Usage {
	r.Helper()
	all, err := r.Session.Usage(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return all[account]
}

func sessionBudget(b session.Usage) runtime.Budgets { return runtime.Budgets{Session: b} }

func TestBudgetOfCalls(t *testing.T) {
	dir := t.TempDir()
	r := rig.New(t, rig.Options{Dir: dir, Budgets: sessionBudget(session.Usage{Calls: 3})})
	r.Put("a.txt", "abc")
	stat := object{"path": "a.txt"}
	r.Must("fs.stat", stat, nil)
	r.Must("fs.stat", stat, nil)
	failed(t, r.Call("fs.read", object{"path": "none"}), fault.NotFound, "no_such_file") // a call like any other
	e := r.Call("fs.stat", stat)
	failed(t, e, fault.ResourceExhausted, "budget_calls")
	for _, want := range []string{"air session new", "budgets.session.calls"} {
		if !strings.Contains(e.Error.Hint, want) {
			t.Errorf("the hint %q lacks %q", e.Error.Hint, want)
		}
	}
	if got, want := r.Types(e.RunID), []string{"tool.started", "tool.failed"}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	if u := used(r, ""); u.Calls != 3 {
		t.Errorf("%d calls are counted", u.Calls)
	}
	raised := rig.New(t, rig.Options{Dir: dir, Budgets: sessionBudget(session.Usage{Calls: 4})})
	raised.Must("fs.stat", stat, nil)
	failed(t, raised.Call("fs.stat", stat), fault.ResourceExhausted, "budget_calls")
	next, err := session.New(t.Context(), r.Project, r.Home, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	rig.New(t, rig.Options{Dir: dir, Budgets: sessionBudget(session.Usage{Calls: 3})}).Must("fs.stat", stat, nil)
}

// Calls of a capability's tools count to it whoever makes them, those that it makes of
// built-in tools do not, and to the session only what a person calls counts.
func TestBudgetOfCapability(t *testing.T) {
	var last runtime.Envelope
	r := rig.New(t, rig.Options{
		Budgets: runtime.Budgets{Capability: session.Usage{Calls: 3}},
		Provider: rig.Guests{
			"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
				rig.Call(ctx, access, "fs.list", object{"path": "."})
				return object{}, nil
			},
			"b": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
				rig.Call(ctx, access, "a.run", object{})
				last = rig.Call(ctx, access, "a.run", object{})
				return object{}, nil
			},
		},
	})
	r.Must("a.run", object{}, nil)
	r.Must("b.run", object{}, nil)
	if !last.OK {
		t.Fatal(last.Error)
	}
	r.Must("b.run", object{}, nil)
	failed(t, last, fault.ResourceExhausted, "budget_calls")
	if !strings.Contains(last.Error.Message, "capability a") || !strings.Contains(last.Error.Hint, "budgets.capability.calls") {
		t.Errorf("%+v", last.Error)
	}
	failed(t, r.Call("a.run", object{}), fault.ResourceExhausted, "budget_calls")
	r.Must("fs.list", object{"path": "."}, nil)
	// a: once alone and twice in the first b; b: twice; the session: a, b, b, a (refused by a's budget), fs.list
	for account, want := range map[string]int64{"a": 3, "b": 2, "": 5} {
		if got := used(r, account).Calls; got != want {
			t.Errorf("%q has %d calls, want %d", account, got, want)
		}
	}
}

func TestBudgetOfBytes(t *testing.T) {
	r := rig.New(t, rig.Options{Budgets: sessionBudget(session.Usage{BytesOut: 2500})})
	content := strings.Repeat("x", 800)
	write := func(path string) runtime.Envelope {
		return r.Call("fs.write", object{"path": path, "content": content})
	}
	first := write("one")
	if !first.OK {
		t.Fatal(first.Error)
	}
	want := int64(800 + len(first.Output))
	if got := used(r, "").BytesOut; got != want {
		t.Errorf("%d bytes are counted, want %d", got, want)
	}
	failed(t, write("none/two"), fault.NotFound, "no_parent")
	if got := used(r, "").BytesOut; got != want {
		t.Errorf("a write that failed is counted: %d bytes instead of %d", got, want)
	}
	second := r.Call("artifact.create", object{"type": "report", "content": content[:700]})
	if !second.OK {
		t.Fatal(second.Error)
	}
	want += int64(700 + len(second.Output))
	failed(t, write("three"), fault.ResourceExhausted, "budget_bytes")
	failed(t, r.Call("artifact.create", object{"type": "report", "content": content}), fault.ResourceExhausted, "budget_bytes")
	if _, err := os.Stat(filepath.Join(r.Root, "three")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file beyond the budget is there: %v", err)
	}
	if got := used(r, "").BytesOut; got != want {
		t.Errorf("%d bytes are counted, want %d", got, want)
	}
	r.Put("big.txt", content)
	r.Must("fs.read", object{"path": "big.txt"}, nil) // an output that is there already is handed over
	failed(t, r.Call("fs.stat", object{"path": "big.txt"}), fault.ResourceExhausted, "budget_bytes")
}

// What a capability writes through built-in tools is its own, and the session's.
func TestBudgetOfBytesOfCapability(t *testing.T) {
	var nested []runtime.Envelope
	r := rig.New(t, rig.Options{
		Budgets: runtime.Budgets{Session: session.Usage{BytesOut: 20_000}, Capability: session.Usage{BytesOut: 15_000}},
		Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			for _, path := range []string{"one", "two"} {
				nested = append(nested, rig.Call(ctx, access, "fs.write", object{"path": path, "content": strings.Repeat("x", 9000)}))
			}
			return object{}, nil
		}},
	})
	r.Must("a.run", object{}, nil)
	if !nested[0].OK {
		t.Fatal(nested[0].Error)
	}
	failed(t, nested[1], fault.ResourceExhausted, "budget_bytes")
	want := 9000 + 2 + recorded(r, nested...) // what was written, the output {}, and the events of both calls
	for _, account := range []string{"a", ""} {
		if got := used(r, account).BytesOut; got != want {
			t.Errorf("%q put out %d bytes, want %d", account, got, want)
		}
	}
	r.Must("fs.write", object{"path": "three", "content": strings.Repeat("x", 4000)}, nil) // the refused one took nothing from the session
}

// recorded is what a capability pays for the events of calls that it made: 1 KiB each, and
// their payloads.
func recorded(r *rig.Rig, calls ...runtime.Envelope) (n int64) {
	r.Helper()
	for _, call := range calls {
		for _, e := range r.Events(call.RunID) {
			n += 1<<10 + int64(len(e.Payload))
		}
	}
	return n
}

// G25: the events that a capability's calls leave end by its budget, also of calls that are
// refused. What a person's agent calls itself goes on.
func TestG25EventsOfCalls(t *testing.T) {
	const limit = 50_000
	for name, path := range map[string]string{"allowed": "a.txt", "denied": ".env", "wrong": "none/" + strings.Repeat("x/", 200)} {
		t.Run(name, func(t *testing.T) {
			var made []runtime.Envelope
			r := rig.New(t, rig.Options{
				Budgets: runtime.Budgets{Capability: session.Usage{BytesOut: limit}},
				Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
					for range 900 {
						made = append(made, rig.Call(ctx, access, "fs.read", object{"path": path}))
					}
					return object{}, nil
				}},
			})
			r.Put("a.txt", "x")
			r.Must("a.run", object{}, nil)
			last := made[len(made)-1]
			failed(t, last, fault.ResourceExhausted, "budget_bytes")
			if got := r.Types(last.RunID); len(got) > 0 {
				t.Errorf("a call beyond the budget is recorded: %v", got)
			}
			of := recorded(r, made...)
			if want := of + 2; used(r, "a").BytesOut != want || used(r, "").BytesOut != want || of < limit || of > limit+20_000 {
				t.Errorf("events of %d bytes are stored, %d and %d are counted", of, used(r, "a").BytesOut, used(r, "").BytesOut)
			}
			failed(t, r.Call("a.run", object{}), fault.ResourceExhausted, "budget_bytes")
			r.Must("fs.read", object{"path": "a.txt"}, nil)
		})
	}
}

// An artifact that was refused halfway gives back what it had taken.
func TestBudgetOfBytesOfLargeArtifact(t *testing.T) {
	r := rig.New(t, rig.Options{Budgets: sessionBudget(session.Usage{BytesOut: 500_000})})
	r.Put("large", strings.Repeat("x", 600_000))
	r.Put("small", strings.Repeat("x", 300_000))
	failed(t, r.Call("artifact.create", object{"type": "report", "source_path": "large"}), fault.ResourceExhausted, "budget_bytes")
	r.Must("artifact.create", object{"type": "report", "source_path": "small"}, nil)
}

func TestBudgetOfTime(t *testing.T) {
	const limit = 50 * time.Millisecond
	slow := tool("test.slow", func(ctx context.Context, _ *runtime.Access, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{slow}, Budgets: sessionBudget(session.Usage{Wall: limit})})
	e := r.Call("test.slow", object{})
	failed(t, e, fault.ResourceExhausted, "budget_time")
	if !strings.Contains(e.Error.Hint, "budgets.session.wall_seconds") {
		t.Errorf("%+v", e.Error)
	}
	if got := used(r, "").Wall; got < limit {
		t.Errorf("%v are counted", got)
	}
	failed(t, r.Call("fs.list", object{"path": "."}), fault.ResourceExhausted, "budget_time")
}

// What a call used counts also where its last event could not be stored.
func TestBudgetWithoutLastEvent(t *testing.T) {
	r := rig.New(t, rig.Options{Budgets: sessionBudget(session.Usage{Calls: 3}), Provider: rig.Guests{"a": says}})
	stat := object{"path": "."}
	r.Must("fs.stat", stat, nil)
	change := func(statement string) {
		if err := r.Session.Events.Change(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(statement); return err }); err != nil {
			t.Fatal(err)
		}
	}
	change(`CREATE TRIGGER broken BEFORE INSERT ON used WHEN NEW.account = 'a' AND NEW.calls = 0 BEGIN SELECT RAISE(FAIL, 'broken'); END`)
	if e := r.Call("a.run", object{"output": object{}}); e.OK || !strings.Contains(e.Error.Message, "broken") {
		t.Fatalf("%+v", e)
	}
	change(`DROP TRIGGER broken`)
	r.Must("fs.stat", stat, nil)
	failed(t, r.Call("fs.stat", stat), fault.ResourceExhausted, "budget_calls")
	if got := used(r, "").Calls; got != 3 {
		t.Errorf("%d calls are stored", got)
	}
}

// What a process has done that is killed is counted: the call, and what it wrote by the
// time of its last artifact. What it takes back, it has not used.
func TestBudgetOfKilledCall(t *testing.T) {
	var begun, kept session.Usage
	var watched *rig.Rig
	stale := false
	note := tool("test.note", func(context.Context, *runtime.Access, json.RawMessage) (any, error) {
		begun = used(watched, "")
		return object{}, nil
	})
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{note}, Approver: rig.Yes, Backups: backup.Options{Sync: func(f *os.File) error {
		if kept = used(watched, ""); stale { // just before the file is replaced
			watched.Put("a.txt", "another one")
		}
		return f.Sync()
	}}})
	watched = r
	r.Must("test.note", object{}, nil)
	if begun.Calls != 1 {
		t.Errorf("under way: %+v", begun)
	}
	content := strings.Repeat("x", 900)
	before := used(r, "").BytesOut
	r.Put("a.txt", "old")
	e := r.Must("fs.write", object{"path": "a.txt", "content": content}, nil)
	if got := kept.BytesOut - before; got != 900 {
		t.Errorf("%d bytes are counted before the file is replaced", got)
	}
	before += int64(900 + len(e.Output))
	e = r.Must("artifact.create", object{"type": "report", "content": content}, nil)
	before += int64(900 + len(e.Output))
	stale = true
	failed(t, r.Call("fs.write", object{"path": "a.txt", "content": content}), fault.Conflict, "stale")
	if got := used(r, ""); got.BytesOut != before || got.Calls != 4 {
		t.Errorf("after a write that did not happen: %+v, want %d bytes", got, before)
	}
}

// A call's own limit stays its own.
func TestBudgetOfTimeIsNoTimeout(t *testing.T) {
	slow := tool("test.slow", func(ctx context.Context, _ *runtime.Access, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{slow}})
	e := r.Registry.Call(t.Context(), runtime.Call{Tool: "test.slow", Input: json.RawMessage(`{}`), Timeout: time.Millisecond})
	failed(t, e, fault.Timeout, "deadline")
}

// A person's time to answer is not counted.
func TestBudgetOfTimeWhileAsked(t *testing.T) {
	const thinking = 300 * time.Millisecond
	r := rig.New(t, rig.Options{Budgets: sessionBudget(session.Usage{Wall: thinking}), Approver: rig.Person(func(context.Context, permission.Question) (permission.Answer, error) {
		time.Sleep(thinking)
		return permission.Answer{Choice: permission.Once}, nil
	})})
	r.Put("a.txt", "old")
	r.Must("fs.write", object{"path": "a.txt", "content": "new"}, nil)
	if got := used(r, "").Wall; got <= 0 || got >= thinking {
		t.Errorf("%v are counted", got)
	}
}

// The time of a capability that calls itself is counted once.
func TestBudgetOfTimeOfItself(t *testing.T) {
	const pause = 100 * time.Millisecond
	depth := 0
	r := with(t, func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		if depth++; depth == 1 {
			rig.Call(ctx, access, "a.run", object{})
			return object{}, nil
		}
		time.Sleep(pause)
		return object{}, nil
	})
	r.Must("a.run", object{}, nil)
	if got := used(r, "a"); got.Wall < pause || got.Wall >= 2*pause || got.Calls != 2 {
		t.Errorf("%+v", got)
	}
}

// Calls at once do not exceed a limit, in one process and in several.
func TestBudgetAtOnce(t *testing.T) {
	const limit, each = 20, 30
	budgets := sessionBudget(session.Usage{Calls: limit})
	for processes := 1; processes <= 2; processes++ {
		dir := t.TempDir()
		var succeeded atomic.Int64
		var all sync.WaitGroup
		for range processes {
			r := rig.New(t, rig.Options{Dir: dir, Budgets: budgets})
			for range 8 / processes {
				all.Go(func() {
					for range each {
						if e := r.Call("fs.list", object{"path": "."}); e.OK {
							succeeded.Add(1)
						}
					}
				})
			}
		}
		all.Wait()
		if got := succeeded.Load(); got != limit {
			t.Errorf("%d processes made %d calls, the limit is %d", processes, got, limit)
		}
	}
}

// Two artifacts at once that fit one by one do not both fit.
func TestBudgetOfBytesAtOnce(t *testing.T) {
	r := rig.New(t, rig.Options{Budgets: sessionBudget(session.Usage{BytesOut: 2000})})
	var stored atomic.Int64
	var all sync.WaitGroup
	for _, letter := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			if e := r.Call("artifact.create", object{"type": "report", "content": strings.Repeat(letter, 1100)}); e.OK {
				stored.Add(1)
			}
		})
	}
	all.Wait()
	if stored.Load() != 1 {
		t.Errorf("%d of 4 fit", stored.Load())
	}
}

func TestBudgetDefaults(t *testing.T) {
	got := runtime.Budgets{Session: session.Usage{Calls: 7}}.WithDefaults()
	want := runtime.Budgets{
		Session:    session.Usage{Calls: 7, BytesOut: 4 << 30, Wall: 24 * time.Hour},
		Capability: session.Usage{Calls: 10_000, BytesOut: 1 << 30, Wall: 6 * time.Hour},
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
