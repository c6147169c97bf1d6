package hostabi

import (
	"encoding/binary"
	"fmt"
)

// The largest payload of each frame that has one. That of a FrameDone follows the limits
// of the call: see MaxDone.
const (
	MaxLoad    = 64 << 10
	MaxReady   = 1
	MaxRefused = 1 + maxRefusal
	MaxImage   = 64 << 20
	MaxCall    = 1 + MaxToolName + MaxInvocation
	MaxTool    = 1 + MaxToolName + MaxRequest
	MaxEmitted = 1 + MaxEmit
	MaxAnswer  = 4 + MaxEnvelope
)

// LoadConfig is the payload of FrameLoad: what a worker is told before it gets a module.
type LoadConfig struct {
	Compile     bool   `json:"compile,omitempty"`   // compile into CacheDir and end, without running anything
	CacheDir    []byte `json:"cache_dir,omitempty"` // a path, which need not be UTF-8; empty: compile in memory
	ABI         ABI    `json:"abi,omitempty"`
	MemoryBytes int64  `json:"memory_bytes"` // of the guest's linear memory
	BufferBytes int64  `json:"buffer_bytes"` // what input, answers, output and image may take besides
	Limits      Limits `json:"limits"`
}

// DecodeReady reads the payload of a FrameReady.
func DecodeReady(p []byte) (frozen bool, err error) {
	if len(p) != 1 || p[0] > 1 {
		return false, &FrameError{"malformed readiness"}
	}
	return p[0] == 1, nil
}

// EncodeReady returns the payload of a FrameReady.
func EncodeReady(frozen bool) []byte { return []byte{bit(frozen, 1)} }

// Refusal is why a worker does not load a module.
type Refusal struct {
	// Cache says that the fault is in the cache folder, not in the module.
	Cache bool
	Text  string
}

const maxRefusal = 4 << 10

// Encode returns the payload of a FrameRefused in parts; a long text is cut.
func (r Refusal) Encode() [][]byte {
	return [][]byte{{bit(r.Cache, 1)}, []byte(r.Text[:min(len(r.Text), maxRefusal)])}
}

// DecodeRefusal reads the payload of a FrameRefused.
func DecodeRefusal(p []byte) (Refusal, error) {
	if len(p) < 1 || p[0] > 1 {
		return Refusal{}, &FrameError{"malformed refusal"}
	}
	return Refusal{Cache: p[0] == 1, Text: string(p[1:])}, nil
}

// EncodeTool returns the payload of a FrameCall or a FrameTool in parts. The name has at
// most MaxToolName bytes.
func EncodeTool(name string, input []byte) [][]byte {
	return [][]byte{append([]byte{byte(len(name))}, name...), input}
}

// DecodeTool splits the payload of a FrameCall or a FrameTool.
func DecodeTool(p []byte) (name string, input []byte, err error) {
	if len(p) < 1 || len(p) < 1+int(p[0]) || p[0] > MaxToolName {
		return "", nil, &FrameError{"malformed tool call"}
	}
	n := 1 + int(p[0])
	return string(p[1:n]), p[n:], nil
}

// EncodeEmit returns the payload of a FrameEmit in parts.
func EncodeEmit(kind int32, payload []byte) [][]byte {
	return [][]byte{{byte(kind)}, payload}
}

// DecodeEmit splits the payload of a FrameEmit.
func DecodeEmit(p []byte) (kind int32, payload []byte, err error) {
	if len(p) < 1 || int32(p[0]) > EmitEvent {
		return 0, nil, &FrameError{"malformed emit"}
	}
	return int32(p[0]), p[1:], nil
}

// EncodeAnswer returns the payload of a FrameAnswer in parts.
func EncodeAnswer(code Code, envelope []byte) [][]byte {
	return [][]byte{binary.LittleEndian.AppendUint32(nil, uint32(code)), envelope}
}

// DecodeAnswer splits the payload of a FrameAnswer.
func DecodeAnswer(p []byte) (code Code, envelope []byte, err error) {
	if len(p) < 4 {
		return 0, nil, &FrameError{"malformed answer"}
	}
	return Code(binary.LittleEndian.Uint32(p)), p[4:], nil
}

// Done is how an invocation ended, as the worker sees it.
type Done struct {
	Trapped       bool
	MemoryRefused bool   // a memory.grow went over the limit
	OutputRefused bool   // an output_write went over the limit: what follows is cut
	Status        uint32 // what air_call returned, or the exit status of a command
	Log           []byte
	Output        []byte // or the trap's text
}

// MaxTrapText bounds the text of a trap with its stack.
const MaxTrapText = 8 << 10

const doneHeader = 9

// Encode returns the payload of a FrameDone in parts.
func (d Done) Encode() [][]byte {
	header := make([]byte, doneHeader)
	header[0] = bit(d.Trapped, 1) | bit(d.MemoryRefused, 2) | bit(d.OutputRefused, 4)
	binary.LittleEndian.PutUint32(header[1:], d.Status)
	binary.LittleEndian.PutUint32(header[5:], uint32(len(d.Log)))
	return [][]byte{header, d.Log, d.Output}
}

func bit(set bool, value byte) byte {
	if set {
		return value
	}
	return 0
}

// DecodeDone splits the payload of a FrameDone and checks it against the limits.
func DecodeDone(p []byte, l Limits) (Done, error) {
	if len(p) < doneHeader || p[0] > 7 {
		return Done{}, &FrameError{"malformed end of call"}
	}
	d := Done{Trapped: p[0]&1 != 0, MemoryRefused: p[0]&2 != 0, OutputRefused: p[0]&4 != 0, Status: binary.LittleEndian.Uint32(p[1:])}
	logged := int64(binary.LittleEndian.Uint32(p[5:]))
	p = p[doneHeader:]
	if logged > int64(len(p)) || logged > l.LogBytes {
		return Done{}, &FrameError{fmt.Sprintf("log of %d bytes", logged)}
	}
	d.Log, d.Output = p[:logged], p[logged:]
	limit := l.OutputBytes
	if d.Trapped {
		limit = MaxTrapText
	}
	if int64(len(d.Output)) > limit {
		return Done{}, &FrameError{fmt.Sprintf("output of %d bytes, the limit is %d", len(d.Output), limit)}
	}
	return d, nil
}

// MaxDone is the largest payload of a FrameDone.
func (l Limits) MaxDone() int {
	return doneHeader + int(l.LogBytes) + int(max(l.OutputBytes, MaxTrapText))
}
