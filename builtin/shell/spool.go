package shell

import (
	"bufio"
	"io"

	"github.com/aircoding/air/runtime/artifact"
)

// spool is one artifact that is written while its content comes. A nil one is none.
type spool struct {
	pipe    *io.PipeWriter
	buffer  *bufio.Writer
	bytes   int64
	dropped int64 // bytes that came after the bound
	stored  chan struct{}

	// Of the artifact, once stored is closed.
	record artifact.Record
	err    error
}

const spoolBuffer = 64 << 10

func (c *capture) newSpool(name string) *spool {
	r, w := io.Pipe()
	s := &spool{pipe: w, buffer: bufio.NewWriterSize(w, spoolBuffer), stored: make(chan struct{})}
	meta := artifact.New{Type: "log", Name: name + ".log", MediaType: "text/plain"}
	go func() {
		defer close(s.stored)
		s.record, s.err = c.keep(meta, r)
		r.CloseWithError(io.ErrClosedPipe) // after a failure nobody waits to be read
	}()
	return s
}

// write takes what fits. That it could not be stored is told by close.
func (s *spool) write(p []byte) {
	fits := min(int64(len(p)), spoolBytes-s.bytes)
	s.bytes += fits
	s.dropped += int64(len(p)) - fits
	_, _ = s.buffer.Write(p[:fits])
}

// close waits until the artifact is stored.
func (s *spool) close() error {
	if s == nil {
		return nil
	}
	if s.dropped > 0 {
		_, _ = s.buffer.WriteString(droppedNote(s.dropped))
	}
	_ = s.buffer.Flush()
	_ = s.pipe.Close()
	<-s.stored
	return s.err
}

// id is the artifact's, "" where there is none.
func (s *spool) id() string {
	if s == nil {
		return ""
	}
	return s.record.ID
}
