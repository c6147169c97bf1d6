package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

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
	serve(&wazero.Engine{})
}

// setupFailed is the exit status of a worker that could not confine itself.
const setupFailed = 70

// serve is the life of a worker.
func serve(engine Engine) {
	s := newServer(engine)
	if err := s.configure(); err != nil {
		exit(err)
	}
	exit(s.work())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(setupFailed)
	}
	os.Exit(0)
}

// server is the worker's end: it compiles one module, or it loads one and runs calls until
// the host hangs up.
type server struct {
	conn   *hostabi.Conn
	socket *socket
	engine Engine
	config hostabi.LoadConfig
	idle   *time.Timer // fires when no call comes for a while
}

func newServer(engine Engine) *server {
	s := &server{socket: &socket{fd: sandbox.SocketFD}, engine: engine}
	s.conn = hostabi.NewConn(s.socket)
	s.conn.Trusted = true
	return s
}

func (s *server) configure() error {
	_, text, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameLoad: hostabi.MaxLoad})
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &s.config)
}

// work is what follows when the worker knows its configuration.
func (s *server) work() error {
	profile := s.profile()
	if err := profile.Load(); err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return s.refuse(err)
	}
	if s.config.Compile {
		return s.ready()
	}
	debug.SetMemoryLimit(ownBytes + s.config.BufferBytes)
	// From here on nothing may make a descriptor, look at a file or set a limit.
	if err := profile.Serve(); err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	s.engine.Reset() // makes an instance while the host gets its first call together
	for {
		if err := s.next(); err != nil {
			return nil // the host hung up
		}
		if s.idle == nil { // not before: a spare that waits for its first call is to be fast
			s.idle = time.AfterFunc(trimAfter, func() { trim(profile) })
		}
		s.idle.Reset(trimAfter)
	}
}

// ownBytes is how much memory the runtime and the engine may have beside the guest's and
// what is kept of a call, before the collector works harder. The profile gives 256 MiB and
// what there was after loading: the rest is for the holes between what is in use.
const ownBytes = 160 << 20

// profile counts what is kept of a call like the guest's memory: it comes on top of what
// the profile gives to the process itself.
func (s *server) profile() *sandbox.Worker {
	return &sandbox.Worker{
		MemoryBytes: s.config.MemoryBytes + s.config.BufferBytes,
		CacheDir:    string(s.config.CacheDir),
		Compile:     s.config.Compile,
	}
}

// trimAfter is how long a worker waits for a call before it makes itself small.
const trimAfter = 100 * time.Millisecond

// trim gives back what only starting, loading and the last call used.
func trim(profile *sandbox.Worker) {
	debug.FreeOSMemory()
	profile.Trim()
}

// load compiles with a lazy collector, for most of what the decoder allocates stays, but
// one that works harder before the process is at its limit.
func (s *server) load() error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(sandbox.CompileBytes * 2 / 3))
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	dir := string(s.config.CacheDir)
	if dir != "" && !s.config.Compile {
		return s.engine.LoadFolder(dir, s.config.ABI, s.config.MemoryBytes)
	}
	_, module, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameModule: hostabi.MaxModule})
	if err != nil {
		return err
	}
	if s.config.Compile {
		return s.engine.Compile(module, dir)
	}
	return s.engine.Load(module, s.config.ABI, s.config.MemoryBytes)
}

func (s *server) refuse(reason error) error {
	r := hostabi.Refusal{Cache: errors.Is(reason, wazero.ErrCache), Text: reason.Error()}
	return s.conn.Send(hostabi.FrameRefused, r.Encode()...)
}

func (s *server) ready() error {
	return s.conn.Send(hostabi.FrameReady, hostabi.EncodeReady(!s.config.Compile && s.engine.Frozen()))
}

func (s *server) next() error {
	t, p, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameCall: hostabi.MaxCall, hostabi.FrameFreeze: 0})
	if err != nil {
		return err
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	if t == hostabi.FrameFreeze {
		return s.conn.Send(hostabi.FrameImage, s.engine.Freeze())
	}
	tool, input, err := hostabi.DecodeTool(p)
	if err != nil {
		return err
	}
	return s.call(&hostabi.Call{Tool: tool, Input: input, Limits: s.config.Limits, Host: s})
}

// call runs one invocation. What it left behind is removed when the host has its answer.
func (s *server) call(c *hostabi.Call) error {
	status, err := s.engine.Run(c)
	done := hostabi.Done{
		MemoryRefused: c.MemoryRefused, OutputRefused: c.OutputRefused, Status: status, Log: c.Log, Output: c.Output,
	}
	if err != nil {
		text := err.Error()
		done.Trapped, done.Output = true, []byte(text[:min(len(text), hostabi.MaxTrapText)])
	}
	err = s.conn.Send(hostabi.FrameDone, done.Encode()...)
	s.engine.Reset()
	return err
}

var _ hostabi.Host = (*server)(nil)

// ToolCall passes a guest's request on and waits for the envelope. Many answers come
// sooner than a sleeping thread would be awake.
func (s *server) ToolCall(name string, request []byte) ([]byte, hostabi.Code) {
	s.send(hostabi.FrameTool, hostabi.EncodeTool(name, request)...)
	s.socket.spin()
	code, envelope := s.answer()
	return envelope, code
}

// Emit passes on what a guest says.
func (s *server) Emit(kind int32, payload []byte) hostabi.Code {
	s.send(hostabi.FrameEmit, hostabi.EncodeEmit(kind, payload)...)
	code, _ := s.answer()
	return code
}

// send ends the process when it cannot: without a host there is nothing left to do.
func (s *server) send(t hostabi.FrameType, parts ...[]byte) {
	if err := s.conn.Send(t, parts...); err != nil {
		os.Exit(0)
	}
}

func (s *server) answer() (hostabi.Code, []byte) {
	_, p, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameAnswer: hostabi.MaxAnswer})
	if err != nil {
		os.Exit(0)
	}
	code, envelope, err := hostabi.DecodeAnswer(p)
	if err != nil {
		os.Exit(1)
	}
	return code, envelope
}
