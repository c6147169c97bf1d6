package wasmbin

import (
	"errors"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/wasmtests"
)

// command is good, as a program.
func command() parts {
	p := good()
	p.functions = vec([]byte{1})
	p.exports = vec(exp("memory", 2, 0), exp("_start", 0, 0))
	p.code = vec(body(0, 0x0b))
	return p
}

func TestCommandIsAccepted(t *testing.T) {
	for name, module := range map[string][]byte{
		"as it is": command().module(),
		"in C":     wasmtests.Module(t, "guests/c/command"),
		"in Go":    wasmtests.GoCommand(t),
		"of both":  wasmtests.Module(t, "guests/command-both"),
	} {
		pages, err := Prove(module, hostabi.WASICommand)
		if pages == 0 || err != nil {
			t.Errorf("%s: %d pages, %v", name, pages, err)
		}
		p, err := Prepare(module)
		if err != nil || p.Image.Pages != pages {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Prove(wasmtests.Module(t, "guests/command-both"), hostabi.AirV1); err != nil {
		t.Error(err)
	}
}

func TestCommandIsRefused(t *testing.T) {
	for what, c := range map[string]struct {
		module     []byte
		code, says string
		hint       string
	}{
		"that imports air_v1": {wasmtests.Module(t, "hostile/commandtools"), "forbidden_import", `"tool_call" from "air_v1"`, "air.v1"},
		"a guest of air.v1":   {good().module(), "forbidden_export", "exports air_call and no _start", "air.v1"},
		"without memory":      {changed(func(p *parts) { p.exports = vec(exp("_start", 0, 0)) }), "forbidden_export", `"memory"`, "_start () -> ()"},
		"without anything":    {changed(func(p *parts) { p.exports = vec(exp("memory", 2, 0)) }), "forbidden_export", "the function _start () -> ()", "_start"},
		"with a status":       {changed(func(p *parts) { p.functions = vec([]byte{0}) }), "forbidden_export", "_start as () -> (), not as (i32) -> (i32)", "_start"},
		"that is a reactor too": {
			changed(func(p *parts) {
				p.exports = vec(exp("memory", 2, 0), exp("_start", 0, 0), exp("_initialize", 0, 0))
			}), "forbidden_export", "both _start and _initialize", "library",
		},
		"that imports files": {changed(func(p *parts) { p.imports = vec(imp("env", "open", 0, 1)) }), "forbidden_import", `"open" from "env"`, "tool_call"},
	} {
		_, err := Prove(c.module, hostabi.WASICommand)
		var e *fault.Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message, c.says) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func changed(change func(*parts)) []byte {
	p := command()
	change(&p)
	return p.module()
}

func TestABIOf(t *testing.T) {
	for name, want := range map[string]hostabi.ABI{
		"guests/echo": hostabi.AirV1, "guests/c/words": hostabi.AirV1, "guests/command-both": hostabi.AirV1,
		"guests/c/command": hostabi.WASICommand, "hostile/command": hostabi.WASICommand, "hostile/commandtools": hostabi.WASICommand,
		"hostile/nocall": hostabi.AirV1,
	} {
		if got := ABIOf(wasmtests.Module(t, name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, text := range []string{"", "no module", "\x00asm\x01\x00\x00\x00", "\x00asm\x01\x00\x00\x00\x07\xff"} {
		if got := ABIOf([]byte(text)); got != hostabi.AirV1 {
			t.Errorf("%q: %s", text, got)
		}
	}
}
