// Package network brings the tool that makes a request to a host.
package network

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// Tools returns the implementations by tool name.
func Tools() map[string]runtime.Implementation {
	return map[string]runtime.Implementation{
		"network.fetch": runtime.Typed[fetchInput]{Effects: fetchEffects, Do: fetch},
	}
}

type fetchInput struct {
	Method         string            `json:"method"`
	URL            string            `json:"url"`
	Headers        map[string]string `json:"headers"`
	Body           *string           `json:"body"`
	BodyArtifactID string            `json:"body_artifact_id"`
	TimeoutMS      int64             `json:"timeout_ms"`
	Secrets        map[string]string `json:"secrets"` // name of a secret by header
}

// fetchEffects are the host, and every secret that is named.
func fetchEffects(in fetchInput) ([]permission.Effect, error) {
	host, err := target(in.URL)
	if err != nil {
		return nil, err
	}
	if err := in.check(host); err != nil {
		return nil, err
	}
	effects := []permission.Effect{host}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(in.Secrets))) {
		effects = append(effects, permission.Effect{Kind: permission.Secret, Target: name})
	}
	return effects, nil
}

func target(url string) (permission.Effect, error) {
	e, err := permission.NetTarget(url)
	if err != nil {
		return e, fault.New(fault.InvalidInput, "bad_url", "%w", err)
	}
	if !isHTTP(e.Target) {
		return e, fault.New(fault.InvalidInput, "bad_url", "the URL %.200q begins with neither https:// nor http://", url)
	}
	return e, nil
}

func isHTTP(target string) bool {
	return strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://")
}

// These are written here because built-in tools do not get to net/http.
const (
	methodGet  = "GET"
	methodHead = "HEAD"
)

// method is GET where the input names none.
func (in fetchInput) method() string { return cmp.Or(in.Method, methodGet) }

func (in fetchInput) check(host permission.Effect) error {
	hasBody := in.Body != nil || in.BodyArtifactID != ""
	switch {
	case in.Body != nil && in.BodyArtifactID != "":
		return fault.New(fault.InvalidInput, "two_bodies", "network.fetch wants one of body and body_artifact_id")
	case hasBody && (in.method() == methodGet || in.method() == methodHead):
		return fault.New(fault.InvalidInput, "body_without_use", "a %s request has no body", in.method())
	case len(in.Secrets) > 0 && strings.HasPrefix(host.Target, "http://") && host.Class != permission.ClassPrivate:
		return fault.New(fault.InvalidInput, "secret_in_clear", "a secret would go over http:// where others can read it").WithHint("use https://")
	}
	return in.checkHeaders()
}

func (in fetchInput) checkHeaders() error {
	seen := map[string]bool{}
	names := slices.Concat(slices.Collect(maps.Keys(in.Headers)), slices.Collect(maps.Keys(in.Secrets)))
	slices.Sort(names) // for the same error each time
	for _, name := range names {
		lower := strings.ToLower(name)
		switch {
		case name == "" || strings.ContainsFunc(name, notInToken):
			return badHeader("%.120q is no name of a header", name)
		case reserved[lower] || strings.HasPrefix(lower, "proxy-"):
			return badHeader("the header %.120s belongs to the connection, and is set by air", name)
		case seen[lower]:
			return badHeader("the header %.120s is given twice", name)
		}
		seen[lower] = true
	}
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		if strings.ContainsFunc(in.Headers[name], isControl) {
			return badHeader("the value of %.120s has control characters", name)
		}
	}
	return nil
}

// reserved are the hop-by-hop and framing headers (RFC 9110 section 7.6.1, RFC 9112
// section 6) and the host: a request could be smuggled with them, or lead to another host.
var reserved = map[string]bool{
	"host": true, "content-length": true, "connection": true, "keep-alive": true, "te": true, "trailer": true,
	"transfer-encoding": true, "upgrade": true, "http2-settings": true, "expect": true,
}

func badHeader(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, "bad_header", format, args...)
}

// notInToken: RFC 9110 section 5.6.2.
func notInToken(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
