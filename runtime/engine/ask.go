package engine

import (
	"os"

	"github.com/aircoding/air/hostabi"
)

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
	_, p, err := s.conn.Receive(hostabi.Allowed{hostabi.FrameAnswer: 4 + hostabi.MaxEnvelope})
	if err != nil {
		os.Exit(0)
	}
	code, envelope, err := hostabi.DecodeAnswer(p)
	if err != nil {
		os.Exit(1)
	}
	return code, envelope
}
