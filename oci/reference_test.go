package oci

import (
	"strings"
	"testing"
)

func TestParseReference(t *testing.T) {
	const hex = "93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476"
	for in, want := range map[string]Reference{
		"localhost:5000/me/hello:0.1.0":          {"localhost:5000", "me/hello", "0.1.0", ""},
		"oci://localhost:5000/me/hello:0.1.0":    {"localhost:5000", "me/hello", "0.1.0", ""},
		"localhost/x:1":                          {"localhost", "x", "1", ""},
		"example.com/a/b/c-d__e:v1":              {"example.com", "a/b/c-d__e", "v1", ""},
		"example.com:8443/x@sha256:" + hex:       {"example.com:8443", "x", "", "sha256:" + hex},
		"example.com/x:1@sha256:" + hex:          {"example.com", "x", "", "sha256:" + hex},
		"127.0.0.1:5000/x:1":                     {"127.0.0.1:5000", "x", "1", ""},
		"[::1]:5000/x:1":                         {"[::1]:5000", "x", "1", ""},
		"oci://example.com/x:1@sha256:" + hex:    {"example.com", "x", "", "sha256:" + hex},
		"registry.example.com/team/tool:latest_": {"registry.example.com", "team/tool", "latest_", ""},
	} {
		got, err := ParseReference(in)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", in, got, err, want)
		}
		if again, err := ParseReference(got.String()); err != nil || again != got {
			t.Errorf("%s: %s does not parse back: %+v, %v", in, got, again, err)
		}
	}
}

// Patterns are held against the one spelling: nothing may name a place that a pattern
// covers in a way that the pattern does not see.
func TestReferencesAreNormalised(t *testing.T) {
	for in, want := range map[string]string{
		"oci://Registry.Example/acme/x:1":    "registry.example/acme/x",
		"REGISTRY.EXAMPLE:443/acme/x:1":      "registry.example/acme/x",
		"registry.example:0443/acme/x:1":     "registry.example/acme/x",
		"registry.example./acme/x:1":         "registry.example/acme/x",
		"registry.example.:443/acme/x:1":     "registry.example/acme/x",
		"registry.example:05000/acme/x:1":    "registry.example:5000/acme/x",
		"registry.example:80/acme/x:1":       "registry.example:80/acme/x",
		"LOCALHOST/x:1":                      "localhost/x",
		"localhost./x:1":                     "localhost/x",
		"localhost:443/x:1":                  "localhost/x",
		"registry:443/x:1":                   "registry:443/x", // "registry/x" names no registry
		"[0:0:0:0:0:0:0:1]:5000/x:1":         "[::1]:5000/x",
		"[2001:DB8::0001]:443/x:1":           "[2001:db8::1]/x",
		"registry.example/acme/x:Tag.1":      "registry.example/acme/x",
		"registry.example/acme/x@" + digestA: "registry.example/acme/x",
	} {
		got, err := ParseReference(in)
		if err != nil || got.Place() != want {
			t.Errorf("%s: got %q, %v, want %q", in, got.Place(), err, want)
		}
		if again, err := ParseReference(got.String()); err != nil || again != got {
			t.Errorf("%s: %s does not parse back: %+v, %v", in, got, again, err)
		}
	}
}

const digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func TestParseReferenceRefuses(t *testing.T) {
	for _, in := range []string{
		"", "hello", "hello:1", "me/hello:1", "library/hello", "oci://hello:1", "/hello:1", "example.com/", "example.com/x", "example.com/x:",
		"example.com/X:1", "example.com/a//b:1", "example.com/../b:1", "example.com/a/:1", "example.com/_x:1",
		"example.com/x:-a", "example.com/x:a/b", "example.com/x:a b", "example.com/x@sha256:abc", "example.com/x@sha512:00", "example.com/x@",
		"https://example.com/x:1", "oci://oci://example.com/x:1", "example.com:port/x:1", "user@example.com/x:1", "exa mple.com/x:1", "example.com/x:1\n",
		"example./x:1", "example.com../x:1", ".example.com/x:1", "-a.example.com/x:1", "example.com:0/x:1", "example.com:65536/x:1", "example.com:/x:1",
		"ex\u00e4mple.com/x:1", "example\uff0ecom/x:1", "example%2ecom/x:1", "[::1%25lo]:5000/x:1", "[::1/x:1", "[127.0.0.1]/x:1", "a_b.example.com/x:1",
	} {
		if got, err := ParseReference(in); err == nil {
			t.Errorf("%q: accepted as %+v", in, got)
		} else {
			wantError(t, err, KindInvalid, "HOST")
		}
	}
}

func FuzzParseReference(f *testing.F) {
	f.Add("localhost:5000/me/hello:0.1.0")
	f.Add("oci://[::1]:5000/x@sha256:93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476")
	f.Add("example.com/a/../b:1")
	f.Fuzz(func(t *testing.T, in string) {
		got, err := ParseReference(in)
		if err != nil {
			return
		}
		if place := got.Place(); place != strings.ToLower(place) || strings.Contains(place, ":443/") && strings.Contains(got.Registry, ".") {
			t.Fatalf("%q: %s is not normalised", in, place)
		}
		if again, err := ParseReference(got.String()); err != nil || again != got {
			t.Fatalf("%q: %s does not parse back: %+v, %v", in, got, again, err)
		}
	})
}
