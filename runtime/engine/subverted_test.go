package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
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
	next := func(t hostabi.FrameType) {
		if _, _, err := conn.Receive(hostabi.Allowed{t: hostabi.MaxModule}); err != nil {
			os.Exit(3)
		}
	}
	next(hostabi.FrameLoad)
	next(hostabi.FrameModule)
	if strings.HasPrefix(os.Args[1], "load ") {
		misbehave(s, strings.TrimPrefix(os.Args[1], "load "))
	}
	conn.Send(hostabi.FrameReady, []byte{0})
	next(hostabi.FrameCall)
	misbehave(s, os.Args[1])
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
	}
	m := guest(t, "guests/echo")
	for _, test := range tests {
		t.Run(test.how, func(t *testing.T) {
			t.Parallel()
			p := newPool(t)
			p.argv = []string{subverted, test.how}
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
	for _, answer := range []string{"Y\x01\x00\x00\x00\x01", "X\x01\x00\x00\x00x"} {
		p, err := startProcess(newPool(t).starter, sandbox.Worker{}, []string{subverted, "load stuck"})
		if err != nil {
			t.Fatal(err)
		}
		w := &worker{process: p, conn: hostabi.NewConn(tardy{p, strings.NewReader(answer)})}
		_, err = w.load(t.Context(), time.Millisecond, hostabi.LoadConfig{}, nil)
		var ended *endedError
		if !errors.As(err, &ended) || ended.cause != causeCompile {
			t.Errorf("%q: got %v", answer, err)
		}
		w.release(errRetired)
	}
}

func TestWorkerThatCannotConfineItself(t *testing.T) {
	p := newPool(t)
	p.argv = []string{subverted, "load cannot confine itself"}
	_, err := invoke(t, p, guest(t, "guests/echo"), `{}`)
	wantFault(t, err, fault.Unavailable, "worker")
}

func TestG22StuckWorkerEndsWithItsContext(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	p.argv = []string{subverted, "half and stuck"}
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
