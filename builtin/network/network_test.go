package network

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

type object = map[string]any

func plan(t *testing.T, input object) (effects []string, err error) {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Tools()["network.fetch"].Plan(text)
	for _, e := range plan {
		effects = append(effects, e.String())
	}
	return effects, err
}

func TestEffects(t *testing.T) {
	for _, c := range []struct {
		input object
		want  []string
	}{
		{object{"url": "https://API.example.com./v1?x=1"}, []string{"net(https://api.example.com:443)"}},
		{object{"url": "http://example.com:8080", "method": "POST", "body": ""}, []string{"net(http://example.com:8080)"}},
		{object{"url": "https://example.com", "headers": object{"Accept": "text/plain"}, "secrets": object{"Authorization": "token", "X-Key": "key", "X-Too": "key"}},
			[]string{"net(https://example.com:443)", "secret(key)", "secret(token)"}},
		{object{"url": "http://[::ffff:127.0.0.1]/", "secrets": object{"Authorization": "token"}}, []string{"net(http://127.0.0.1:80)", "secret(token)"}},
	} {
		if got, err := plan(t, c.input); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %v, want %v", c.input, got, err, c.want)
		}
	}
}

// N3: spellings that two readers could take for different hosts.
func TestN3Hosts(t *testing.T) {
	for _, url := range []string{
		"https://ok.example@evil.example/", "https://ok.example%2eevil.example%2f/", "https://ok.example:x@evil.example/", "https://ｅxample.com/", "https://0177.0.0.1/", "https://0x7f000001/",
		"https://2130706433/", "https://127.1/", "ftp://example.com/", "file:///etc/passwd", "unix:///var/run/docker.sock", "example.com", "//example.com/",
		"https://", "https://exa mple.com/", "https://example.com\r\nHost: evil.example", "https://example.com:0/", "https://example.com:99999/", "https://a..b/",
	} {
		effects, err := plan(t, object{"url": url})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.InvalidInput || f.Code != "bad_url" {
			t.Errorf("%q: %v, %v", url, effects, err)
		}
	}
	// Others are different hosts, and are decided as what they are.
	for url, want := range map[string]string{
		"https://ok.example.evil.example/": "net(https://ok.example.evil.example:443)",
		"https://[64:ff9b::7f00:1]/":       "net(https://127.0.0.1:443)",
		"https://[::ffff:127.0.0.1]/":      "net(https://127.0.0.1:443)",
	} {
		if got, err := plan(t, object{"url": url}); err != nil || got[0] != want {
			t.Errorf("%q: %v, %v, want %s", url, got, err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	const url = "https://example.com/"
	for _, c := range []struct {
		code  string
		input object
	}{
		{"two_bodies", object{"url": url, "method": "POST", "body": "x", "body_artifact_id": "art_1"}},
		{"body_without_use", object{"url": url, "method": "GET", "body": "x"}},
		{"body_without_use", object{"url": url, "body": "x"}},
		{"body_without_use", object{"url": url, "method": "HEAD", "body_artifact_id": "art_1"}},
		{"secret_in_clear", object{"url": "http://example.com/", "secrets": object{"Authorization": "token"}}},
		{"bad_header", object{"url": url, "headers": object{"Host": "evil.example"}}},
		{"bad_header", object{"url": url, "headers": object{"content-LENGTH": "1"}}},
		{"bad_header", object{"url": url, "headers": object{"Transfer-Encoding": "chunked"}}},
		{"bad_header", object{"url": url, "headers": object{"Connection": "close"}}},
		{"bad_header", object{"url": url, "headers": object{"Proxy-Authorization": "x"}}},
		{"bad_header", object{"url": url, "secrets": object{"Host": "token"}}},
		{"bad_header", object{"url": url, "headers": object{"X": "a\r\nHost: evil.example"}}},
		{"bad_header", object{"url": url, "headers": object{"X": "a\x00"}}},
		{"bad_header", object{"url": url, "headers": object{"X Y": "a"}}},
		{"bad_header", object{"url": url, "headers": object{"X:": "a"}}},
		{"bad_header", object{"url": url, "headers": object{"": "a"}}},
		{"bad_header", object{"url": url, "headers": object{"X": "1", "x": "2"}}},
		{"bad_header", object{"url": url, "headers": object{"authorization": "x"}, "secrets": object{"Authorization": "token"}}},
	} {
		effects, err := plan(t, c.input)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.InvalidInput || f.Code != c.code {
			t.Errorf("%v: %v, %v, want %s", c.input, effects, err, c.code)
		}
	}
}
