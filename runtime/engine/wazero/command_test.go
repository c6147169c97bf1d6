package wazero

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/wasmtests"
)

func loadCommand(t testing.TB, module []byte) *Engine {
	t.Helper()
	e := &Engine{}
	if err := e.Load(module, hostabi.WASICommand, memoryLimit); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestCommandInstanceIsKept ends commands by returning, by exiting and by a trap.
func TestCommandInstanceIsKept(t *testing.T) {
	for how, kept := range map[string]bool{"r": true, "0": true, "3": true, "t": false} {
		e := loadCommand(t, wasmtests.Module(t, "guests/command-ends"))
		e.Reset()
		before := e.instance
		_, err := e.Run(call(`{"how":"` + how + `"}`))
		e.Reset()
		if (err == nil) != kept || (e.instance == before) != kept || e.instance == nil || e.instance.used {
			t.Errorf("%s: %v, kept %t", how, err, e.instance == before)
		}
	}
}

func TestCommandIsNotFrozen(t *testing.T) {
	e := loadCommand(t, wasmtests.Module(t, "guests/command-keeper"))
	if e.Freeze() != nil || e.Frozen() {
		t.Error("frozen")
	}
	answers(t, e, "", "true", "true", "true")
}

// TestOneFolderForBothABIs loads one compiled module as either, where the state after
// _initialize was kept for one.
func TestOneFolderForBothABIs(t *testing.T) {
	dir := compile(t, wasmtests.Module(t, "guests/command-both"))
	e := fromFolder(t, dir)
	if err := os.WriteFile(filepath.Join(dir, FrozenFile), e.Freeze(), 0o600); err != nil {
		t.Fatal(err)
	}
	for abi, want := range map[hostabi.ABI]string{hostabi.AirV1: "1", hostabi.WASICommand: "2"} {
		e := &Engine{}
		if err := e.LoadFolder(dir, abi, memoryLimit); err != nil || e.Frozen() != (abi == hostabi.AirV1) {
			t.Errorf("%s: %v, frozen %t", abi, err, e.Frozen())
		}
		for range 3 {
			c := call("")
			if status, err := e.Run(c); status != 0 || err != nil || string(c.Output)+string(c.Log) != want {
				t.Errorf("%s: status %d, %v, %s and %s, want %s", abi, status, err, c.Output, c.Log, want)
			}
			e.Reset()
		}
	}
}

// TestFolderOfAnotherABI loads what nobody proved for the ABI: the host found the entry of
// a module in its cache.
func TestFolderOfAnotherABI(t *testing.T) {
	for name, c := range map[string]struct {
		abi  hostabi.ABI
		says string
	}{
		"guests/command-keeper": {hostabi.AirV1, "does not export the function air_call"},
		"guests/echo":           {hostabi.WASICommand, "does not export the function _start"},
	} {
		dir := compile(t, wasmtests.Module(t, name))
		err := (&Engine{}).LoadFolder(dir, c.abi, memoryLimit)
		if err == nil || errors.Is(err, ErrCache) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCommandHasNoTools links what the import proof refuses.
func TestCommandHasNoTools(t *testing.T) {
	err := (&Engine{}).Load(wasmtests.Module(t, "guests/command-tools"), hostabi.WASICommand, memoryLimit)
	if err == nil || !strings.Contains(err.Error(), "air_v1.tool_call") {
		t.Errorf("got %v", err)
	}
}
