//go:build wasip1

package main

import (
	"bytes"
	"encoding/json"
	"unsafe"
)

//go:wasmimport air_v1 input_read
func inputRead(dst unsafe.Pointer, capacity, offset uint32) int32

//go:wasmimport air_v1 output_write
func outputWrite(src unsafe.Pointer, length uint32) int32

//go:wasmimport air_v1 tool_call
func toolCall(name unsafe.Pointer, nameLength uint32, request unsafe.Pointer, requestLength uint32) int32

//go:wasmimport air_v1 result_read
func resultRead(dst unsafe.Pointer, capacity, offset uint32) int32

func main() {} // a reactor: the host calls airCall

//go:wasmexport air_call
func airCall(length uint32) int32 {
	text := make([]byte, length)
	inputRead(unsafe.Pointer(unsafe.SliceData(text)), length, 0)
	var call struct {
		Input input `json:"input"`
	}
	if err := json.Unmarshal(text, &call); err != nil {
		return 2
	}
	switch call.Input.Op {
	case "loop":
		for {
		}
	case "calls":
		callTools(call.Input.N)
	}
	out, err := answer(call.Input)
	if err != nil {
		return 3
	}
	outputWrite(unsafe.Pointer(unsafe.SliceData(out)), uint32(len(out)))
	return 0
}

// callTools makes n calls with a request of 1 KiB and reads each envelope. Whether they
// succeed is of no interest.
func callTools(n int) {
	tool := []byte("bench.absent")
	request := append(append([]byte(`{"text":"`), bytes.Repeat([]byte("x"), 1<<10-11)...), `"}`...)
	envelope := make([]byte, 16<<10)
	for range n {
		length := toolCall(unsafe.Pointer(&tool[0]), uint32(len(tool)), unsafe.Pointer(&request[0]), uint32(len(request)))
		if length > 0 {
			resultRead(unsafe.Pointer(&envelope[0]), min(uint32(length), uint32(len(envelope))), 0)
		}
	}
}
