// Command extism is the peer that bench_test.go measures AIR against. It reads orders from
// stdin and answers each with a line on stdout, both in JSON. It is a module of its own,
// so that AIR does not depend on Extism.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"time"

	extism "github.com/extism/go-sdk"
)

// order is: call function run of a plugin so often, and say how long a call took.
type order struct {
	Plugin  string `json:"plugin"` // path of the module
	Mode    string `json:"mode"`   // a key of modes
	Input   string `json:"input"`
	Calls   int    `json:"calls"` // by each caller
	Callers int    `json:"callers"`
}

type report struct {
	Median time.Duration `json:"median_ns"`
	Output string        `json:"output"` // of the last call
	Error  string        `json:"error,omitempty"`
}

// modes are the ways to use a plugin. Only the fresh ones keep calls apart, and only with
// a timeout can a guest be stopped.
var modes = map[string]mode{
	"fresh":          {fresh: true},
	"fresh_timeout":  {fresh: true, timeout: 10 * time.Second},
	"reused":         {},
	"reused_timeout": {timeout: 10 * time.Second},
}

type mode struct {
	fresh   bool          // a new instance for each call
	timeout time.Duration // has Extism interrupt guests; 0 lets them run for ever
}

func main() {
	extism.SetLogLevel(extism.LogLevelError)
	h := &host{compiled: map[string]*extism.CompiledPlugin{}}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		r, err := h.carryOut(o)
		if err != nil {
			r.Error = err.Error()
		}
		if err := out.Encode(r); err != nil {
			log.Fatal(err)
		}
	}
}

// host keeps every plugin compiled, once for each timeout.
type host struct {
	compiled map[string]*extism.CompiledPlugin
}

func (h *host) carryOut(o order) (report, error) {
	m, ok := modes[o.Mode]
	if !ok || o.Calls < 1 || o.Callers < 1 {
		return report{}, fmt.Errorf("order %+v is none", o)
	}
	plugin, err := h.plugin(o.Plugin, m)
	if err != nil {
		return report{}, err
	}
	results := make(chan result, o.Callers)
	for range o.Callers {
		go func() { results <- calls(plugin, m, o) }()
	}
	var all []time.Duration
	var last result
	for range o.Callers {
		last = <-results
		if last.err != nil {
			err = last.err
		}
		all = append(all, last.times...)
	}
	if err != nil {
		return report{}, err
	}
	slices.Sort(all)
	return report{Median: all[len(all)/2], Output: string(last.output)}, nil
}

func (h *host) plugin(path string, m mode) (*extism.CompiledPlugin, error) {
	key := fmt.Sprint(path, m.timeout)
	if h.compiled[key] == nil {
		manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmFile{Path: path}}, Timeout: uint64(m.timeout.Milliseconds())}
		plugin, err := extism.NewCompiledPlugin(context.Background(), manifest, extism.PluginConfig{EnableWasi: true}, nil)
		if err != nil {
			return nil, err
		}
		h.compiled[key] = plugin
	}
	return h.compiled[key], nil
}

type result struct {
	times  []time.Duration
	output []byte
	err    error
}

// calls makes the calls of one caller. What a fresh call costs includes making and
// closing its instance.
func calls(compiled *extism.CompiledPlugin, m mode, o order) (r result) {
	var reused *extism.Plugin
	if !m.fresh {
		reused, r.err = compiled.Instance(context.Background(), extism.PluginInstanceConfig{})
		if r.err != nil {
			return r
		}
		defer func() { r.err = errors.Join(r.err, reused.Close(context.Background())) }()
		if r.output, r.err = call(reused, o); r.err != nil { // its runtime is set up by the first call
			return r
		}
	}
	for range o.Calls {
		start := time.Now()
		if m.fresh {
			r.output, r.err = freshCall(compiled, o)
		} else {
			r.output, r.err = call(reused, o)
		}
		if r.err != nil {
			return r
		}
		r.times = append(r.times, time.Since(start))
	}
	return r
}

func freshCall(compiled *extism.CompiledPlugin, o order) ([]byte, error) {
	plugin, err := compiled.Instance(context.Background(), extism.PluginInstanceConfig{})
	if err != nil {
		return nil, err
	}
	output, err := call(plugin, o)
	return output, errors.Join(err, plugin.Close(context.Background()))
}

func call(p *extism.Plugin, o order) ([]byte, error) {
	status, output, err := p.Call("run", []byte(o.Input))
	if err == nil && status != 0 {
		err = fmt.Errorf("status %d: %s", status, p.GetError())
	}
	return output, err
}
