package network

import (
	"net"
	"sync"
	"time"
)

// idleTime is how long a connection may carry nothing.
const idleTime = 2 * time.Minute

// idleConn ends when it carries nothing for idleTime.
type idleConn struct{ net.Conn }

func (c idleConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(idleTime)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c idleConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(idleTime)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// CloseWrite is that of the connection itself.
func (c idleConn) CloseWrite() error {
	closeWrite(c.Conn)
	return nil
}

// closeWrite tells the other end that nothing more comes.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}

// bounded is a listener that has at most so many connections open at once; the next one
// waits.
type bounded struct {
	net.Listener
	free chan struct{}
	done chan struct{}
	once sync.Once
}

func newBounded(l net.Listener, most int) *bounded {
	return &bounded{Listener: l, free: make(chan struct{}, most), done: make(chan struct{})}
}

// Accept waits for a connection, and for room for it.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.free <- struct{}{}:
	case <-b.done:
		return nil, net.ErrClosed
	}
	conn, err := b.Listener.Accept()
	if err != nil {
		<-b.free
		return nil, err
	}
	return &boundedConn{Conn: conn, free: b.free}, nil
}

// Close ends waiting too.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.done) })
	return b.Listener.Close()
}

type boundedConn struct {
	net.Conn
	free chan struct{}
	once sync.Once
}

// Close makes room for another.
func (c *boundedConn) Close() error {
	c.once.Do(func() { <-c.free })
	return c.Conn.Close()
}

// CloseWrite is that of the connection itself.
func (c *boundedConn) CloseWrite() error {
	closeWrite(c.Conn)
	return nil
}
