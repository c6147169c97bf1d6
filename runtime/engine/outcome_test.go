package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
)

// TestLogIsKept: what a guest printed is left however its call ends, and every fault that
// is not the guest's own error shows the end of it.
func TestLogIsKept(t *testing.T) {
	reactor, _ := Module{Tool: "t.t"}.complete()
	command, _ := Module{Tool: "t.t", ABI: hostabi.WASICommand}.complete()
	tests := []struct {
		m     Module
		done  hostabi.Done
		code  string
		shown bool
	}{
		{reactor, hostabi.Done{Output: []byte(`{}`)}, "", false},
		{reactor, hostabi.Done{Output: []byte(`{`)}, "bad_output", true},
		{reactor, hostabi.Done{Status: 1, Output: []byte(`{"code":"x","message":"y"}`)}, "x", false},
		{reactor, hostabi.Done{Status: 1, Output: []byte(`[]`)}, "bad_output", false},
		{reactor, hostabi.Done{Status: 2}, "bad_status", true},
		{reactor, hostabi.Done{Status: 2, MemoryRefused: true}, "memory", true},
		{reactor, hostabi.Done{OutputRefused: true}, "output_bytes", true},
		{reactor, hostabi.Done{Trapped: true}, "trap", true},
		{reactor, hostabi.Done{Trapped: true, MemoryRefused: true}, "memory", true},
		{command, hostabi.Done{Output: []byte(`{}`)}, "", false},
		{command, hostabi.Done{Status: 1, Output: []byte(`{"code":"x","message":"y"}`)}, "exit_status", true},
		{command, hostabi.Done{Status: 1, MemoryRefused: true}, "memory", true},
	}
	for _, test := range tests {
		test.done.Log = []byte("printed")
		result, err := test.m.result(test.done)
		code, shown := "", false
		var e *fault.Error
		if errors.As(err, &e) {
			code, shown = e.Code, e.Details["log"] == "printed"
		}
		if string(result.log) != "printed" || code != test.code || shown != test.shown {
			t.Errorf("%+v: log %q, code %q, shown %v", test.done, result.log, code, shown)
		}
	}
}

// TestMemoryFaultNamesTheLimit in MiB where it is a whole number of them.
func TestMemoryFaultNamesTheLimit(t *testing.T) {
	for limit, want := range map[int64]string{64 << 20: "its 64 MiB of memory", 1: "its 1 bytes of memory", 3 << 19: "its 1572864 bytes"} {
		m := Module{Tool: "t.t"}
		m.Limits.MemoryBytes = limit
		if e := m.memoryFault("why"); !strings.Contains(e.Message, want) {
			t.Errorf("%d: %s", limit, e.Message)
		}
	}
}

// TestOutput is cut to its JSON; one that is none is shown.
func TestOutput(t *testing.T) {
	m, _ := Module{Tool: "t.t", ABI: hostabi.WASICommand}.complete()
	if r, err := m.result(hostabi.Done{Output: []byte(" {}\r\n")}); err != nil || string(r.output) != "{}" {
		t.Errorf("%q, %v", r.output, err)
	}
	for output, want := range map[string]string{
		" \n":                          "t.t: its result is empty, which is not JSON",
		"hello":                        `t.t: its result is not JSON: it begins with "hello"`,
		`{"a":NaN}`:                    `t.t: its result is not JSON: it begins with "{\"a\":NaN}"`,
		"x" + strings.Repeat("y", 200): `t.t: its result is not JSON: it begins with "x` + strings.Repeat("y", 99) + `"`,
	} {
		if _, err := m.result(hostabi.Done{Output: []byte(output)}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", output, err, want)
		}
	}
}

// TestStoppedWhileCompiling is not the tool's doing, and says so.
func TestStoppedWhileCompiling(t *testing.T) {
	p, m := newPool(t), Module{Tool: "t.t", SHA256: strings.Repeat("0", 64)}
	stopped := &endedError{causeStopped, errors.New("deadline reached")}
	if got := p.loadFault(m, stopped).Error(); got != "compiling the module of t.t: deadline reached" {
		t.Error(got)
	}
}
