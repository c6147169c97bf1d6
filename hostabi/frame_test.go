package hostabi

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

type stream struct {
	in  io.Reader
	out bytes.Buffer
}

func (s *stream) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *stream) Write(p []byte) (int, error) { return s.out.Write(p) }

func TestFrameBytes(t *testing.T) {
	tests := []struct {
		frame FrameType
		parts [][]byte
		want  string
	}{
		{FrameTool, EncodeTool("a.b", []byte("{}")), "T\x06\x00\x00\x00\x03a.b{}"},
		{FrameEmit, EncodeEmit(EmitEvent, []byte("{}")), "E\x03\x00\x00\x00\x03{}"},
		{FrameReady, [][]byte{EncodeReady(true)}, "Y\x01\x00\x00\x00\x01"},
		{FrameReady, [][]byte{EncodeReady(false)}, "Y\x01\x00\x00\x00\x00"},
		{FrameRefused, Refusal{Text: "no"}.Encode(), "X\x03\x00\x00\x00\x00no"},
		{FrameRefused, Refusal{Cache: true, Text: "no"}.Encode(), "X\x03\x00\x00\x00\x01no"},
		{FrameAnswer, EncodeAnswer(0, []byte("{}")), "A\x06\x00\x00\x00\x00\x00\x00\x00{}"},
		{FrameAnswer, EncodeAnswer(EQUOTA, nil), "A\x04\x00\x00\x00\xfb\xff\xff\xff"},
	}
	for _, test := range tests {
		s := &stream{in: strings.NewReader("")}
		if err := NewConn(s).Send(test.frame, test.parts...); err != nil {
			t.Fatal(err)
		}
		if got := s.out.String(); got != test.want {
			t.Errorf("sent %q, want %q", got, test.want)
		}
	}
}

func TestFramesOfEverySize(t *testing.T) {
	for _, size := range []int{0, 1, bufferSize - headerSize, bufferSize - headerSize + 1, bufferSize, firstRead, firstRead + 1, 2*firstRead + 1, 5*firstRead + 3} {
		sender := &stream{in: strings.NewReader("")}
		payload := bytes.Repeat([]byte{7}, size)
		if err := NewConn(sender).Send(FrameCall, payload[:size/2], payload[size/2:]); err != nil {
			t.Fatal(err)
		}
		typ, got, err := NewConn(&stream{in: &sender.out}).Receive(Allowed{FrameCall: size})
		if err != nil || typ != FrameCall || !bytes.Equal(got, payload) {
			t.Errorf("%d bytes: %q, %d bytes, %v", size, typ, len(got), err)
		}
	}
}

func TestReceiveRefuses(t *testing.T) {
	tests := []struct {
		name, sent string
		half       bool
	}{
		{"unknown type", "?\x00\x00\x00\x00", false},
		{"type out of order", "M\x00\x00\x00\x00", false},
		{"one byte too many", "D\x09\x00\x00\x00123456789", false},
		{"four gigabytes", "D\xff\xff\xff\xff", false},
		{"half a header", "D\x01", true},
		{"half a payload", "D\x05\x00\x00\x00abc", true},
		{"no payload", "D\x05\x00\x00\x00", true},
	}
	for _, test := range tests {
		_, _, err := NewConn(&stream{in: strings.NewReader(test.sent)}).Receive(Allowed{FrameDone: 8})
		var breach *FrameError
		if !errors.As(err, &breach) || errors.Is(err, io.ErrUnexpectedEOF) != test.half {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestReceiveAtTheEnd(t *testing.T) {
	_, _, err := NewConn(&stream{in: strings.NewReader("")}).Receive(Allowed{FrameDone: 8})
	if err != io.EOF {
		t.Errorf("got %v", err)
	}
}

func TestSendAfterSomethingOutOfTurn(t *testing.T) {
	c := NewConn(&stream{in: strings.NewReader("D\x00\x00\x00\x00D")})
	if _, _, err := c.Receive(Allowed{FrameDone: 0}); err != nil {
		t.Fatal(err)
	}
	var breach *FrameError
	if err := c.Send(FrameCall); !errors.As(err, &breach) {
		t.Errorf("got %v", err)
	}
}

func TestDoneComesBack(t *testing.T) {
	limits := Limits{OutputBytes: 5, LogBytes: 3}
	for _, d := range []Done{
		{Output: []byte("12345"), Log: []byte("log")},
		{Status: 7, MemoryRefused: true, OutputRefused: true, Output: []byte{}, Log: []byte{}},
		{Trapped: true, Output: bytes.Repeat([]byte("x"), MaxTrapText), Log: []byte("l")},
	} {
		payload := bytes.Join(d.Encode(), nil)
		got, err := DecodeDone(payload, limits)
		if err != nil || got.Status != d.Status || got.Trapped != d.Trapped || got.MemoryRefused != d.MemoryRefused || got.OutputRefused != d.OutputRefused ||
			!bytes.Equal(got.Output, d.Output) || !bytes.Equal(got.Log, d.Log) {
			t.Errorf("%+v, %v", got, err)
		}
		if len(payload) > limits.MaxDone() {
			t.Errorf("%d bytes, at most %d are let through", len(payload), limits.MaxDone())
		}
	}
}

func TestReadyAndRefused(t *testing.T) {
	for _, payload := range []string{"", "\x02", "\x00\x00", "\xff"} {
		var breach *FrameError
		if _, err := DecodeReady([]byte(payload)); !errors.As(err, &breach) {
			t.Errorf("ready %q: %v", payload, err)
		}
	}
	for _, payload := range []string{"", "\x02no", "\xff"} {
		var breach *FrameError
		if _, err := DecodeRefusal([]byte(payload)); !errors.As(err, &breach) {
			t.Errorf("refused %q: %v", payload, err)
		}
	}
	long := Refusal{Cache: true, Text: strings.Repeat("x", 2*MaxRefused)}
	payload := bytes.Join(long.Encode(), nil)
	if got, err := DecodeRefusal(payload); err != nil || !got.Cache || len(payload) != MaxRefused {
		t.Errorf("%d bytes, %v", len(payload), err)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte("T\x06\x00\x00\x00\x03a.b{}"))
	f.Add([]byte("D\x0c\x00\x00\x00\x02\x00\x00\x00\x00\x01\x00\x00\x00log"))
	f.Add([]byte("E\x03\x00\x00\x00\x00{}"))
	f.Add([]byte("D\xff\xff\xff\xff"))
	f.Add([]byte("Y\x01\x00\x00\x00\x02"))
	f.Add([]byte("X\x03\x00\x00\x00\x01no"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		limits := Limits{OutputBytes: 100, LogBytes: 100}
		c := NewConn(&stream{in: bytes.NewReader(sent)})
		for {
			typ, p, err := c.Receive(Allowed{FrameReady: 1, FrameRefused: 200, FrameTool: 200, FrameEmit: 200, FrameDone: limits.MaxDone()})
			if err != nil {
				return
			}
			switch typ {
			case FrameReady:
				if frozen, err := DecodeReady(p); err == nil && !bytes.Equal(EncodeReady(frozen), p) {
					t.Errorf("readiness %q", p)
				}
			case FrameRefused:
				if r, err := DecodeRefusal(p); err == nil && !bytes.Equal(bytes.Join(r.Encode(), nil), p) {
					t.Errorf("refusal %q", p)
				}
			case FrameTool:
				if name, _, err := DecodeTool(p); err == nil && len(name) > MaxToolName {
					t.Errorf("name of %d bytes", len(name))
				}
			case FrameEmit:
				if kind, _, err := DecodeEmit(p); err == nil && (kind < EmitLog || kind > EmitEvent) {
					t.Errorf("kind %d", kind)
				}
			case FrameDone:
				d, err := DecodeDone(p, limits)
				if err == nil && (len(d.Log) > 100 || !d.Trapped && len(d.Output) > 100) {
					t.Errorf("%d bytes of log, %d of output", len(d.Log), len(d.Output))
				}
			}
		}
	})
}
