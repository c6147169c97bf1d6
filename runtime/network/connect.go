package network

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aircoding/air/runtime/permission"
)

// connect makes a tunnel to a host that was decided with https.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	if r.RequestURI != r.URL.Host {
		p.refuse(w, http.StatusBadRequest, Refusal{Target: r.RequestURI, Why: "CONNECT takes a host with its port, and nothing else"})
		return
	}
	e, ok := p.allowed(w, "https", r.URL.Host)
	if !ok {
		return
	}
	server, err := p.dial(r.Context(), e)
	if err != nil {
		p.fail(w, e, err)
		return
	}
	defer closeConn(server)
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.fail(w, e, err)
		return
	}
	defer closeConn(client)
	p.tunnel(r.Context(), e, client, buffered, server)
}

// tunnel joins both ends once the client has begun to speak TLS with the decided host. It
// ends with ctx, which a hijacked connection's does not by itself.
func (p *Proxy) tunnel(ctx context.Context, e permission.Effect, client net.Conn, buffered *bufio.ReadWriter, server net.Conn) {
	stop := context.AfterFunc(ctx, func() {
		closeConn(client)
		closeConn(server)
	})
	defer stop()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	from := io.MultiReader(io.LimitReader(buffered, int64(buffered.Reader.Buffered())), client)
	hello, name, err := readHello(client, from)
	if err == nil {
		host, _, _ := net.SplitHostPort(hostPort(e.Target))
		err = checkServerName(name, host)
	}
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, io.EOF) { // a client that only looked is no attempt
			p.refused.note(Refusal{Target: e.Target, Why: "https was allowed, and " + err.Error()})
		}
		return
	}
	if err := client.SetDeadline(time.Time{}); err != nil {
		return
	}
	if _, err := server.Write(hello); err != nil {
		return
	}
	join(&replaced{idleConn{client}, from}, server)
}

// closeConn ends a connection, of whose end nobody needs to know.
func closeConn(c net.Conn) { _ = c.Close() }

// replaced is a connection of which something was read ahead.
type replaced struct {
	idleConn
	from io.Reader
}

func (r *replaced) Read(p []byte) (int, error) {
	if err := r.SetReadDeadline(time.Now().Add(idleTime)); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// join copies both ways until both are done, or one has failed.
func join(client, server net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { copyAll(server, client) })
	both.Go(func() { copyAll(client, server) })
	both.Wait()
}

// copyAll ends the other direction too where this one breaks.
func copyAll(to, from net.Conn) {
	if _, err := io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from}); err != nil {
		closeConn(to)
		closeConn(from)
		return
	}
	closeWrite(to)
}
