package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/wasmtests"
)

func command(t testing.TB, code []byte) Module {
	m := moduleOf(t, code)
	m.ABI = hostabi.WASICommand
	return m
}

// TestCommands runs programs as compilers make them, each call but the first in a worker
// that ran one before.
func TestCommands(t *testing.T) {
	p := newPool(t)
	for _, test := range []struct {
		name          string
		module        Module
		input, output string
	}{
		{"C", command(t, wasmtests.Module(t, "guests/c/command")), `{"text":"a word"}`, `{"program":"t.t","arguments":0,"bytes":17,"words":3}`},
		{"Go", command(t, wasmtests.GoCommand(t)), `{"text":"é"}`, `{"args":["t.t"],"count":1,"environ":0,"terminal":false,"upper":"É"}`},
		{"pieces", command(t, wasmtests.Module(t, "guests/command-echo")), `{"text":"12345678901"}`, `{"text":"12345678901"}`},
		{"nothing stays", command(t, wasmtests.Module(t, "guests/command-keeper")), `{}`, `true`},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 3 {
				if got := strings.TrimSpace(mustInvoke(t, p, test.module, test.input)); got != test.output {
					t.Errorf("got %s, want %s", got, test.output)
				}
			}
			if len(p.idle) != 1 || p.idle[0].worker.calls != 3 {
				t.Errorf("the worker was not used again: %+v", p.idle)
			}
			p.mu.Lock()
			p.retireIdle(0)
			p.mu.Unlock()
		})
	}
}

func TestLargeCommandInput(t *testing.T) {
	p, m := newPool(t), command(t, wasmtests.GoCommand(t))
	m.Limits = runtime.Limits{OutputBytes: 64 << 20, MemoryBytes: 512 << 20}
	text := strings.Repeat("x", 4<<20)
	if got := mustInvoke(t, p, m, `{"text":"`+text+`"}`); !strings.Contains(got, strings.ToUpper(text)) {
		t.Errorf("%d bytes came back", len(got))
	}
}

func TestHowCommandsEnd(t *testing.T) {
	p := newPool(t)
	ends, inC, inGo := command(t, wasmtests.Module(t, "guests/command-ends")), command(t, wasmtests.Module(t, "guests/c/command")), command(t, wasmtests.GoCommand(t))
	for _, test := range []struct {
		module Module
		input  string
		kind   fault.Kind
		code   string
		says   string
		status any
		log    string
	}{
		{ends, `{"how":"r"}`, fault.GuestError, "bad_output", "not JSON", nil, "the log\n"},
		{ends, `{"how":"3"}`, fault.GuestError, "exit_status", "t.t: exit status 3", uint32(3), "the log\n"},
		{ends, `{"how":"t"}`, fault.GuestTrap, "trap", "unreachable", nil, "the log\n"},
		{ends, `{"how":"o"}`, fault.ResourceExhausted, "output_bytes", "", nil, ""},
		{ends, `{"how":"m"}`, fault.ResourceExhausted, "memory", "exit status 2 after memory.grow was refused", nil, "the log\n"},
		{inC, `{"a":"fail"}`, fault.GuestError, "exit_status", "exit status 4", uint32(4), "t.t: failing as I was told\n"},
		{inGo, `{"status":5}`, fault.GuestError, "exit_status", "exit status 5", uint32(5), "failing as I was told\n"},
		{inGo, `{"panic":true}`, fault.GuestError, "exit_status", "exit status 2", uint32(2), "panic: as I was told"},
		{inGo, `[]`, fault.GuestError, "exit_status", "exit status 2", uint32(2), "cannot unmarshal"},
	} {
		test.module.Limits = runtime.Limits{OutputBytes: 1000}
		_, err := invoke(t, p, test.module, test.input)
		e := wantFault(t, err, test.kind, test.code)
		if !strings.Contains(e.Message, test.says) || e.Details["status"] != test.status {
			t.Errorf("%s: %s, status %v", test.input, e.Message, e.Details["status"])
		}
		if log, _ := e.Details["log"].(string); !strings.Contains(log, test.log) {
			t.Errorf("%s: log %q, want %q", test.input, log, test.log)
		}
	}
	if got, err := invoke(t, p, ends, `{"how":"0"}`); err != nil || string(got.output) != "true" || string(got.log) != "the log\n" {
		t.Errorf("exit 0: %s, log %q, %v", got.output, got.log, err)
	}
}

func TestEndlessCommand(t *testing.T) {
	p, m := newPool(t), command(t, wasmtests.Module(t, "guests/command-ends"))
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, late)
	defer cancel()
	if _, err := p.invoke(ctx, m, json.RawMessage(`{"how":"l"}`), &fakeHandler{}); !errors.Is(err, late) {
		t.Errorf("got %v", err)
	}
	if got := mustInvoke(t, p, m, `{"how":"0"}`); got != "true" {
		t.Errorf("the next call: %s", got)
	}
}

// TestABIsShareAnEntryAndNoWorker calls one module as either, each after the other.
func TestABIsShareAnEntryAndNoWorker(t *testing.T) {
	p := newPool(t)
	m := moduleOf(t, wasmtests.Module(t, "guests/command-both"))
	for i := range 4 {
		m.ABI = []hostabi.ABI{hostabi.AirV1, hostabi.WASICommand}[i%2]
		result, err := invoke(t, p, m, `{}`)
		if m.ABI == hostabi.AirV1 { // it writes to stdout what is no output there
			wantFault(t, err, fault.GuestError, "bad_output")
		} else if err != nil || string(result.output) != "2" {
			t.Errorf("got %s, %v", result.output, err)
		}
	}
	if len(p.idle) != 2 {
		t.Errorf("%d idle workers", len(p.idle))
	}
	mustHold(t, p.options.CacheDir, 1)
}

// TestCommandIsWarmed prepares what there is to prepare: a worker.
func TestCommandIsWarmed(t *testing.T) {
	p, m := newPool(t), command(t, wasmtests.Module(t, "guests/command-keeper"))
	if err := p.Warm(t.Context(), m); err != nil || len(p.idle) != 1 || p.idle[0].worker.frozen {
		t.Errorf("%v, %+v", err, p.idle)
	}
	if got := mustInvoke(t, p, m, `{}`); got != "true" {
		t.Errorf("got %s", got)
	}
}

func TestModuleOfAnotherABI(t *testing.T) {
	p := newPool(t)
	program, library, tools := wasmtests.Module(t, "guests/command-keeper"), wasmtests.Module(t, "guests/echo"), wasmtests.Module(t, "hostile/commandtools")
	for _, m := range []Module{moduleOf(t, program), command(t, library), command(t, tools)} {
		_, err := invoke(t, p, m, `{}`)
		if e := wantFault(t, err, fault.InvalidInput, codeOf(m, tools)); e.Hint == "" {
			t.Errorf("%v has no hint", err)
		}
	}
	mustInvoke(t, p, command(t, program), `{}`) // from now on its entry is there
	_, err := invoke(t, p, moduleOf(t, program), `{}`)
	wantFault(t, err, fault.InvalidInput, "invalid_module")
	mustInvoke(t, p, command(t, program), `{}`)
}

func codeOf(m Module, tools []byte) string {
	if m.SHA256 == sha256Hex(tools) {
		return "forbidden_import"
	}
	return "forbidden_export"
}

// TestSubvertedCommand has a worker make calls that its guest cannot have made.
func TestSubvertedCommand(t *testing.T) {
	p, m, h := NewPool(PoolOptions{}), command(t, wasmtests.Module(t, "guests/command-keeper")), &fakeHandler{}
	defer p.Close()
	p.spawn = spawning(subverted, "calls for ever")
	_, err := p.invoke(t.Context(), m, nil, h)
	wantFault(t, err, fault.GuestTrap, "violation")
	if len(h.names) > 0 || h.emits > 0 {
		t.Errorf("the host saw %q and %d emits", h.names, h.emits)
	}
}
