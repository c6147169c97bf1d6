package engine

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/wasmbin"
	"github.com/aircoding/air/runtime/engine/wazero"
	"github.com/aircoding/air/runtime/sandbox"
)

// subverted is the argv[0] of a worker that does not keep to the protocol; argv[1] says
// how.
const subverted = "air-subverted-worker"

func serveIfSubverted() {
	if os.Args[0] != subverted {
		return
	}
	s := &socket{fd: sandbox.SocketFD}
	conn := hostabi.NewConn(s)
	next := func(t hostabi.FrameType) []byte {
		_, p, err := conn.Receive(hostabi.Allowed{t: hostabi.MaxModule})
		if err != nil {
			os.Exit(3)
		}
		return p
	}
	var config hostabi.LoadConfig
	if err := json.Unmarshal(next(hostabi.FrameLoad), &config); err != nil {
		os.Exit(3)
	}
	how := os.Args[1]
	if compile, ok := strings.CutPrefix(how, "compile "); ok {
		if !config.Compile {
			(&server{conn: conn, socket: s, engine: &wazero.Engine{}, config: config}).work()
			os.Exit(0)
		}
		next(hostabi.FrameModule)
		leave(string(config.CacheDir), compile)
		conn.Send(hostabi.FrameReady, []byte{0})
		os.Exit(0)
	}
	next(hostabi.FrameModule)
	if load, ok := strings.CutPrefix(how, "load "); ok {
		misbehave(s, load)
	}
	if freeze, ok := strings.CutPrefix(how, "freeze "); ok {
		conn.Send(hostabi.FrameReady, []byte{0})
		next(hostabi.FrameFreeze)
		misbehave(s, freeze)
	}
	conn.Send(hostabi.FrameReady, []byte{1})
	next(hostabi.FrameCall)
	misbehave(s, how)
}

// leave puts into a cache folder what no compiler leaves there.
func leave(dir, what string) {
	in := func(name string) string { return filepath.Join(dir, name) }
	switch what {
	case "nothing":
	case "a link":
		os.Symlink("/dev/zero", in("image"))
	case "a pipe":
		unix.Mkfifo(in("image"), 0o600)
	case "many files":
		for i := range 100 {
			os.WriteFile(in(strconv.Itoa(i)), nil, 0o600)
		}
	case "rubbish":
		os.WriteFile(in("image"), []byte("x"), 0o600)
		os.WriteFile(in("skeleton.wasm"), []byte("x"), 0o600)
	case "a frozen image":
		os.WriteFile(in(wazero.FrozenFile), []byte("x"), 0o600)
		os.WriteFile(in("image"), []byte("x"), 0o600)
	}
}

// misbehave says one wrong thing, and then nothing more.
func misbehave(s *socket, how string) {
	raw := func(t byte, size uint32, payload string) {
		s.Write(append(binary.LittleEndian.AppendUint32([]byte{t}, size), payload...))
	}
	switch how {
	case "unknown":
		raw('?', 0, "")
	case "ready again":
		raw('Y', 1, "\x00")
	case "ready of nothing":
		raw('Y', 0, "")
	case "ready with 2":
		raw('Y', 1, "\x02")
	case "refused of nothing":
		raw('X', 0, "")
	case "image":
		raw('I', 0, "")
	case "rubbish image":
		raw('I', 3, "abc")
	case "oversized image":
		raw('I', hostabi.MaxImage+1, "")
	case "plain image":
		sendImage(s, wasmbin.Image{Freezable: true, Pages: 1})
	case "large image":
		sendImage(s, wasmbin.Image{Freezable: true, Frozen: true, Pages: 1025})
	case "answer":
		raw('A', 6, "\x00\x00\x00\x00{}")
	case "oversized":
		raw('D', 1<<31, "")
	case "oversized tool":
		raw('T', 17<<20, "")
	case "half header":
		s.Write([]byte{'D', 9})
		os.Exit(0)
	case "half payload":
		raw('D', 1000, "abc")
		os.Exit(0)
	case "half and alive":
		raw('D', 1000, "abc")
		s.shutdown()
	case "stuck":
	case "half and stuck":
		raw('D', 1000, "abc")
	case "two at once":
		raw('T', 4, "\x01xabT\x04\x00\x00\x00\x01xab")
	case "calls for ever":
		conn := hostabi.NewConn(s)
		for {
			raw('T', 4, "\x01xab")
			if _, _, err := conn.Receive(hostabi.Allowed{hostabi.FrameAnswer: 100}); err != nil {
				os.Exit(0)
			}
		}
	case "malformed done":
		raw('D', 3, "abc")
	case "log past the end":
		raw('D', 9, "\x00\x00\x00\x00\x00\xff\xff\xff\xff")
	case "name past the end":
		raw('T', 2, "\x50x")
	case "unknown emit":
		raw('E', 1, "\x09")
	case "quits":
		os.Exit(0)
	case "fails":
		os.Exit(9)
	case "cannot confine itself":
		os.Exit(setupFailed)
	case "killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "forbidden call":
		syscall.Kill(os.Getpid(), syscall.SIGSYS)
	case "hangs up":
		s.shutdown()
	}
	time.Sleep(time.Minute)
	os.Exit(0)
}

func sendImage(s *socket, i wasmbin.Image) {
	hostabi.NewConn(s).Send(hostabi.FrameImage, i.Encode())
}

func TestG22SubvertedWorker(t *testing.T) {
	tests := []struct{ how, code string }{
		{"unknown", "violation"},
		{"ready again", "violation"},
		{"answer", "violation"},
		{"oversized", "violation"},
		{"oversized tool", "violation"},
		{"half header", "violation"},
		{"half payload", "violation"},
		{"half and alive", "violation"},
		{"two at once", "violation"},
		{"calls for ever", "violation"},
		{"malformed done", "violation"},
		{"log past the end", "violation"},
		{"name past the end", "violation"},
		{"unknown emit", "violation"},
		{"quits", "violation"},
		{"hangs up", "violation"},
		{"forbidden call", "violation"},
		{"fails", "crash"},
		{"killed", "crash"},
		{"load unknown", "violation"},
		{"load oversized", "violation"},
		{"load half payload", "violation"},
		{"load quits", "violation"},
		{"load fails", "crash"},
		{"load ready of nothing", "violation"},
		{"load ready with 2", "violation"},
		{"load refused of nothing", "violation"},
		{"load image", "violation"},
		{"image", "violation"},
		{"freeze ready again", "violation"},
		{"freeze rubbish image", "violation"},
		{"freeze oversized image", "violation"},
		{"freeze plain image", "violation"},
		{"freeze large image", "violation"},
		{"freeze half payload", "violation"},
		{"freeze two at once", "violation"},
		{"freeze quits", "violation"},
		{"freeze fails", "crash"},
		{"freeze killed", "crash"},
	}
	m := guest(t, "guests/echo")
	for _, test := range tests {
		t.Run(test.how, func(t *testing.T) {
			t.Parallel()
			p := NewPool(PoolOptions{})
			defer p.Close()
			p.spawn = spawning(subverted, test.how)
			began := time.Now()
			_, err := invoke(t, p, m, `{}`)
			wantFault(t, err, fault.GuestTrap, test.code)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if len(p.idle) > 0 {
				t.Error("the worker was kept")
			}
		})
	}
}

// TestSubvertedCompiler has a compile worker leave something else than an entry.
func TestSubvertedCompiler(t *testing.T) {
	for _, what := range []string{"nothing", "a link", "a pipe", "many files", "rubbish", "a frozen image"} {
		t.Run(what, func(t *testing.T) {
			p, m := newPool(t), guest(t, "guests/echo")
			p.spawn = spawning(subverted, "compile "+what)
			mustInvoke(t, p, m, `{}`)
			mustHold(t, p.options.CacheDir, 0)
		})
	}
}

// tardy is a worker whose answer arrives just after it was killed.
type tardy struct {
	*process
	answer *strings.Reader
}

func (s tardy) Write(b []byte) (int, error) { return len(b), nil }

func (s tardy) Read(b []byte) (int, error) {
	<-s.exited
	return s.answer.Read(b)
}

func TestReadyAtTheDeadline(t *testing.T) {
	for _, answer := range []string{"Y\x01\x00\x00\x00\x01", "X\x02\x00\x00\x00\x00x"} {
		p, err := startProcess([]string{subverted, "load stuck"})
		if err != nil {
			t.Fatal(err)
		}
		w := &worker{process: p, conn: hostabi.NewConn(tardy{p, strings.NewReader(answer)})}
		err = w.load(t.Context(), time.Millisecond, hostabi.LoadConfig{}, nil)
		var ended *endedError
		if !errors.As(err, &ended) || ended.cause != causeCompile {
			t.Errorf("%q: got %v", answer, err)
		}
		w.release(errRetired)
	}
}

func TestWorkerThatCannotConfineItself(t *testing.T) {
	p := NewPool(PoolOptions{})
	defer p.Close()
	p.spawn = spawning(subverted, "load cannot confine itself")
	_, err := invoke(t, p, guest(t, "guests/echo"), `{}`)
	wantFault(t, err, fault.Unavailable, "worker")
}

func TestG22StuckWorkerEndsWithItsContext(t *testing.T) {
	p, m := NewPool(PoolOptions{}), guest(t, "guests/echo")
	defer p.Close()
	p.spawn = spawning(subverted, "half and stuck")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := p.invoke(ctx, m, nil, &fakeHandler{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
}

// TestKilledWorker kills a worker inside a call, and then one that waits for the next.
func TestKilledWorker(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/nested")
	pid := func() int { return p.idle[0].worker.cmd.Process.Pid }
	if _, err := invoke(t, p, m, `{}`); err != nil {
		t.Fatal(err)
	}
	victim := pid()
	h := &fakeHandler{answer: func(context.Context, string, []byte) []byte {
		syscall.Kill(victim, syscall.SIGKILL)
		time.Sleep(20 * time.Millisecond)
		return []byte(`{}`)
	}}
	_, err := p.invoke(t.Context(), m, nil, h)
	wantFault(t, err, fault.GuestTrap, "crash")
	if got := mustInvoke(t, p, m, `{}`); got != `{}` {
		t.Fatalf("the next call: %s", got)
	}
	idle := p.idle[0].worker
	syscall.Kill(pid(), syscall.SIGKILL)
	<-idle.exited
	if got := mustInvoke(t, p, m, `{}`); got != `{}` {
		t.Fatalf("the call after an idle worker died: %s", got)
	}
}
