package oci

import "testing"

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

func TestParseReferenceRefuses(t *testing.T) {
	for _, in := range []string{
		"", "hello", "hello:1", "me/hello:1", "library/hello", "oci://hello:1", "/hello:1", "example.com/", "example.com/x", "example.com/x:",
		"example.com/X:1", "example.com/a//b:1", "example.com/../b:1", "example.com/a/:1", "example.com/_x:1",
		"example.com/x:-a", "example.com/x:a/b", "example.com/x:a b", "example.com/x@sha256:abc", "example.com/x@sha512:00", "example.com/x@",
		"https://example.com/x:1", "oci://oci://example.com/x:1", "example.com:port/x:1", "user@example.com/x:1", "exa mple.com/x:1", "example.com/x:1\n",
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
		if again, err := ParseReference(got.String()); err != nil || again != got {
			t.Fatalf("%q: %s does not parse back: %+v, %v", in, got, again, err)
		}
	})
}
