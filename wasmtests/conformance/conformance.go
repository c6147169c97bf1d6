// Package conformance holds the cases of the ABI air.v1 that every engine has to pass, run
// through real guests.
package conformance

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/wasmtests"
)

// Engine is what runs guests: runtime/engine.Engine without what concerns its cache.
type Engine interface {
	Load(module []byte, abi hostabi.ABI, memoryBytes int64) error
	Freeze() []byte
	Run(call *hostabi.Call) (status uint32, err error)
	Reset()
}

const memoryBytes = 64 << 20

// Run runs all cases, each as it comes and again from a frozen image where the engine
// makes one.
func Run(t *testing.T, newEngine func() Engine) {
	for _, frozen := range []bool{false, true} {
		name := "plain"
		if frozen {
			name = "frozen"
		}
		t.Run(name, func(t *testing.T) {
			load := func(t testing.TB, name string) Engine { return load(t, newEngine(), name, hostabi.AirV1, frozen) }
			puppet := load(t, "guests/puppet")
			for _, c := range append(abiCases(), wasiCases()...) {
				t.Run(c.name, func(t *testing.T) { c.run(t, puppet) })
			}
			t.Run("statuses", func(t *testing.T) { statuses(t, load) })
			t.Run("traps", func(t *testing.T) { traps(t, load) })
			t.Run("before the call", func(t *testing.T) { beforeTheCall(t, load) })
			t.Run("nothing stays", func(t *testing.T) { nothingStays(t, load) })
			t.Run("memory", func(t *testing.T) { memory(t, load) })
			t.Run("large request", func(t *testing.T) { largeRequest(t, load) })
			t.Run("commands", func(t *testing.T) { commands(t, newEngine, frozen) })
		})
	}
}

type loader func(t testing.TB, name string) Engine

func load(t testing.TB, e Engine, name string, abi hostabi.ABI, frozen bool) Engine {
	t.Helper()
	if err := e.Load(wasmtests.Module(t, name), abi, memoryBytes); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if frozen {
		e.Freeze()
	}
	return e
}

// newCall has limits that no case reaches by chance.
func newCall(input string, host hostabi.Host) *hostabi.Call {
	limits := hostabi.Limits{OutputBytes: 64 << 20, HostCalls: 1000, LogBytes: 1 << 20}
	return &hostabi.Call{Input: []byte(input), Limits: limits, Host: host}
}

func statuses(t *testing.T, load loader) {
	for name, want := range map[string]uint32{"guests/echo": 0, "guests/relay": 1, "guests/status": 7} {
		e := load(t, name)
		for range 2 {
			if status, err := e.Run(newCall("{}", &recorder{})); status != want || err != nil {
				t.Errorf("%s: status %d, %v, want %d", name, status, err, want)
			}
			e.Reset()
		}
	}
}

// traps end the call with an error, and are of that call: the next is served, and nothing
// says of it that memory was refused.
func traps(t *testing.T, load loader) {
	e := load(t, "guests/faults")
	for _, fault := range strings.Split("bdongstmu", "") {
		c := newCall(fault, &recorder{})
		if status, err := e.Run(c); err == nil {
			t.Errorf("fault %s: status %d", fault, status)
		}
		if c.MemoryRefused != (fault == "g") {
			t.Errorf("fault %s: memory refused %t", fault, c.MemoryRefused)
		}
		e.Reset()
	}
	e = load(t, "guests/trap")
	c := newCall("", &recorder{})
	_, err := e.Run(c)
	for _, want := range []string{"unreachable", "inner", "outer"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a trap names its reason and its functions: %v", err)
		}
	}
	if string(c.Log) != "about to \x1b[2Jgo" {
		t.Errorf("log before the trap: %q", c.Log)
	}
	e = load(t, "guests/exit")
	var exit *hostabi.ExitError
	if _, err := e.Run(newCall("", &recorder{})); !errors.As(err, &exit) || exit.Status != 0 {
		t.Errorf("proc_exit: %v", err)
	}
	if _, err := load(t, "hostile/recursion").Run(newCall("", &recorder{})); err == nil {
		t.Error("endless recursion ended well")
	}
}

// beforeTheCall has a guest that tries every function of the ABI in its start function and
// in _initialize, and counts those that were refused.
func beforeTheCall(t *testing.T, load loader) {
	e := load(t, "guests/early")
	for range 2 {
		host := &recorder{}
		c := newCall("{}", host)
		if status, err := e.Run(c); status != 0 || err != nil || string(c.Output) != "10" || len(host.asked) > 0 {
			t.Errorf("status %d, %v, %s of 10 refused, host saw %q", status, err, c.Output, host.asked)
		}
		e.Reset()
	}
}

// nothingStays runs guests that look for what an earlier call left behind.
func nothingStays(t *testing.T, load loader) {
	for _, name := range wasmtests.Keepers() {
		e := load(t, name)
		for i := range 4 {
			c := newCall("{}", &recorder{})
			if status, err := e.Run(c); status != 0 || err != nil || string(c.Output) != "true" {
				t.Errorf("%s, call %d: status %d, %v, output %q", name, i, status, err, c.Output)
			}
			if i > 0 { // the second call comes without: Run does it then
				e.Reset()
			}
		}
	}
}

// memory is refused at the limit, in each call.
func memory(t *testing.T, load loader) {
	e := load(t, "hostile/grow")
	for range 2 {
		c := newCall("", &recorder{})
		if _, err := e.Run(c); err == nil || !c.MemoryRefused {
			t.Errorf("%v, refused %v", err, c.MemoryRefused)
		}
		e.Reset()
	}
}

func largeRequest(t *testing.T, load loader) {
	c := newCall("", &recorder{answer: []byte("four")})
	status, err := load(t, "guests/toolarge").Run(c)
	if want := []byte{0xfe, 0xff, 0xff, 0xff, 4, 0, 0, 0}; status != 0 || err != nil || !bytes.Equal(c.Output, want) {
		t.Errorf("status %d, %v, output %x, want E2BIG and 4", status, err, c.Output)
	}
}
