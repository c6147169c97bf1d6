package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/runtime/engine/wazero"
	"github.com/aircoding/air/runtime/sandbox"
)

// ServeIfWorker turns the process into a worker, and does not return, when it was
// started as one. It must be the first thing that main does, and a TestMain whose tests
// run guests.
func ServeIfWorker() {
	if len(os.Args) == 0 || os.Args[0] != workerName {
		return
	}
	s := &server{conn: hostabi.NewConn(&socket{fd: sandbox.SocketFD}), engine: &wazero.Engine{}}
	if err := s.serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(setupFailed)
	}
	os.Exit(0)
}

// setupFailed is the exit status of a worker that could not confine itself.
const setupFailed = 70

// server is the worker's end: it loads one module and runs calls until the host hangs up.
type server struct {
	conn   *hostabi.Conn
	engine Engine
	config hostabi.LoadConfig
}

func (s *server) serve() error {
	_, text, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameLoad: 64 << 10})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &s.config); err != nil {
		return err
	}
	profile := sandbox.Worker{MemoryBytes: s.config.MemoryBytes, Cache: s.config.CacheDir != ""}
	if err := profile.Load(); err != nil {
		return err
	}
	cached, err := s.load()
	if err != nil {
		return s.refuse(err)
	}
	if err := profile.Serve(); err != nil {
		return err
	}
	ready := []byte{0}
	if cached {
		ready[0] = 1
	}
	if err := s.conn.Send(hostabi.FrameReady, ready); err != nil {
		return err
	}
	for {
		if err := s.call(); err != nil {
			return nil // the host hung up
		}
	}
}

// load compiles with a lazy collector, for most of what the decoder allocates stays, but
// one that works harder before the process is at its limit.
func (s *server) load() (cached bool, err error) {
	_, module, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameModule: hostabi.MaxModule})
	if err != nil {
		return false, err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(sandbox.CompileBytes * 2 / 3))
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	return s.engine.Load(module, s.config.CacheDir, s.config.MemoryBytes)
}

func (s *server) refuse(reason error) error {
	text := reason.Error()
	return s.conn.Send(hostabi.FrameRefused, []byte(text[:min(len(text), maxRefusal)]))
}

func (s *server) call() error {
	_, input, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameCall: maxInvocation})
	if err != nil {
		return err
	}
	c := &hostabi.Call{Input: input, Limits: s.config.Limits, Host: host{s.conn}}
	done := hostabi.Done{}
	done.Status, err = s.engine.Run(c)
	done.Log, done.Output = c.Log, c.Output
	done.MemoryRefused, done.OutputRefused = s.engine.MemoryRefused(), c.OutputRefused
	if err != nil {
		text := err.Error()
		done.Trapped, done.Output = true, []byte(text[:min(len(text), hostabi.MaxTrapText)])
	}
	return s.conn.Send(hostabi.FrameDone, done.Encode()...)
}

// maxInvocation is the ceiling of an input, with its frame of tool name and config.
const maxInvocation = 16<<20 + 1<<20

// host passes a guest's requests on. Without a host there is nothing left to do.
type host struct{ conn *hostabi.Conn }

func (h host) ToolCall(name string, request []byte) ([]byte, hostabi.Code) {
	code, envelope := h.ask(hostabi.FrameTool, hostabi.EncodeTool(name, request)...)
	return envelope, code
}

func (h host) Emit(kind int32, payload []byte) hostabi.Code {
	code, _ := h.ask(hostabi.FrameEmit, hostabi.EncodeEmit(kind, payload)...)
	return code
}

func (h host) ask(t hostabi.FrameType, parts ...[]byte) (hostabi.Code, []byte) {
	if err := h.conn.Send(t, parts...); err != nil {
		os.Exit(0)
	}
	_, p, err := h.conn.Receive(hostabi.Allowed{hostabi.FrameAnswer: 4 + hostabi.MaxEnvelope})
	if err != nil {
		os.Exit(0)
	}
	code, envelope, err := hostabi.DecodeAnswer(p)
	if err != nil {
		os.Exit(1)
	}
	return code, envelope
}
