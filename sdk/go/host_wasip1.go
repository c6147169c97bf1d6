//go:build wasip1

package air

import "unsafe"

// The functions that AIR gives a module. A string parameter is a pointer and a length.

//go:wasmimport air_v1 input_read
func inputRead(dst *byte, size, offset uint32) int32

//go:wasmimport air_v1 output_write
func outputWrite(text string) int32

//go:wasmimport air_v1 tool_call
func toolCall(tool, input string) int32

//go:wasmimport air_v1 result_read
func resultRead(dst *byte, size, offset uint32) int32

//go:wasmimport air_v1 emit
func emit(kind int32, payload string) int32

// Main does nothing in a module: AIR calls air_call, and main never runs.
func Main() {}

//go:wasmexport air_call
func airCall(size uint32) int32 {
	call, err := readAll(size, inputRead)
	if err != nil {
		return finish(encodeError(Fail("bad_invocation", "reading the invocation: %w", err)), statusFailed)
	}
	return finish(serve(abi{}, call))
}

// finish writes the result. One that is too large becomes an error that says so.
func finish(result []byte, status int32) int32 {
	if code := outputWrite(text(result)); code < 0 {
		err := Fail("output_not_taken", "writing %d bytes of output: %w", len(result), Code(code))
		outputWrite(text(encodeError(err)))
		return statusFailed
	}
	return status
}

// abi is the Host inside a module.
type abi struct{}

func (abi) Call(tool string, input []byte) ([]byte, error) {
	size := toolCall(tool, text(input))
	if size < 0 {
		return nil, Code(size)
	}
	return readAll(uint32(size), resultRead)
}

func (abi) Emit(kind Kind, payload []byte) error {
	if code := emit(int32(kind), text(payload)); code < 0 {
		return Code(code)
	}
	return nil
}

func readAll(size uint32, read func(dst *byte, size, offset uint32) int32) ([]byte, error) {
	b := make([]byte, size)
	for done := uint32(0); done < size; {
		n := read(&b[done], size-done, done)
		if n < 0 {
			return nil, Code(n)
		}
		if n == 0 {
			return b[:done], nil
		}
		done += uint32(n)
	}
	return b, nil
}

// text is b as a string, without a copy: the host only reads it, before it returns.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
