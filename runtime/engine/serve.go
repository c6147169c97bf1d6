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

// serve is the life of a worker.
func serve(engine Engine) {
	socket := &socket{fd: sandbox.SocketFD}
	s := &server{conn: hostabi.NewConn(socket), socket: socket, engine: engine}
	if err := s.serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(setupFailed)
	}
	os.Exit(0)
}

// setupFailed is the exit status of a worker that could not confine itself.
const setupFailed = 70

// server is the worker's end: it compiles one module, or it loads one and runs calls until
// the host hangs up.
type server struct {
	conn   *hostabi.Conn
	socket *socket
	engine Engine
	config hostabi.LoadConfig
	idle   *time.Timer // fires when no call comes for a while
}

func (s *server) serve() error {
	_, text, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameLoad: 64 << 10})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &s.config); err != nil {
		return err
	}
	return s.work()
}

// work is what follows when the worker knows its configuration.
func (s *server) work() error {
	profile := sandbox.Worker{MemoryBytes: s.config.MemoryBytes, CacheDir: s.config.CacheDir, Compile: s.config.Compile}
	if err := profile.Load(); err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return s.refuse(err)
	}
	if s.config.Compile {
		return s.ready()
	}
	// From here on nothing may make a descriptor, look at a file or set a limit.
	if err := profile.Serve(); err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	s.engine.Reset() // makes an instance while the host gets its first call together
	s.idle = time.AfterFunc(trimAfter, func() { trim(&profile) })
	for {
		if err := s.next(); err != nil {
			return nil // the host hung up
		}
		s.idle.Reset(trimAfter)
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
	if s.config.CacheDir != "" && !s.config.Compile {
		return s.engine.Load(nil, s.config.CacheDir, s.config.MemoryBytes)
	}
	_, module, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameModule: hostabi.MaxModule})
	if err != nil {
		return err
	}
	if s.config.Compile {
		return s.engine.Compile(module, s.config.CacheDir)
	}
	return s.engine.Load(module, "", s.config.MemoryBytes)
}

func (s *server) refuse(reason error) error {
	r := hostabi.Refusal{Cache: errors.Is(reason, wazero.ErrCache), Text: reason.Error()}
	return s.conn.Send(hostabi.FrameRefused, r.Encode()...)
}

func (s *server) ready() error {
	return s.conn.Send(hostabi.FrameReady, hostabi.EncodeReady(!s.config.Compile && s.engine.Frozen()))
}

func (s *server) next() error {
	t, input, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameCall: maxInvocation, hostabi.FrameFreeze: 0})
	if err != nil {
		return err
	}
	s.idle.Stop()
	if t == hostabi.FrameFreeze {
		return s.freeze()
	}
	return s.call(input)
}

// freeze answers with the image of what comes before a call. One that is too large to keep
// still serves this worker.
func (s *server) freeze() error {
	image := s.engine.Freeze()
	if len(image) > hostabi.MaxImage {
		image = nil
	}
	return s.conn.Send(hostabi.FrameImage, image)
}

// call runs one invocation. What it left behind is removed when the host has its answer.
func (s *server) call(input []byte) error {
	c := &hostabi.Call{Input: input, Limits: s.config.Limits, Host: s}
	done := hostabi.Done{}
	var err error
	done.Status, err = s.engine.Run(c)
	done.Log, done.Output = c.Log, c.Output
	done.MemoryRefused, done.OutputRefused = s.engine.MemoryRefused(), c.OutputRefused
	if err != nil {
		text := err.Error()
		done.Trapped, done.Output = true, []byte(text[:min(len(text), hostabi.MaxTrapText)])
	}
	err = s.conn.Send(hostabi.FrameDone, done.Encode()...)
	s.engine.Reset()
	return err
}

// maxInvocation is the ceiling of an input, with its frame of tool name and config.
const maxInvocation = 16<<20 + 1<<20
