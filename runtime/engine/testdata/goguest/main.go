// A guest in Go with encoding/json, without the SDK: what the engine has to carry.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
	"unsafe"
)

//go:wasmimport air_v1 input_read
func inputRead(dst unsafe.Pointer, size, offset uint32) int32

//go:wasmimport air_v1 output_write
func outputWrite(src unsafe.Pointer, size uint32) int32

//go:wasmimport air_v1 tool_call
func toolCall(name unsafe.Pointer, nameLen uint32, request unsafe.Pointer, requestLen uint32) int32

//go:wasmimport air_v1 result_read
func resultRead(dst unsafe.Pointer, size, offset uint32) int32

type invocation struct {
	Tool  string
	Input struct{ Op, Text string }
}

//go:wasmexport air_call
func airCall(size uint32) int32 {
	b := make([]byte, size)
	inputRead(unsafe.Pointer(&b[0]), size, 0)
	var in invocation
	if err := json.Unmarshal(b, &in); err != nil {
		return 2
	}
	out, err := json.Marshal(run(in))
	if err != nil {
		return 2
	}
	return outputWrite(unsafe.Pointer(&out[0]), uint32(len(out)))
}

func run(in invocation) any {
	switch in.Input.Op {
	case "call":
		return call("fs.read", in.Input.Text)
	case "sleep":
		began := time.Now()
		time.Sleep(20 * time.Millisecond)
		return time.Since(began) >= 20*time.Millisecond
	case "files":
		_, err := os.ReadFile("/etc/passwd")
		return fmt.Sprint(err, " ", os.Args, os.Environ())
	case "print":
		fmt.Fprintln(os.Stderr, "to stderr")
		fmt.Println("to stdout")
	case "panic":
		panic("out of ideas")
	case "hoard":
		var all [][]byte
		for {
			all = append(all, make([]byte, 1<<20))
		}
	}
	return map[string]any{"tool": in.Tool, "upper": strings.ToUpper(in.Input.Text)}
}

func call(tool, request string) json.RawMessage {
	n := toolCall(unsafe.Pointer(unsafe.StringData(tool)), uint32(len(tool)), unsafe.Pointer(unsafe.StringData(request)), uint32(len(request)))
	b := make([]byte, n)
	resultRead(unsafe.Pointer(&b[0]), uint32(n), 0)
	return b
}

func main() {}
