package network

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// decided is the effect of reaching a URL, as if it had been allowed.
func decided(t *testing.T, url string) permission.Effect {
	t.Helper()
	e, err := permission.NetTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func decidedPrivate(t *testing.T, url string) permission.Effect {
	e := decided(t, url)
	e.Class = permission.ClassPrivate
	return e
}

// names resolves as the table says, and counts how often it was asked.
type names struct {
	table map[string][]string
	asked atomic.Int32
}

func (n *names) resolve(_ context.Context, host string) (all []netip.Addr, err error) {
	n.asked.Add(1)
	for _, text := range n.table[host] {
		all = append(all, netip.MustParseAddr(text))
	}
	return all, nil
}

// N1: what an allowed name resolves to is looked at when it is dialled, every address of it.
func TestN1NamesThatResolveToPrivateAddresses(t *testing.T) {
	for _, addresses := range []string{
		"127.0.0.1", "127.8.8.8", "0.0.0.0", "169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "100.100.100.200", "224.0.0.1", "255.255.255.255",
		"198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
		"64:ff9b:1::1", "2002:7f00:1::", "::127.0.0.1", "fec0::1",
		"93.184.216.34 127.0.0.1", "127.0.0.1 93.184.216.34", // one of several is enough
	} {
		n := &names{table: map[string][]string{"ok.example": strings.Fields(addresses)}}
		conn, err := Dialer{Resolve: n.resolve}.Dial(t.Context(), decided(t, "https://ok.example/"))
		if conn != nil || !errors.Is(err, errNotAsPrivate) || !fault.Is(err, fault.PermissionDenied) {
			t.Errorf("%s: %v, %v", addresses, conn, err)
		}
	}
}

// N1: what gives away the keys of a machine has to be named by its address, also where a
// private name was allowed.
func TestN1PrivateNamesDoNotLeadToMetadata(t *testing.T) {
	for _, address := range []string{"169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "100.100.100.200", "fd00:ec2::254", "fe80::1", "0.0.0.0", "::", "224.0.0.1"} {
		n := &names{table: map[string][]string{"metadata.internal": {address}}}
		_, err := Dialer{Resolve: n.resolve}.Dial(t.Context(), decidedPrivate(t, "http://metadata.internal/"))
		if !fault.Is(err, fault.PermissionDenied) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// N1: the machine's own addresses are private, whatever they are.
func TestN1OwnAddresses(t *testing.T) {
	all, err := net.InterfaceAddrs()
	if err != nil || len(all) == 0 {
		t.Skip("no addresses here")
	}
	for _, a := range all {
		addr := netip.MustParsePrefix(a.String()).Addr()
		if !own(addr) {
			t.Errorf("%s is not the machine's own", addr)
		}
	}
	if own(netip.MustParseAddr("93.184.216.34")) {
		t.Error("a stranger's address is the machine's own")
	}
}

// N1: nothing is resolved between the check and the connection.
func TestN1ResolvedOnce(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	n := &names{table: map[string][]string{"db.internal": {"127.0.0.1"}}}
	conn, err := Dialer{Resolve: n.resolve}.Dial(t.Context(), decidedPrivate(t, "http://db.internal:"+port))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if n.asked.Load() != 1 {
		t.Errorf("asked %d times", n.asked.Load())
	}
}

func TestDialTakesDecidedHostsOnly(t *testing.T) {
	for _, e := range []permission.Effect{
		{Kind: permission.Net, Target: "http://127.0.0.1:80"}, // private, and not decided as that
		{Kind: permission.Net, Target: "http://OK.example:80"},
		{Kind: permission.Net, Target: "http://ok.example"},
		{Kind: permission.Read, Target: "http://ok.example:80"},
		{},
	} {
		if conn, err := (Dialer{}).Dial(t.Context(), e); err == nil {
			conn.Close()
			t.Errorf("%v was dialled", e)
		}
	}
}

// setUp serves a proxy for the effects, and returns its address. The names lead where the
// table says.
func setUp(t *testing.T, p *Proxy) (address string, stop func() []Refusal) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop = p.Serve(t.Context(), l)
	t.Cleanup(func() { stop() })
	return l.Addr().String(), stop
}

func through(proxy string) *http.Client {
	transport := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: proxy}),
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Timeout: 10 * time.Second}
}

// ask says something to the proxy word for word, and returns the status line and the body.
func ask(t *testing.T, proxy, words string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, words); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	return response.StatusCode, string(text)
}

// get gets a URL.
func get(t *testing.T, c *http.Client, url string) (status int, header http.Header, body string) {
	t.Helper()
	r, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Header, string(text)
}

func echo() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s host=%s headers=%v", r.Method, r.URL, r.Host, r.Header)
	})
}

// port is where a test server listens.
func port(s *httptest.Server) string {
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return port
}

func TestProxyReachesDecidedHosts(t *testing.T) {
	plain, secure := httptest.NewServer(echo()), httptest.NewTLSServer(echo())
	defer plain.Close()
	defer secure.Close()
	n := &names{table: map[string][]string{"web.internal": {"127.0.0.1"}}}
	address, stop := setUp(t, &Proxy{
		Hosts:  NewHosts([]permission.Effect{decidedPrivate(t, "http://web.internal:"+port(plain)), decidedPrivate(t, "https://web.internal:"+port(secure))}, nil),
		Dialer: Dialer{Resolve: n.resolve},
	})
	for _, base := range []string{"http://web.internal:" + port(plain), "https://web.internal:" + port(secure)} {
		status, _, body := get(t, through(address), base+"/a;b?x=1;2&y")
		want := "GET /a;b?x=1;2&y host=" + strings.TrimPrefix(strings.TrimPrefix(base, "http://"), "https://")
		if status != 200 || !strings.HasPrefix(body, want) {
			t.Errorf("%s: %d %s", base, status, body)
		}
	}
	if refused := stop(); len(refused) > 0 {
		t.Errorf("refused: %v", refused)
	}
}

// N3, N5: what is no decided host, or is written as another one, gets an answer that says
// so, and nothing is dialled.
func TestN3SpellingsAndN5Schemes(t *testing.T) {
	n := &names{table: map[string][]string{}}
	effects := []permission.Effect{decided(t, "https://ok.example"), decided(t, "http://plain.example"), decidedPrivate(t, "http://127.0.0.1:1")}
	address, stop := setUp(t, &Proxy{Hosts: NewHosts(effects, nil), Dialer: Dialer{Resolve: n.resolve}})
	for _, c := range []struct {
		words  string
		status int
	}{
		{"CONNECT evil.example:443 HTTP/1.1\r\nHost: ok.example:443\r\n\r\n", 403},
		{"CONNECT ok.example.evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"CONNECT ok.example@evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"CONNECT ok.example.:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"CONNECT \xef\xbd\x8fk.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"CONNECT ok.example:444 HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"CONNECT ok.example:80 HTTP/1.1\r\nHost: x\r\n\r\n", 403},    // decided with https
		{"CONNECT plain.example:80 HTTP/1.1\r\nHost: x\r\n\r\n", 403}, // decided with http: no tunnel
		{"CONNECT plain.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"CONNECT 0177.0.0.1:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"CONNECT 0x7f000001:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"CONNECT 2130706433:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"CONNECT [64:ff9b::7f00:1]:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"CONNECT /var/run/docker.sock HTTP/1.1\r\nHost: x\r\n\r\n", 400}, // N6
		{"GET http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n\r\n", 403},
		{"GET http://evil.example/ HTTP/1.1\r\nHost: plain.example\r\n\r\n", 403},
		{"GET http://plain.example./ HTTP/1.1\r\nHost: plain.example\r\n\r\n", 403},
		{"GET http://plain.example:8080/ HTTP/1.1\r\nHost: plain.example\r\n\r\n", 403},
		{"GET http://plain.example@evil.example/ HTTP/1.1\r\nHost: plain.example\r\n\r\n", 400},
		{"GET http://[::ffff:127.0.0.1]:1/ HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"GET http://0x7f.1:1/ HTTP/1.1\r\nHost: x\r\n\r\n", 403},
		{"GET https://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n\r\n", 400}, // no TLS in the clear
		{"GET ftp://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: plain.example\r\n\r\n", 400},
		{"GET http://plain.example/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
	} {
		if status, body := ask(t, address, c.words); status != c.status {
			t.Errorf("%q: %d %q, want %d", c.words, status, body, c.status)
		}
	}
	if asked := n.asked.Load(); asked != 0 {
		t.Errorf("%d names were resolved", asked)
	}
	_, body := ask(t, address, "CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	if !strings.Contains(body, "https://evil.example:443") || !strings.Contains(body, "air permission grant, with the effect 'net(https://evil.example:443)'") {
		t.Errorf("the refusal says %q", body)
	}
	refused := stop()
	if !slices.ContainsFunc(refused, func(r Refusal) bool { return r.Target == "https://evil.example:443" }) || len(refused) > maxRefusals {
		t.Errorf("refused: %v", refused)
	}
}

// N5: what is no TLS, or asks for another host, does not pass through a tunnel that was
// allowed for https.
func TestN5PlainHTTPInATunnel(t *testing.T) {
	var reached atomic.Int64
	secret, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	go func() {
		for {
			conn, err := secret.Accept()
			if err != nil {
				return
			}
			go func() {
				n, _ := io.Copy(io.Discard, conn)
				reached.Add(n)
				conn.Close()
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(secret.Addr().String())
	n := &names{table: map[string][]string{"web.internal": {"127.0.0.1"}}}
	address, stop := setUp(t, &Proxy{Hosts: NewHosts([]permission.Effect{decidedPrivate(t, "https://web.internal:"+port)}, nil), Dialer: Dialer{Resolve: n.resolve}})

	tunnel := func() net.Conn {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprintf(conn, "CONNECT web.internal:%s HTTP/1.1\r\nHost: web.internal\r\n\r\n", port)
		answer := make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))
		if _, err := io.ReadFull(conn, answer); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	for _, words := range []string{"GET / HTTP/1.1\r\nHost: evil\r\n\r\n", "\x16\x03\x01\x00\x05hello", "\x16\x03\x01\xff\xff", strings.Repeat("x", 100_000), "SSH-2.0-x\r\n"} {
		conn := tunnel()
		_, _ = io.WriteString(conn, words)
		if n, err := io.Copy(io.Discard, conn); n > 0 && err == nil {
			t.Logf("%.20q: %d bytes came back", words, n)
		}
		conn.Close()
	}
	conn := tunnel()
	err = tls.Client(conn, &tls.Config{ServerName: "evil.example", InsecureSkipVerify: true}).HandshakeContext(t.Context())
	if err == nil {
		t.Error("a handshake for another host went through")
	}
	conn.Close()
	refused := stop()
	if len(refused) != 1 || !strings.Contains(refused[0].Why, "https was allowed, and ") {
		t.Errorf("refused: %v", refused)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d bytes reached the host", n)
	}
}

// What a client says about its connection is not what the host is told, and the other way
// round; a request cannot hide in another one.
func TestProxyForwardsWholeRequests(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("Keep-Alive", "9")
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s|%s|%v|%s", r.Method, r.Host, r.Header, body)
	}))
	defer server.Close()
	host := "127.0.0.1:" + port(server)
	address, _ := setUp(t, &Proxy{Hosts: NewHosts([]permission.Effect{decided(t, "http://"+host)}, nil)})
	status, body := ask(t, address, "POST http://"+host+"/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close, X-Secret\r\nX-Secret: 1\r\nProxy-Authorization: x\r\n"+
		"TE: trailers\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n2c\r\nGET http://x/ HTTP/1.1\r\nHost: x\r\n\r\nxxxxxxxxx\r\n0\r\n\r\n")
	if status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if !strings.HasPrefix(body, "POST|"+host+"|") || strings.Contains(body, "Secret") || strings.Contains(body, "Proxy-") || strings.Contains(body, "Upgrade") {
		t.Errorf("the host got %s", body)
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("one request became %d", n)
	}
	if _, header, _ := get(t, through(address), "http://"+host); header.Get("Keep-Alive") != "" {
		t.Errorf("%v", header)
	}
}

// N2: a redirect is the program's to follow, and its host is asked about like any.
func TestN2RedirectThroughTheProxy(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/latest", http.StatusFound))
	defer server.Close()
	address, stop := setUp(t, &Proxy{Hosts: NewHosts([]permission.Effect{decided(t, server.URL)}, nil)})
	client := through(address)
	client.CheckRedirect = nil
	if status, _, body := get(t, client, server.URL); status != 403 {
		t.Errorf("%d %s", status, body)
	}
	if refused := stop(); len(refused) != 1 || refused[0].Target != "http://169.254.169.254:80" {
		t.Errorf("refused: %v", refused)
	}
}

// A name that turns out to be private is decided as that, once and at once.
func TestProxyDecidesPrivateNames(t *testing.T) {
	server := httptest.NewServer(echo())
	defer server.Close()
	n := &names{table: map[string][]string{"git.corp.example": {"127.0.0.1"}}}
	url := "http://git.corp.example:" + port(server)
	for _, allowed := range []bool{false, true} {
		p := &person{yes: func(permission.Effect) bool { return allowed }}
		address, _ := setUp(t, &Proxy{Hosts: NewHosts([]permission.Effect{decided(t, url)}, p.decide), Dialer: Dialer{Resolve: n.resolve}})
		want := map[bool]int{false: 403, true: 200}[allowed]
		for range 2 {
			if status, _, body := get(t, through(address), url); status != want {
				t.Errorf("allowed %v: %d %s", allowed, status, body)
			}
		}
		if len(p.asked) != 1 || p.asked[0].Class != permission.ClassPrivate {
			t.Errorf("asked about %v", p.asked)
		}
	}
}

// The end of the program is that of its connections.
func TestProxyEnds(t *testing.T) {
	block := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		select {
		case <-block:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(block)
	address, stop := setUp(t, &Proxy{Hosts: NewHosts([]permission.Effect{decided(t, server.URL)}, nil)})
	response, err := through(address).Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	started := time.Now()
	stop()
	if _, err := io.ReadAll(response.Body); err == nil {
		t.Error("the answer ended as if it were whole")
	}
	if took := time.Since(started); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("the proxy still listens")
	}
}
