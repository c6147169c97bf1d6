package network

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

const (
	helloTime = 15 * time.Second
	maxHello  = 64 << 10
)

var errSeen = errors.New("seen")

// readHello reads what a client says first on a tunnel, which has to be the hello of TLS:
// plain HTTP does not pass by it. It returns all that was read.
func readHello(conn net.Conn, from io.Reader) (read []byte, serverName string, err error) {
	if err := conn.SetReadDeadline(time.Now().Add(helloTime)); err != nil {
		return nil, "", err
	}
	var said bytes.Buffer
	seen := false
	listener := tls.Server(deaf{conn, io.TeeReader(io.LimitReader(from, maxHello), &said)}, &tls.Config{
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			seen, serverName = true, hello.ServerName
			return nil, errSeen
		},
	})
	err = listener.HandshakeContext(context.Background()) // the deadline above ends it
	if !seen {
		return nil, "", fmt.Errorf("no TLS was spoken: %w", err)
	}
	return said.Bytes(), serverName, nil
}

// deaf is a connection of which the other end hears nothing.
type deaf struct {
	net.Conn
	from io.Reader
}

func (d deaf) Read(p []byte) (int, error)  { return d.from.Read(p) }
func (d deaf) Write(p []byte) (int, error) { return len(p), nil }
func (d deaf) Close() error                { return nil }

// checkServerName refuses a tunnel to one host in which another one is asked for. An
// address is not asked for by name.
func checkServerName(name, host string) error {
	if name == "" || strings.EqualFold(name, strings.Trim(host, "[]")) {
		return nil
	}
	return fmt.Errorf("in the tunnel another host is asked for, %.200q", name)
}
