package oci

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// openRequest sends a request that says it has a body of 100 bytes, and one of them.
func openRequest(t *testing.T, addr, method, path, host string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 100\r\n\r\nx", method, path, host); err != nil {
		t.Fatal(err)
	}
	return c
}

// G25: nobody holds a connection by a body that never comes, whoever they are and
// whatever the answer is.
func TestUnfinishedBodiesEnd(t *testing.T) {
	open := serveTest(t, ServeOptions{Idle: 200 * time.Millisecond})
	token := serveTest(t, ServeOptions{Idle: 200 * time.Millisecond, Token: "s3cret"})
	private := serveTest(t, ServeOptions{Idle: 200 * time.Millisecond, Token: "s3cret", Private: true})
	for _, c := range []struct {
		name, addr, method, path, host string
		code                           int
	}{
		{"ping", open, "GET", "/v2/", "localhost", 400},
		{"a private ping", private, "GET", "/v2/", "localhost", 401},
		{"a read", open, "GET", "/v2/x/tags/list", "localhost", 400},
		{"another host", open, "POST", "/v2/x/blobs/uploads/", "evil.example", 403},
		{"a write without the token", token, "POST", "/v2/x/blobs/uploads/", "localhost", 401},
		{"a beginning", open, "POST", "/v2/x/blobs/uploads/", "localhost", 202},
		{"no such thing", open, "PATCH", "/v2/x/blobs/uploads/YWJj", "localhost", 404},
		{"a manifest", open, "PUT", "/v2/x/manifests/1", "localhost", 400},
	} {
		conn := openRequest(t, c.addr, c.method, c.path, c.host)
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		in := bufio.NewReader(conn)
		resp, err := http.ReadResponse(in, &http.Request{Method: c.method})
		if err != nil || resp.StatusCode != c.code {
			t.Errorf("%s: got %v, %v, want %d", c.name, resp, err, c.code)
			continue
		}
		_ = resp.Body.Close()
		if _, err := io.Copy(io.Discard, in); err != nil { // the answer's text, and then the end
			t.Errorf("%s: the connection stays: %v", c.name, err)
		}
	}
}

// A connection that came with a body serves the next request as well, also later.
func TestConnectionsAreKept(t *testing.T) {
	addr := serveTest(t, ServeOptions{Idle: 100 * time.Millisecond})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for range 3 {
		if _, err := fmt.Fprint(c, "PUT /v2/x/manifests/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatalf("got %v, %v", resp, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		time.Sleep(200 * time.Millisecond)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	held := make([]net.Conn, maxConnections)
	for i := range held {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		held[i] = c
		defer func() { _ = c.Close() }()
	}
	ping := func() error {
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + addr + "/v2/")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	wait := func(what string, until func() bool) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Second); !until(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	wait("one more was let in", func() bool { return ping() != nil })
	_ = held[0].Close()
	wait("a free place is not used", func() bool { return ping() == nil })
}

// What somebody pushed is nothing that a browser runs, whatever the answer is.
func TestAnswersAreInert(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	postBlob(t, addr, "x", "<script>")
	url := "http://" + addr + "/v2/x/manifests/1"
	for _, sent := range []string{"text/html", "image/svg+xml", "text/xml; charset=utf-8"} {
		if code, _ := request(t, "PUT", url, func(r *http.Request) { r.Header.Set("Content-Type", sent) }); code != http.StatusBadRequest {
			t.Errorf("a manifest of %s: got %d", sent, code)
		}
	}
	for _, path := range []string{"/v2/", "/v2/_catalog", "/v2/x/blobs/" + string(digestOf([]byte("<script>"))), "/v2/x/manifests/1", "/x"} {
		resp, _ := ask(t, "GET", "http://"+addr+path)
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %s with %v", path, resp.Status, resp.Header)
		}
	}
}

// A page in a browser may not write, also one from a file or a sandbox, whose origin is
// null.
func TestNullOrigin(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	for _, header := range [][2]string{{"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}} {
		code, body := request(t, "POST", "http://"+addr+"/v2/x/blobs/uploads/", func(r *http.Request) { r.Header.Set(header[0], header[1]) })
		if code != http.StatusForbidden || !strings.Contains(body, `"DENIED"`) {
			t.Errorf("%q: got %d %s", header, code, body)
		}
	}
}
