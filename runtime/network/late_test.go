package network

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/quarantine"
	"github.com/aircoding/air/runtime/permission"
)

// person answers, one question at a time, and remembers about what.
type person struct {
	yes   func(e permission.Effect) bool
	asked []permission.Effect
	busy  atomic.Bool
}

func (p *person) decide(_ context.Context, effects []permission.Effect) error {
	if !p.busy.CompareAndSwap(false, true) {
		panic("two questions at once")
	}
	defer p.busy.Store(false)
	time.Sleep(time.Millisecond)
	p.asked = append(p.asked, effects...)
	for _, e := range effects {
		if !p.yes(e) {
			return fault.New(fault.ApprovalRequired, "approval_required", "%s needs approval", e)
		}
	}
	return nil
}

// A host that was not decided is when it is asked for: once, also by many connections at
// once, and whatever the answer is.
func TestHostsAreDecidedLate(t *testing.T) {
	server := httptest.NewServer(echo())
	defer server.Close()
	n := &names{table: map[string][]string{"yes.internal": {"127.0.0.1"}, "no.internal": {"127.0.0.1"}}}
	p := &person{yes: func(e permission.Effect) bool { return strings.Contains(e.Target, "yes") }}
	address, stop := setUp(t, &Proxy{Hosts: NewHosts(nil, p.decide), Dialer: Dialer{Resolve: n.resolve}, Command: "npm ci"})
	for name, want := range map[string]int{"yes": 200, "no": 403} {
		url := "http://" + name + ".internal:" + port(server)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if status, body := ask(t, address, "GET "+url+"/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); status != want {
					t.Errorf("%s: %d %s", url, status, body)
				}
			})
		}
		all.Wait()
	}
	if len(p.asked) != 2 || p.asked[0].Target == p.asked[1].Target {
		t.Errorf("asked about %v", p.asked)
	}
	if why := p.asked[0].Why; !strings.HasSuffix(why, ": npm ci") {
		t.Errorf("asked because %q", why)
	}
	refused := stop()
	if len(refused) != 1 || refused[0].Target != "http://no.internal:"+port(server) || !strings.Contains(refused[0].Why, "needs approval") {
		t.Errorf("refused: %v", refused)
	}
}

// What the interpreter asks about counts for the proxy, and the other way round.
func TestOneMemoryOfHosts(t *testing.T) {
	p := &person{yes: func(e permission.Effect) bool { return e.Class != permission.ClassPrivate }}
	h := NewHosts(nil, p.decide)
	e := decided(t, "https://a.example")
	if err := h.Decide(t.Context(), []permission.Effect{{Kind: permission.Run, Target: "curl"}, e}); err != nil {
		t.Fatal(err)
	}
	if err := h.late(t.Context(), e); err != nil || len(p.asked) != 2 {
		t.Errorf("%v, asked about %v", err, p.asked)
	}
	e.Class = permission.ClassPrivate // which is more than was allowed
	for range 2 {
		if err := h.late(t.Context(), e); !fault.Is(err, fault.ApprovalRequired) || len(p.asked) != 3 {
			t.Errorf("%v, asked about %v", err, p.asked)
		}
	}
}

// Nobody is asked without end, and what is decided stays so.
func TestTooManyHosts(t *testing.T) {
	p := &person{yes: func(e permission.Effect) bool { return strings.Contains(e.Target, "yes") }}
	h := NewHosts(nil, p.decide)
	yes := decided(t, "https://yes.example")
	if err := h.late(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if err := h.late(t.Context(), decided(t, fmt.Sprintf("https://no%d.example", i))); err == nil {
			t.Fatal("allowed")
		}
	}
	if len(p.asked) != 1+32 {
		t.Errorf("asked %d times", len(p.asked))
	}
	if err := h.late(t.Context(), decided(t, "https://yes-too.example")); !fault.Is(err, fault.PermissionDenied) {
		t.Errorf("one more: %v", err)
	}
	if err := h.late(t.Context(), yes); err != nil {
		t.Error(err)
	}
}

// A question lasts longer than the connection that led to it, and no longer than the proxy.
func TestQuestionsOutlastConnections(t *testing.T) {
	begun, answered := make(chan struct{}), make(chan error, 1)
	address, stop := setUp(t, &Proxy{Hosts: NewHosts(nil, func(ctx context.Context, _ []permission.Effect) error {
		close(begun)
		<-ctx.Done()
		answered <- ctx.Err()
		return ctx.Err()
	})})
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n")
	<-begun
	conn.Close()
	select {
	case <-answered:
		t.Error("the question ended with its connection")
	case <-time.After(100 * time.Millisecond):
	}
	refused := stop()
	if len(answered) != 1 || len(refused) != 1 || refused[0].Why != "the command ended first" {
		t.Errorf("refused: %v", refused)
	}
}

// Who passes a refusal on gives no orders, and a person knows from it what to do.
func TestRefusalsAreNoOrders(t *testing.T) {
	e := decided(t, "https://a.example")
	for _, err := range []error{fault.New(fault.ApprovalRequired, "approval_required", "%s needs approval", e), NewHosts(nil, nil).late(t.Context(), e)} {
		text := refusalOf(e, err).text()
		if !strings.Contains(text, "air permission grant") || !strings.Contains(text, "'net(https://a.example:443)'") {
			t.Errorf("%q", text)
		}
		if found, err := quarantine.JSON(t.Context(), []byte(text)); err != nil || found.Pattern != "" {
			t.Errorf("%q: %v, %v", text, found, err)
		}
	}
	denied := fault.New(fault.PermissionDenied, "denied_by_rule", "no").WithHint("a person wrote this rule")
	if text := refusalOf(e, denied).text(); strings.Contains(text, "grant") || !strings.Contains(text, "hint: a person wrote this rule\n") {
		t.Errorf("%q", text)
	}
}
