package conformance

import (
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
)

// commands are the cases of the ABI wasi.command, each run three times in one engine.
func commands(t *testing.T, newEngine func() Engine, frozen bool) {
	for _, c := range []struct {
		module, input string
		status        uint32
		trap          string
		output, log   string
	}{
		{module: "guests/command-echo", input: ""},
		{module: "guests/command-echo", input: "1"},
		{module: "guests/command-echo", input: "1234567890"},
		{module: "guests/command-keeper", output: "true"},
		{module: "guests/command-both", output: "2"},
		{module: "guests/command-ends", input: `{"how":"r"}`, log: "the log\n"},
		{module: "guests/command-ends", input: `{"how":"0"}`, output: "true", log: "the log\n"},
		{module: "guests/command-ends", input: `{"how":"3"}`, status: 3, output: "true", log: "the log\n"},
		{module: "guests/command-ends", input: `{"how":"t"}`, trap: "unreachable", log: "the log\n"},
		{module: "guests/c/command", input: `{"text":"a word"}`, output: `{"program":"a.b","arguments":0,"bytes":17,"words":3}`},
		{module: "guests/c/command", input: "fail ", status: 4, log: "a.b: failing as I was told\n"},
	} {
		if strings.HasSuffix(c.module, "echo") {
			c.output = c.input
		}
		e := load(t, newEngine(), c.module, hostabi.WASICommand, frozen)
		for range 3 {
			call := newCall(c.input, nil)
			call.Tool = "a.b"
			status, err := e.Run(call)
			if status != c.status || (err != nil) != (c.trap != "") || err != nil && !strings.Contains(err.Error(), c.trap) {
				t.Errorf("%s %q: status %d, %v, want %d %s", c.module, c.input, status, err, c.status, c.trap)
			}
			if string(call.Output) != c.output || string(call.Log) != c.log {
				t.Errorf("%s %q: output %q, log %q", c.module, c.input, call.Output, call.Log)
			}
			e.Reset()
		}
	}
}
