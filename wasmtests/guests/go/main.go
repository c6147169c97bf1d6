// A guest in Go that answers by the op of its input, as those in C, Rust and
// AssemblyScript beside it do. It alone knows the ops of only.go.
package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aircoding/air/sdk/go"
)

func init() { air.Handle("run", run) }

func main() { air.Main() }

type input struct {
	Op    string `json:"op"`
	Text  string `json:"text"`
	Count int    `json:"count"`
	Size  int    `json:"size"`
	X     int64  `json:"x"`
	Y     int64  `json:"y"`
}

type object = map[string]any

// count says how many calls this instance has seen: 1, for every call has its own.
var count int

func run(c *air.Context, in input) (any, error) {
	count++
	switch in.Op {
	case "words":
		return object{"upper": strings.Map(upper, in.Text), "words": len(strings.FieldsFunc(in.Text, isSpace))}, nil
	case "calls":
		return calls(c, in.Count, in.Size)
	case "fail":
		return nil, air.Fail("asked_to", "%s", in.Text).With("op", in.Op)
	case "emit":
		return emit(c, in.Text)
	case "print":
		fmt.Fprintln(os.Stderr, in.Text)
		return object{"printed": true}, nil
	case "random":
		first := rand.Text()
		return object{"differ": rand.Text() != first}, nil
	case "clock":
		first := time.Now()
		return object{"set": first.Year() >= 2025, "forward": time.Since(first) >= 0}, nil
	case "count":
		return object{"count": count}, nil
	}
	return only(in)
}

// upper and isSpace know ASCII only: no sibling carries the tables of Unicode.
func upper(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	return r
}

func isSpace(r rune) bool { return strings.ContainsRune(" \t\n\r", r) }

// calls asks n times for a file whose name makes the request size bytes long, and counts
// the bytes of the outputs.
func calls(c *air.Context, n, size int) (any, error) {
	path := strings.Repeat("x", max(size-len(`{"path":""}`), 0))
	bytes := 0
	for range n {
		var out json.RawMessage
		if err := c.Call("fs.read", object{"path": path}, &out); err != nil {
			return nil, noCall(err)
		}
		bytes += len(out)
	}
	return object{"calls": n, "bytes": bytes}, nil
}

func noCall(err error) error {
	var code air.Code
	if errors.As(err, &code) {
		return air.Fail("no_call", "no call was made").With("code", int(code))
	}
	return err
}

// emit uses each kind once.
func emit(c *air.Context, text string) (any, error) {
	c.Infof("%s", text)
	c.Progress(0.5, "%s", text)
	if err := c.Partial(text); err != nil {
		return nil, err
	}
	return object{"emitted": 4}, c.Event("noted", object{"text": text})
}
