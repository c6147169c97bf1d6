package hostabi

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// FrameType says what a frame between the host process and a worker carries. On the
// socket a frame is its type, the length of its payload as a little-endian uint32, and
// the payload. The two ends take turns: one frame is under way at any time.
type FrameType byte

const (
	FrameLoad   FrameType = 'L' // host: the configuration, as JSON
	FrameModule FrameType = 'M' // host: the module's bytes
	FrameFreeze FrameType = 'F' // host: run what comes before a call, and send the image
	FrameCall   FrameType = 'C' // host: a tool and its input, as the guest reads it
	FrameAnswer FrameType = 'A' // host: code and envelope, to a FrameTool or FrameEmit

	FrameReady   FrameType = 'Y' // worker: the module is compiled or loaded; one byte, 1 when its image is frozen already
	FrameRefused FrameType = 'X' // worker: it is not, and why
	FrameImage   FrameType = 'I' // worker: the image, or nothing where there is none
	FrameTool    FrameType = 'T' // worker: a nested call
	FrameEmit    FrameType = 'E' // worker: a log line, progress, output or event
	FrameDone    FrameType = 'D' // worker: how the invocation ended
)

const (
	headerSize = 5
	bufferSize = 64 << 10
)

// FrameError is a breach of the protocol: whoever spoke is not to be spoken to again.
type FrameError struct{ Reason string }

func (e *FrameError) Error() string { return "worker protocol: " + e.Reason }

// Conn speaks frames over a stream.
type Conn struct {
	// Trusted says that the other end is believed how large a frame is, as a worker
	// believes the host: all of it is allocated at once, and leaves no garbage.
	Trusted bool

	in  *bufio.Reader
	out io.Writer
	buf []byte
}

// NewConn returns a Conn over a socket.
func NewConn(rw io.ReadWriter) *Conn {
	return &Conn{in: bufio.NewReaderSize(rw, bufferSize), out: rw}
}

// Send writes one frame whose payload is the parts in order. It refuses to while the
// other end has said more than one frame: it spoke out of turn.
func (c *Conn) Send(t FrameType, parts ...[]byte) error {
	if n := c.in.Buffered(); n > 0 {
		return &FrameError{fmt.Sprintf("%d bytes out of turn", n)}
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	c.buf = binary.LittleEndian.AppendUint32(append(c.buf[:0], byte(t)), uint32(size))
	for _, p := range parts {
		if err := c.write(p); err != nil {
			return err
		}
	}
	return c.flush()
}

// write collects small parts, so that a small frame is one system call.
func (c *Conn) write(p []byte) error {
	if len(c.buf)+len(p) <= bufferSize {
		c.buf = append(c.buf, p...)
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	_, err := c.out.Write(p)
	return err
}

func (c *Conn) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	_, err := c.out.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

// Allowed maps the frame types that may come next to the largest payload of each.
type Allowed map[FrameType]int

// Receive reads the next frame. It allocates nothing for a frame that is not allowed, and
// for one that is, from an end that is not trusted, little more than arrives.
func (c *Conn) Receive(allowed Allowed) (FrameType, []byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(c.in, header[:]); err != nil {
		return 0, nil, halfSent(err)
	}
	t, size := FrameType(header[0]), binary.LittleEndian.Uint32(header[1:])
	limit, ok := allowed[t]
	if !ok {
		return 0, nil, &FrameError{fmt.Sprintf("frame %q out of order", t)}
	}
	if int64(size) > int64(limit) {
		return 0, nil, &FrameError{fmt.Sprintf("frame %q of %d bytes, the limit is %d", t, size, limit)}
	}
	payload, err := c.payload(int(size))
	return t, payload, halfSent(err)
}

// firstRead is what is allocated on the word of an end that is not trusted. Most frames
// fit.
const firstRead = 8 << 20

func (c *Conn) payload(size int) ([]byte, error) {
	first := min(size, firstRead)
	if c.Trusted {
		first = size
	}
	payload := make([]byte, first)
	if _, err := io.ReadFull(c.in, payload); err != nil {
		return nil, unexpected(err)
	}
	for len(payload) < size {
		have := len(payload)
		step := min(size-have, have)
		payload = slices.Grow(payload, step)[:have+step]
		if _, err := io.ReadFull(c.in, payload[have:]); err != nil {
			return nil, unexpected(err)
		}
	}
	return payload, nil
}

// unexpected marks an end of the stream inside a frame.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// halfSent tells an end inside a frame, which a worker that lives must not cause, from
// an end between two.
func halfSent(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", &FrameError{"half a frame"}, err)
	}
	return err
}
