package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/wasmbin"
)

// saying is the socket of a worker that says what it wants, whatever it is asked.
type saying struct{ io.Reader }

func (saying) Write(p []byte) (int, error) { return len(p), nil }

// frame is one frame on the socket.
func frame(t hostabi.FrameType, parts ...[]byte) []byte {
	var b bytes.Buffer
	hostabi.NewConn(&struct {
		io.Reader
		io.Writer
	}{&b, &b}).Send(t, parts...)
	return b.Bytes()
}

// FuzzHostEnd has a hostile worker answer to loading, freezing and a call.
func FuzzHostEnd(f *testing.F) {
	image := wasmbin.Image{Frozen: true, Freezable: true, Pages: 1, Runs: []wasmbin.Run{{Offset: 3, Data: []byte("x")}}}
	ready := frame(hostabi.FrameReady, hostabi.EncodeReady(false))
	frozen := frame(hostabi.FrameImage, image.Encode())
	done := frame(hostabi.FrameDone, hostabi.Done{Output: []byte(`{"a":1}`), Log: []byte("log")}.Encode()...)
	trap := frame(hostabi.FrameDone, hostabi.Done{Trapped: true, Output: []byte("wasm error: unreachable\nwasm stack trace:\n\tf()")}.Encode()...)
	tool := frame(hostabi.FrameTool, hostabi.EncodeTool("a.b", []byte(`{}`))...)
	emit := frame(hostabi.FrameEmit, hostabi.EncodeEmit(hostabi.EmitLog, []byte(`{"msg":"x"}`))...)
	for _, said := range [][][]byte{
		{ready, frozen, done},
		{ready, frozen, tool, emit, done},
		{ready, frozen, trap},
		{ready, frame(hostabi.FrameImage), tool, done},
		{frame(hostabi.FrameReady, []byte{2})},
		{frame(hostabi.FrameRefused, hostabi.Refusal{Cache: true, Text: "no"}.Encode()...)},
		{ready, frozen, []byte("D\xff\xff\xff\x03")},
		{ready, []byte("I\x00\x00\x00\x04")},
	} {
		f.Add(bytes.Join(said, nil))
	}
	m, _ := Module{Tool: "t.t"}.complete()
	m.Limits.HostCalls = 5
	f.Fuzz(func(t *testing.T, said []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		converse(t, m, said)
		runtime.ReadMemStats(&after)
		// A frame may claim to be larger than what comes, once, and then 8 MiB are ready for
		// it: see hostabi.
		if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20+uint64(64*len(said)) {
			t.Errorf("%d bytes said, %d allocated", len(said), used)
		}
	})
}

func converse(t *testing.T, m Module, said []byte) {
	w := &worker{conn: hostabi.NewConn(saying{bytes.NewReader(said)}), limits: m.loadConfig("").Limits}
	if err := w.handOver(m.loadConfig(""), []byte("module")); err != nil {
		var refused *refusedError
		if !errors.As(err, &refused) {
			mustBeBreach(t, err)
		}
		return
	}
	data, err := w.receiveImage()
	if err != nil {
		mustBeBreach(t, err)
		return
	}
	if len(data) > 0 && m.checkImage(data) != nil {
		return
	}
	h := &fakeHandler{}
	done, err := w.exchange(t.Context(), m.Tool, []byte(`{}`), h)
	if asked := len(h.names) + h.emits; int64(asked) > m.Limits.HostCalls {
		t.Errorf("%d host calls, the limit is %d", asked, m.Limits.HostCalls)
	}
	if err != nil {
		mustBeBreach(t, err)
		return
	}
	result, err := m.result(done)
	var e *fault.Error
	if err != nil && !errors.As(err, &e) || err == nil && !json.Valid(result.output) {
		t.Errorf("%v: %s, %v", done, result.output, err)
	}
}

// mustBeBreach checks that an error is one that ended takes for a violation, or asks the
// system about.
func mustBeBreach(t *testing.T, err error) {
	t.Helper()
	var breach *hostabi.FrameError
	if !errors.As(err, &breach) && err != io.EOF {
		t.Errorf("got %v", err)
	}
}
