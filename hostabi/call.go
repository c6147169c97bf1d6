package hostabi

import "unicode/utf8"

// Host answers what a guest asks for.
type Host interface {
	// ToolCall returns the envelope of a call, or a negative code where none was made.
	ToolCall(name string, request []byte) (envelope []byte, code Code)
	Emit(kind int32, payload []byte) Code
}

// Limits bound one call.
type Limits struct {
	OutputBytes int64 `json:"output_bytes"`
	HostCalls   int64 `json:"host_calls"`
	LogBytes    int64 `json:"log_bytes"`
}

// Call is the state of one invocation. All of it is the guest's own data: nothing of it
// survives the call.
type Call struct {
	Tool   string // a command's argv[0]; others find it in their input too
	Input  []byte // the invocation; of a command, the tool's input alone
	Limits Limits
	Host   Host

	Output        []byte
	OutputRefused bool   // a write went over the limit
	MemoryRefused bool   // a memory.grow went over the limit
	Log           []byte // stderr, and stdout unless that is the output; cut at the limit

	read      int // of a command's stdin
	running   bool
	hostCalls int64
	staged    []byte // the envelope that result_read copies
}

// Begin lets the guest call the host: instantiation and _initialize are over.
func (c *Call) Begin() { c.running = true }

func airFunctions() []Function {
	f := func(name, params string, call func(c *Call, m Memory, s []uint64) Code) Function {
		return Function{Module: Module, Name: name, Params: types(params), Results: types("i"), call: inCall(call)}
	}
	return []Function{
		f("input_read", "iii", inputRead),
		f("output_write", "ii", outputWrite),
		f("tool_call", "iiii", toolCall),
		f("result_read", "iii", resultRead),
		f("emit", "iii", emit),
	}
}

// types reads a signature: i is an i32, I an i64.
func types(signature string) []ValueType {
	list := make([]ValueType, len(signature))
	for i, c := range signature {
		list[i] = I32
		if c == 'I' {
			list[i] = I64
		}
	}
	return list
}

// inCall refuses what comes before Begin. Results are truncated like parameters:
// the upper half of a slot is unspecified.
func inCall(call func(c *Call, m Memory, s []uint64) Code) func(*Call, Memory, []uint64) error {
	return func(c *Call, m Memory, s []uint64) error {
		code := EBADSTATE
		if c.running {
			code = call(c, m, s)
		}
		s[0] = uint64(uint32(code))
		return nil
	}
}

func inputRead(c *Call, m Memory, s []uint64) Code {
	return copyOut(m, c.Input, uint32(s[0]), uint32(s[1]), uint32(s[2]))
}

func resultRead(c *Call, m Memory, s []uint64) Code {
	if c.staged == nil {
		return EBADSTATE
	}
	return copyOut(m, c.staged, uint32(s[0]), uint32(s[1]), uint32(s[2]))
}

// copyOut copies at most size bytes of src from an offset to the guest.
func copyOut(m Memory, src []byte, dst, size, offset uint32) Code {
	if uint64(offset) >= uint64(len(src)) {
		return 0
	}
	src = src[offset:]
	if uint64(size) < uint64(len(src)) {
		src = src[:size]
	}
	if !m.Write(dst, src) {
		return EFAULT
	}
	return Code(len(src))
}

func outputWrite(c *Call, m Memory, s []uint64) Code {
	data, ok := m.Read(uint32(s[0]), uint32(s[1]))
	if !ok {
		return EFAULT
	}
	if int64(len(c.Output))+int64(len(data)) > c.Limits.OutputBytes {
		c.OutputRefused = true
		return E2BIG
	}
	c.Output = append(c.Output, data...)
	return 0
}

func toolCall(c *Call, m Memory, s []uint64) Code {
	name, ok := m.Read(uint32(s[0]), uint32(s[1]))
	request, ok2 := m.Read(uint32(s[2]), uint32(s[3]))
	if !ok || !ok2 || !utf8.Valid(name) {
		return EFAULT
	}
	if len(name) > MaxToolName || len(request) > MaxRequest {
		return E2BIG
	}
	if !c.charge() {
		return EQUOTA
	}
	c.staged = nil // two large envelopes need not fit into the process
	envelope, code := c.Host.ToolCall(string(name), request)
	if code < 0 {
		return code
	}
	c.staged = envelope
	return Code(len(envelope))
}

func emit(c *Call, m Memory, s []uint64) Code {
	kind := int32(uint32(s[0]))
	payload, ok := m.Read(uint32(s[1]), uint32(s[2]))
	if !ok {
		return EFAULT
	}
	if kind < EmitLog || kind > EmitEvent {
		return EBADSTATE
	}
	if len(payload) > MaxEmit {
		return E2BIG
	}
	if !c.charge() || kind == EmitLog && !c.chargeLog(len(payload)) {
		return EQUOTA
	}
	return min(c.Host.Emit(kind, payload), 0)
}

func (c *Call) charge() bool {
	c.hostCalls++
	return c.hostCalls <= c.Limits.HostCalls
}

// chargeLog counts log lines, which leave at once, against the same limit as stdout and
// stderr, which are kept until the end.
func (c *Call) chargeLog(n int) bool {
	if int64(n) > c.Limits.LogBytes-int64(len(c.Log)) {
		return false
	}
	c.Limits.LogBytes -= int64(n)
	return true
}
