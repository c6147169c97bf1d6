package permission

import (
	"net/netip"
	"strings"
	"testing"
)

func TestNetTarget(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.com":                       "https://example.com:443",
		"HTTPS://EXAMPLE.com:443/a?b#c":             "https://example.com:443",
		"http://example.com./x":                     "http://example.com:80",
		"ssh://git.example.com/x":                   "ssh://git.example.com:22",
		"https://xn--bcher-kva.example:8443":        "https://xn--bcher-kva.example:8443",
		"https://8.8.8.8":                           "https://8.8.8.8:443",
		"https://[2606:4700::1111]:444":             "https://[2606:4700::1111]:444",
		"https://[2606:4700:0:0:0:0:0:1111]":        "https://[2606:4700::1111]:443",
		"https://[64:ff9b::8.8.8.8]":                "https://8.8.8.8:443",
		"https://[::ffff:808:808]":                  "https://8.8.8.8:443",
		"https://a_b.example.com":                   "https://a_b.example.com:443",
		"https://0xab.example":                      "https://0xab.example:443",
		"wss://example.com/socket":                  "wss://example.com:443",
		"https://example.com:/":                     "https://example.com:443",
		"https://" + strings.Repeat("a", 63) + ".x": "https://" + strings.Repeat("a", 63) + ".x:443",
	} {
		e, err := NetTarget(url)
		if err != nil || e.Target != want || e.Kind != Net || e.Class != "" {
			t.Errorf("%s is %q in class %q, %v; want %s", url, e.Target, e.Class, err, want)
		}
		if again, err := NetTarget(e.Target); err != nil || again != e || !checkNet(&e) {
			t.Errorf("%s is %q again, %v", e.Target, again.Target, err)
		}
	}
}

func TestNetTargetPrivate(t *testing.T) {
	for url, want := range map[string]string{
		"http://localhost:8080":                    "http://localhost:8080",
		"http://LOCALHOST.":                        "http://localhost:80",
		"http://app.localhost":                     "http://app.localhost:80",
		"http://printer.local":                     "http://printer.local:80",
		"http://metadata.google.internal/computeM": "http://metadata.google.internal:80",
		"http://router.home.arpa":                  "http://router.home.arpa:80",
		"http://intranet":                          "http://intranet:80",
		"http://127.0.0.1":                         "http://127.0.0.1:80",
		"http://127.0.0.1.":                        "http://127.0.0.1:80",
		"http://10.1.2.3:81":                       "http://10.1.2.3:81",
		"http://169.254.169.254/latest/meta-data":  "http://169.254.169.254:80",
		"http://[::1]":                             "http://[::1]:80",
		"http://[fd00:ec2::254]":                   "http://[fd00:ec2::254]:80",
		"http://0.0.0.0":                           "http://0.0.0.0:80",
	} {
		e, err := NetTarget(url)
		if err != nil || e.Target != want || e.Class != ClassPrivate {
			t.Errorf("%s is %q in class %q, %v; want %s, private", url, e.Target, e.Class, err, want)
		}
		if e.Class = ""; checkNet(&e) {
			t.Errorf("%s passes as public", e.Target)
		}
	}
}

// N3: what another reader would take for another host is refused, or in the one spelling
// in which rules look at it.
func TestN3Spellings(t *testing.T) {
	for _, url := range []string{
		"https://ok.example@evil", "https://ok.example:443@evil/", "https://@evil", "https://ok.example%40evil", `https://ok.example\@evil`,
		"https://ok.example\tevil", "https://ok.example evil", "https://ok.example\x00.evil", "https://ok.example%00.evil", "https://ok.example%2f.evil", "https://ok.example,evil",
		"https://ok..example", "https://.ok.example", "https://ok.example..", "https://.", "https://", "//ok.example", "ok.example", "https:ok.example", "https:/ok.example", "",
		"https://\uff4f\uff4b.example", "https://ok\u3002example", "https://o\u212a.example", "https://\u0130.example", "https://ok.ex\u00e4mple", "https://ok\u00ad.example", "https://\u2460.example",
		"http://0177.0.0.1", "http://0x7f.0.0.1", "http://0x7f000001", "http://2130706433", "http://017700000001", "http://127.1", "http://127.0.1", "http://1.2.3.4.5", "http://127.0.0.01", "http://0", "http://0x", "http://1_0", "http://99999999999999999999",
		"http://\uff11\uff12\uff17.0.0.1", "http://a.0x7f", "http://a.127",
		"http://[fe80::1%25eth0]", "http://[::1", "http://::1", "http://[v1.x]", "http://[]",
		"https://ok.example:0", "https://ok.example:65536", "https://ok.example:0443", "https://ok.example:+443", "https://ok.example:-1", "https://ok.example:http", "foo://ok.example",
		"https://" + strings.Repeat("a", 64) + ".example", "https://" + strings.Repeat("a.", 140) + "example", "https://*.example", "https://[*]",
	} {
		if e, err := NetTarget(url); err == nil {
			t.Errorf("%q is %s", url, e)
		}
	}
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - allow: net(https://ok.example:443)\n  - allow: net(https://*.ok.example:*)\n")
	for url, want := range map[string]Verdict{
		"https://ok.example": Allow, "https://OK.example.": Allow, "https://ok.example/@evil": Allow, "https://ok.example?@evil": Allow, "https://ok.example#@evil": Allow, "https://a.b.ok.example:99": Allow,
		"https://ok.example.evil": Ask, "https://evilok.example": Ask, "https://ok.example:444": Ask, "http://ok.example:443": Ask, "http://ok.example": Ask,
		"https://[::ffff:127.0.0.1]": Ask, "https://[64:ff9b::7f00:1]": Ask, "https://[::127.0.0.1]": Ask, "https://[::ffff:0:127.0.0.1]": Ask,
	} {
		f, err := NetTarget(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if d := e.Decide(request("network.fetch", nil, f))[0]; d.Verdict != want {
			t.Errorf("%s as %s: %s, want %s", url, f, d.Verdict, want)
		}
	}
	for _, url := range []string{"https://[::ffff:127.0.0.1]", "https://[64:ff9b::7f00:1]", "https://[::127.0.0.1]", "https://[::ffff:0:127.0.0.1]"} {
		if f, err := NetTarget(url); err != nil || f.Class != ClassPrivate {
			t.Errorf("%s is in class %q, %v", url, f.Class, err)
		}
	}
}

// Targets that no NetTarget wrote are not decided by rules.
func TestNetInOneForm(t *testing.T) {
	e := newPlace(t).engine("schema_version: 1\nrules:\n  - allow: net(*)\n  - allow: net(http://127.0.0.1:80)\n")
	for _, f := range []Effect{
		{Target: ""}, {Target: "*"}, {Target: "https://ok.example"}, {Target: "https://OK.example:443"}, {Target: "https://ok.example:443/"}, {Target: "https://a@ok.example:443"},
		{Target: "http://127.0.0.1:80"}, {Target: "http://0177.0.0.1:80"}, {Target: "https://ok.example:443", Class: ClassProject}, {Target: "https://ok.example:443", Class: "public"},
	} {
		f.Kind = Net
		if d := e.Decide(request("network.fetch", nil, f))[0]; d.Verdict != Deny || d.Code != CodeFloorUnresolved {
			t.Errorf("%s in class %q: %s, %s", f, f.Class, d.Verdict, d.Code)
		}
	}
}

// N1: the address classes of RFC 6890, its registries, and what leads to them.
func TestN1AddressClasses(t *testing.T) {
	for _, private := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.1", "192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "100:0:0:1::1",
		"2001::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "2001:db8::1%eth0",
	} {
		if !PrivateAddr(netip.MustParseAddr(private)) {
			t.Errorf("%s counts as public", private)
		}
	}
	for _, public := range []string{"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1", "192.167.1.1", "198.17.0.1", "198.20.0.1", "223.255.255.255",
		"::ffff:8.8.8.8", "64:ff9b::808:808", "2001:200::1", "2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1", "2003::1", "2620:0:ccc::2"} {
		if PrivateAddr(netip.MustParseAddr(public)) {
			t.Errorf("%s counts as private", public)
		}
	}
	if !PrivateAddr(netip.Addr{}) {
		t.Error("no address counts as public")
	}
}

// A private address opens to a rule of a person's own that names it.
func TestPrivateHosts(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		rule, url string
		want      Verdict
	}{
		{"allow: net(*)", "http://localhost:80", Ask},
		{"allow: net(http://*:*)", "http://localhost:80", Ask},
		{"allow: net(http://*.local:80)", "http://nas.local", Ask},
		{"allow: net(http://localhost:*)", "http://localhost:80", Allow},
		{"allow: net(*://[::ffff:127.0.0.1]:*)", "http://127.0.0.1:80", Allow},
		{"allow: net(http://127.0.0.1:80)", "http://localhost:80", Ask},
		{"deny: net(*)", "http://localhost:80", Deny},
		{"deny: net(**)", "https://example.com", Deny},
		{"allow: net(**)", "https://example.com", Allow},
		{"allow: net(https://*:443)", "https://example.com", Allow},
		{"allow: net(https://*.example.com:443)", "https://example.com", Ask},
		{"allow: net(https://*.example.com:443)", "https://a.example.com", Allow},
		{"allow: net(https://example.com/)", "https://example.com", Allow},
		{"allow: net(HTTPS://Example.COM.)", "https://example.com", Allow},
	} {
		f, err := NetTarget(c.url)
		if err != nil {
			t.Fatal(err)
		}
		e := p.engine("schema_version: 1\nrules:\n  - " + c.rule + "\n")
		d := e.Decide(request("network.fetch", nil, f))[0]
		if d.Verdict != c.want || d.Verdict == Ask && f.Class == ClassPrivate && !d.NoAlways {
			t.Errorf("%s: %s: %s (%s), want %s", c.rule, c.url, d.Verdict, d.Rule, c.want)
		}
	}
	for _, bad := range []string{"example.com", "https://", "https://a@b", "https://a/b", "https://a:0", "https://a:070", "https://a:x", "foo://a", "https://**", "https://*x", "https://a.*.b", "https://*.127.0.0.1", "https://*.[::1]", "https://127.1", "://a", "a b://c:1", "https://a:*:*", "https://b\u00fccher"} {
		if err := CheckScope(Net, bad); err == nil {
			t.Errorf("the pattern %q is accepted", bad)
		}
	}
}

// FuzzNetTarget: what is accepted is in a form that stays itself, and no number that a
// resolver would read otherwise is left in it.
func FuzzNetTarget(f *testing.F) {
	for _, seed := range []string{"https://ok.example@evil", "http://0x7f.1", "http://[::ffff:127.0.0.1]:1", "https://o\u212a.example", "ssh://a:022", "https://*.x:*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := newNetPattern(text); err == nil && p.host != "*" && !strings.HasPrefix(p.host, "*.") && p.scheme != "*" && p.port != "*" {
			if e, err := NetTarget(p.scheme + "://" + p.host + ":" + p.port); err != nil || !p.matches(e.Target) {
				t.Errorf("the pattern %q is %+v, which is %s, %v", text, p, e, err)
			}
		}
		e, err := NetTarget(text)
		if err != nil {
			return
		}
		if !checkNet(&e) {
			t.Fatalf("%q is %q in class %q, and that is no target", text, e.Target, e.Class)
		}
		for i := range len(e.Target) {
			if c := e.Target[i]; c <= ' ' || c > '~' || strings.IndexByte(`@%\?#*`, c) >= 0 {
				t.Errorf("%q is %q", text, e.Target)
			}
		}
		p, err := newNetPattern(e.Target)
		if err != nil || !p.matches(e.Target) {
			t.Errorf("%q is no pattern of itself: %v", e.Target, err)
		}
	})
}
