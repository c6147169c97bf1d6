// Guest decodes its input as JSON, counts what x&y > 0 counts, and answers with the input
// as Go encodes it again.
package main

import (
	"encoding/json"
	"unsafe"
)

//go:wasmimport air_v1 input_read
func inputRead(dst unsafe.Pointer, size, offset uint32) int32

//go:wasmimport air_v1 output_write
func outputWrite(src unsafe.Pointer, size uint32) int32

type message struct {
	X, Y  int64
	Count int
	Text  string
	Tags  []string
}

//go:wasmexport air_call
func call(size uint32) uint32 {
	input := make([]byte, size+1)
	input = input[:inputRead(unsafe.Pointer(&input[0]), size, 0)]
	var m message
	if err := json.Unmarshal(input, &m); err != nil {
		panic(err)
	}
	for x := m.X; x&m.Y > 0; x >>= 1 {
		m.Count++
	}
	output, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	outputWrite(unsafe.Pointer(&output[0]), uint32(len(output)))
	return 0
}

func main() {}
