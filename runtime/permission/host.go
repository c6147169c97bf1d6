package permission

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/aircoding/air/internal/text"
)

// ClassPrivate is the class of net effects on this machine or a private network.
const ClassPrivate Class = "private"

// NetTarget is the net effect of reaching a URL: scheme://host:port with the host in one
// spelling. What different readers would take for different hosts is refused: user names
// in front of the host, numbers that are no plain address, letters beyond ASCII.
func NetTarget(rawURL string) (Effect, error) {
	u, err := url.Parse(rawURL)
	switch {
	case strings.ContainsFunc(rawURL, func(r rune) bool { return !text.Visible(r) }):
		return Effect{}, fmt.Errorf("the URL %.200q has control or invisible characters", rawURL)
	case err != nil:
		return Effect{}, fmt.Errorf("the URL %.200q cannot be read", rawURL)
	case u.User != nil:
		return Effect{}, fmt.Errorf("the URL has a user name in front of its host: leave it out")
	case u.Scheme == "" || u.Host == "":
		return Effect{}, fmt.Errorf("the URL %.200q has no scheme and host, such as https://example.com", rawURL)
	}
	host, private, err := canonicalHost(u.Hostname())
	if err != nil {
		return Effect{}, err
	}
	port := u.Port()
	if port == "" {
		port = defaultPorts[u.Scheme]
	}
	if !isPort(port) {
		return Effect{}, fmt.Errorf("the URL %.200q has no port that is known for its scheme", rawURL)
	}
	e := Effect{Kind: Net, Target: u.Scheme + "://" + host + ":" + port}
	if private {
		e.Class = ClassPrivate
	}
	return e, nil
}

// isPort reports whether a text is a port in its one spelling.
func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= 65535 && strconv.Itoa(n) == text
}

var defaultPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ssh": "22", "git": "9418", "ftp": "21"}

// canonicalHost is a host name in lower case, or an address as netip writes it, in
// brackets where it has colons.
func canonicalHost(host string) (canonical string, private bool, err error) {
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) { // before ToLower, which makes a k of the Kelvin sign
		return "", false, fmt.Errorf("the host %.200q has letters beyond ASCII: write it in its xn-- form", Printable(host))
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", false, fmt.Errorf("the address %.80q has a zone", host)
		}
		addr = plainAddr(addr)
		canonical = addr.String()
		if addr.Is6() {
			canonical = "[" + canonical + "]"
		}
		return canonical, PrivateAddr(addr), nil
	}
	labels := strings.Split(host, ".")
	if len(host) > maxHost {
		return "", false, fmt.Errorf("the host has %d characters, the limit is %d", len(host), maxHost)
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notInHost) {
			return "", false, fmt.Errorf("the host %.200q is no host name: letters, digits and - are wanted", Printable(host))
		}
	}
	if last := labels[len(labels)-1]; isNumber(last) {
		return "", false, fmt.Errorf("the host %.200q is a number, and no plain address such as 192.0.2.1", host)
	}
	return host, len(labels) == 1 || slices.Contains(privateNames, labels[len(labels)-1]) || strings.HasSuffix(host, ".home.arpa"), nil
}

const maxHost = 253 // RFC 1035 without the last dot

// privateNames are the last labels of names that no public resolver answers for: those of
// RFC 6761 and 6762, the one that ICANN keeps for private networks, and what routers use.
// Names of one label are looked up among a network's own.
var privateNames = []string{"localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private"}

func notInHost(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// isNumber reports whether a resolver might read a last label as part of an address.
func isNumber(label string) bool {
	_, err := strconv.ParseUint(label, 0, 64)
	return err == nil || strings.Trim(label, "0123456789") == "" || strings.HasPrefix(label, "0x")
}

// plainAddr takes an IPv4 address out of the IPv6 forms that lead to it.
func plainAddr(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if nat64.Contains(addr) {
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// special are the addresses of RFC 6890 and of the registries that it set up which no
// public host has, beyond those that netip knows by name.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/8", // the mapped, compatible and translated forms of IPv4 among them
	"100::/64", "100:0:0:1::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// PrivateAddr reports whether an address is this machine's, or not one of the public
// network. It is for what a name resolves to, too, at the moment of the connection.
func PrivateAddr(addr netip.Addr) bool {
	addr = plainAddr(addr)
	if !addr.IsValid() || !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// netPattern matches net targets: scheme://host:port, where the scheme, the host or the
// port may be *, and the host may begin with *. for the names below another.
type netPattern struct{ scheme, host, port string }

func newNetPattern(text string) (*netPattern, error) {
	if text == "*" || text == "**" {
		return &netPattern{"*", "*", "*"}, nil
	}
	scheme, rest, found := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	if !found || scheme != "*" && !isScheme(scheme) {
		return nil, fmt.Errorf("%.120q: scheme://host:port is wanted, such as https://*.example.com:443", text)
	}
	host, port := strings.TrimSuffix(rest, "/"), defaultPorts[scheme]
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		host, port = host[:colon], host[colon+1:]
	}
	if port != "*" && !isPort(port) {
		return nil, fmt.Errorf("%.120q: a port from 1 to 65535 or * is wanted", text)
	}
	host, err := canonicalHostPattern(host)
	return &netPattern{scheme, host, port}, err
}

func isScheme(text string) bool {
	return text != "" && text[0] >= 'a' && text[0] <= 'z' && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("+-.", r)
	})
}

func canonicalHostPattern(host string) (string, error) {
	if host == "*" {
		return host, nil
	}
	below, wildcard := strings.CutPrefix(host, "*.")
	if inner, ok := strings.CutPrefix(below, "["); ok && strings.HasSuffix(inner, "]") {
		below = inner[:len(inner)-1]
	}
	canonical, _, err := canonicalHost(below)
	if err != nil || !wildcard {
		return canonical, err
	}
	if _, err := netip.ParseAddr(strings.Trim(canonical, "[]")); err == nil {
		return "", fmt.Errorf("%.120q: no name lies below an address", host)
	}
	return "*." + canonical, nil
}

// matches takes a target as NetTarget writes it.
func (p *netPattern) matches(target string) bool {
	scheme, host, port := splitNet(target)
	return host != "" && (p.scheme == "*" || p.scheme == scheme) && (p.port == "*" || p.port == port) && p.matchesHost(host)
}

// splitNet takes a target as NetTarget writes it; of another text the host is "".
func splitNet(target string) (scheme, host, port string) {
	scheme, rest, _ := strings.Cut(target, "://")
	colon := strings.LastIndexByte(rest, ':')
	if colon < 0 {
		return scheme, "", ""
	}
	return scheme, rest[:colon], rest[colon+1:]
}

// key is by what a table finds the pattern: the host, or what follows its *.
func (p *netPattern) key() string { return strings.TrimPrefix(p.host, "*") }

func (p *netPattern) matchesHost(host string) bool {
	if below, ok := strings.CutPrefix(p.host, "*"); ok {
		return len(host) > len(below) && strings.HasSuffix(host, below)
	}
	return p.host == host
}

// names reports whether the pattern names its host, and does not only cover it.
func (p *netPattern) names() bool { return !strings.HasPrefix(p.host, "*") }

// checkNet refuses a net effect that is not as NetTarget writes it. What a name stands
// for may be private without the name being so, never the other way round.
func checkNet(f *Effect) bool {
	plain, err := NetTarget(f.Target)
	return err == nil && plain.Target == f.Target && (f.Class == plain.Class || f.Class == ClassPrivate)
}
